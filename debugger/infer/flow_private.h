/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between flow.c and flow_value.c. */
#ifndef DEBUGGER_INFER_FLOW_PRIVATE_H
#define DEBUGGER_INFER_FLOW_PRIVATE_H

#include "debugger/infer/flow_state.h"

struct label {
	bool reached;
	struct state state; /* of all that arrives here */
};

struct flow {
	const struct flow_world *world;
	void *emit_context;
	struct decoder *decoder;
	struct lay lay;
	struct ops ops;
	struct label *labels;
	size_t label_count, label_capacity;
	uint16_t *label_of; /* by offset in the code: number + 1, 0: none */
	size_t label_of_capacity;
	bool has_loops;

	/* The sweep. */
	const struct flow_function *function;
	struct state state;
	bool live;    /* `state` is what is known here; else we do not know how we got here */
	bool reports; /* findings are wanted */
	bool changed; /* something that was computed from is now less certain */
	int sweep;
	uint32_t at;
	struct value compared[2]; /* what the branches that follow depend on */
	uint8_t compared_size;	  /* 0: nothing */
};

/* --- values (flow_value.c) ------------------------------------------------------------------- */

/* What a value of a type is known to be. */
struct value value_of_type(struct flow *flow, struct kind type);
/* The low `size` bytes, extended. */
struct value value_cut(const struct value *value, uint8_t size);
struct value value_scale(const struct value *value, int64_t factor);
/* The address of an operation's place. */
struct value value_of_place(struct flow *flow, const struct op *op);

/* A value goes where a `type` belongs. */
void meet(struct flow *flow, const struct value *value, struct kind type, const char *how);
void compare(struct flow *flow, const struct op *op);
/* How a number is extended, and asked about, tells whether it has a sign. */
void moved_as(struct flow *flow, const struct op *op);
void compared_as(struct flow *flow, enum sign sign);
struct value flow_load(struct flow *flow, const struct op *op);
void flow_store(struct flow *flow, const struct op *op, struct value value);
void flow_touch(struct flow *flow, const struct op *op);

#endif
