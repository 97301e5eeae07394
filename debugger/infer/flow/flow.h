/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The flow of types through one function. Registers and stack slots hold values of which something
 * is known: a constant, a pointer to a typed object, what was loaded from a global. Prototypes,
 * members of typed objects and per-CPU variables give types; where a typed thing and a global meet
 * (an argument, a store, a comparison, a return), that is a finding about the global.
 *
 * States merge where paths join: what may come from either of two globals is used as one variable,
 * so what is found there is found of both. Loops are swept until nothing changes, and only what the
 * last sweep finds is reported. What is not known is unknown: forgetting is always right.
 */
#ifndef DEBUGGER_INFER_FLOW_FLOW_H
#define DEBUGGER_INFER_FLOW_FLOW_H

#include "debugger/infer/flow/clue.h"
#include "debugger/prototypes/callee.h"

/* A clue before it has a symbol: about the global at `address`. */
struct finding {
	uint64_t address;
	uint64_t where; /* instruction */
	enum clue_kind kind;
	uint32_t size;
	struct kind type;
	bool points;	 /* the value's type is a pointer to `type` */
	bool shows_sign; /* it is used as nothing without a sign is */
	const char *how;
};

/* A place that an operation accesses, or takes the address of: byte `offset` of a `type`. */
struct flow_access {
	uint32_t at;  /* offset of the instruction in the code */
	uint8_t base; /* register of the place, LOWER_NONE: none */
	bool is_address;
	uint32_t size; /* bytes; 0 not known */
	struct kind type;
	int64_t offset;
};

/* What the flow asks about the world; all must bear being asked from several threads at once. */
struct flow_world {
	const struct levels *levels;
	const struct lowering *lowering;
	void *context;
	/* The function that begins at an address. */
	void (*callee)(void *context, uint64_t address, struct callee *ret);
	/* A global whose type is known, around an address; false: none. */
	bool (*known)(void *context, uint64_t address, struct kind *ret, int64_t *ret_offset);
	/* The per-CPU variable around an offset into the per-CPU area. */
	bool (*per_cpu)(void *context, uint64_t offset, struct kind *ret, int64_t *ret_offset);
	/*
	 * The string at an address, as much as fits, with a 0 at its end; false: none can be read.
	 * NULL: not asked.
	 */
	bool (*string)(void *context, uint64_t address, char *buffer, size_t size);
	/* Called for addresses in [first, last) only, and for per-CPU ones if `emits_per_cpu`. */
	void (*emit)(void *context, const struct finding *finding);
	uint64_t first, last;
	/* Where the kernel's data are at all: other constants are numbers. */
	uint64_t data_first, data_last;
	uint64_t per_cpu_offsets;   /* address of __per_cpu_offset[], 0: none */
	struct kind list_head;	    /* none: not reported */
	struct kind integers[4][2]; /* of 1, 2, 4, 8 bytes: unsigned, signed; none: not reported */
	struct kind atomics[2];	    /* of 4, 8 bytes; none: not reported */
	struct kind truth;	    /* _Bool; none: not reported */
	struct kind pointer;	    /* void *; none: not reported */
	/*
	 * Called for each access through a pointer whose type is written down; NULL: nobody looks.
	 * Functions that mention no data are looked at too then, and no types are learned.
	 */
	void (*observe)(void *emit_context, const struct flow_access *access);
	uint64_t this_cpu_offset; /* the per-CPU variable that holds its CPU's offset, ~0: none */
	/*
	 * Where BTF leaves per-CPU variables untyped, they are globals at places [first, last),
	 * which are `base` beyond their offsets; they are looked for as other globals are. All 0:
	 * it does not.
	 */
	uint64_t per_cpu_first, per_cpu_last, per_cpu_base;
	bool emits_per_cpu;
};

struct flow_function {
	struct code code;
	struct callee self; /* its own prototype, if that is known */
	const struct code_edge *edges;
	size_t edge_count;
};

struct flow;

/* Working storage of one thread. `emit_context` is handed to world->emit. NULL: no memory. */
struct flow *flow_create(const struct flow_world *world, void *emit_context);
void flow_destroy(struct flow *flow);
struct error *flow_run(struct flow *flow, const struct flow_function *function) MUST_CHECK;

#endif
