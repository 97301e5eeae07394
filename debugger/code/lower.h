/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Machine code as a few operations on numbered registers, so that the flow of types through it
 * needs no knowledge of the processor. What an instruction does beyond them is lowered to
 * OP_CLOBBER of all that it writes: less is known afterwards, nothing wrong is.
 *
 * To add a processor: debugger/code/lower_NAME.c with one `const struct lowering`, and a line in
 * lowering_find().
 */
#ifndef DEBUGGER_CODE_LOWER_H
#define DEBUGGER_CODE_LOWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Registers: at most 32 of the processor, two of our own for the parts of an instruction, and one
 * that is never written: the base of places of which nothing is known.
 */
#define LOWER_REGISTERS 35
#define LOWER_TEMPORARY 32
#define LOWER_SOMEWHERE 34
#define LOWER_NONE	0xff

enum op_kind {
	OP_CONSTANT,	   /* to = constant */
	OP_MOVE,	   /* to = the low `size` bytes of from; `sign`: how they are extended */
	OP_CHOOSE,	   /* to = to or from, nobody knows which */
	OP_ADDRESS,	   /* to = base + index * scale + displacement */
	OP_SCALE,	   /* to = from * constant */
	OP_NUMBER,	   /* to = a number that is no product: a quotient, some bits */
	OP_LOAD,	   /* to = `size` bytes at the place; `sign`: how they are extended */
	OP_STORE,	   /* `size` bytes at the place = from (LOWER_NONE: nobody knows) */
	OP_STORE_CONSTANT, /* ... = constant */
	OP_TOUCH,	   /* `size` bytes at the place are read; 0: some of them, for some bits */
	OP_CHANGE,	   /* ... are written, or read and written; size 0: from there on */
	OP_COMPARE,	   /* from with to, both read */
	OP_COUNT_WITH,	   /* the low `size` bytes of from are computed with; `sign`: as what */
	OP_CALL,	   /* of the address `constant` */
	OP_CALL_REGISTER,  /* of the address in from */
	OP_JUMP,	   /* to the address `constant` */
	OP_BRANCH,	   /* perhaps to the address `constant` */
	OP_CONDITION,	   /* what OP_COMPARE before compared is asked about, as `sign` says */
	OP_JUMP_REGISTER,  /* to the address in from */
	OP_RETURN,
	OP_CLOBBER, /* the registers of the mask in `constant` hold anything */
	OP_STOP	    /* the path ends: a trap, bytes that are no instruction */
};

enum sign { SIGN_UNKNOWN, SIGN_SIGNED, SIGN_UNSIGNED };

/* What OP_CHANGE does, where that tells what is kept there. */
enum change {
	CHANGE_ANY,
	CHANGE_COUNT, /* a number is added, of 8 bytes: 1 or -1 */
	CHANGE_BITS,  /* some bits are set, cleared or turned */
	CHANGE_TRUTH  /* it becomes 0 or 1 */
};

struct op {
	uint8_t kind; /* enum op_kind */
	uint8_t size; /* bytes of the access, or of the register written */
	uint8_t to, from;
	/* The place, and the sum of OP_ADDRESS. */
	uint8_t base, index; /* LOWER_NONE: no such part */
	uint8_t scale;
	uint8_t sign;	/* enum sign */
	bool per_cpu;	/* the place is relative to this CPU's area */
	bool locked;	/* OP_CHANGE, OP_STORE: at once, for all processors */
	uint8_t change; /* enum change, of OP_CHANGE */
	uint32_t at;	/* offset of the instruction in the code */
	int64_t displacement, constant;
};

struct ops {
	struct op *items;
	size_t count, capacity;
	bool failed; /* no memory */
};

struct code {
	const uint8_t *bytes;
	size_t size;
	uint64_t address;
};

/* A jump that the code does not show as it is now: a static branch that is off. */
struct code_edge {
	uint64_t from, to;
};

/* The hook for tracing (__fentry__) is at most so many bytes into a function. */
#define LOWER_HOOK_MAX 4

/* What a called function is by its name alone, where the kernel's own helpers are concerned. */
enum helper {
	HELPER_NONE,
	HELPER_NOTHING,	 /* changes nothing that counts: a tracing hook */
	HELPER_RETURN,	 /* a return */
	HELPER_REGISTER, /* a jump, or a call, to the address in a register */
};

struct decoder;

struct lowering {
	const char *arch;     /* arch.name */
	uint8_t arguments[8]; /* registers of integer arguments, in order */
	uint8_t argument_count;
	uint8_t result, stack;
	uint32_t kept_by_calls; /* mask of registers */
	uint8_t in_target[16];	/* numbers of the first 16 in struct registers */
	/* The decoder of one thread; NULL without memory. */
	struct decoder *(*create)(void);
	void (*destroy)(struct decoder *decoder);
	/* Appends the operations of the code. */
	void (*lower)(struct decoder *decoder, const struct code *code, struct ops *ret);
	enum helper (*helper)(const char *name, uint8_t *ret_register);
	/* How many of the last bytes in front of the next symbol only align that one. */
	size_t (*padding)(const uint8_t *bytes, size_t count);
	/*
	 * Whether bytes at an address are how a compiled function begins, with room for tracing or
	 * a call of `hook`, the address of __fentry__ (0: there is none).
	 */
	bool (*is_entry)(const uint8_t *bytes, size_t count, uint64_t address, uint64_t hook);
	/* Bytes that fill in for what cannot be read: a trap. */
	uint8_t filler;
};

extern const struct lowering lowering_x86_64;

/* By arch.name; NULL: this processor's code is not understood. */
const struct lowering *lowering_find(const char *arch);
/* The operations of one piece of code, for the caller to free. False: no memory. */
bool lowering_read(const struct lowering *lowering, const struct code *code, struct ops *ret);

#endif
