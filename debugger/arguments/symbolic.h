/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What registers and stack slots hold at one place of a function, in terms of what they held when
 * it was entered: "rbx is the first argument", "rdi is rbx + 16", "12 bytes below the return
 * address lies the caller's r12". It holds on all paths to that place, or it is not said: states
 * are intersected where paths join, what an instruction does that is not modelled makes its
 * registers unknown, and what others may write (the stack from the lowest address upward that was
 * ever handed out) is not believed, but for the slots that hold a caller's register.
 */
#ifndef DEBUGGER_ARGUMENTS_SYMBOLIC_H
#define DEBUGGER_ARGUMENTS_SYMBOLIC_H

#include "base/error.h"
#include "debugger/code/lower.h"

/* What a value is an offset from. */
enum base_kind {
	BASE_UNKNOWN,
	BASE_NUMBER, /* 0 */
	BASE_ENTRY,  /* register `id` when the function was entered */
	BASE_STACK,  /* the stack pointer when it was entered: where the return address lies */
	BASE_TASK,   /* the current task */
	BASE_SOME    /* whatever operation `id` gave when it ran last */
};

struct symbolic {
	uint8_t base; /* enum base_kind */
	uint8_t size; /* bytes that are so: 8, or the low 4, 2, 1, where offset is 0 */
	uint32_t id;
	int64_t offset;
};

#define SYMBOLIC_SLOTS 64

struct symbolic_slot {
	int32_t offset; /* from BASE_STACK */
	uint8_t size;	/* 4 or 8 */
	struct symbolic value;
};

struct symbolic_state {
	struct symbolic registers[LOWER_REGISTERS];
	int32_t escaped; /* others may know stack addresses from here on upward; INT32_MAX: none */
	uint32_t slot_count;
	struct symbolic_slot slots[SYMBOLIC_SLOTS];
};

/* What the analysis asks about the world. */
struct symbolic_world {
	const struct lowering *lowering;
	void *context;
	/* What the kernel's own helper at an address does, HELPER_NONE for other functions. */
	enum helper (*helper)(void *context, uint64_t address, uint8_t *ret_register);
	/* Offsets within a CPU's area of what points to the current task; 0: none. */
	uint64_t current_task[2];
};

/* Where a value of BASE_SOME was loaded from. */
struct symbolic_load {
	uint32_t id;
	struct symbolic address; /* of 8 bytes */
};

#define SYMBOLIC_LOADS 64

/* How the function calls at the place, if it does. */
enum call_kind { CALL_NONE, CALL_DIRECT, CALL_REGISTER, CALL_UNKNOWN };

struct symbolic_place {
	struct symbolic_state state; /* before the instruction */
	enum call_kind call;
	uint64_t target;	 /* CALL_DIRECT: address */
	struct symbolic pointer; /* CALL_REGISTER: what is in the register */
	/* The last ones before it, of `load_count`; what lies there may have changed since. */
	uint32_t load_count;
	struct symbolic_load loads[SYMBOLIC_LOADS];
};

/*
 * The state at `offset` of the code: before the instruction there when `exact`, else before the
 * call whose return address that is. Errors: ERROR_NOT_FOUND with the reason when nothing can be
 * proved there: no such instruction, not reached, a jump table, too large.
 */
struct error *symbolic_run(const struct symbolic_world *world, const struct code *code,
			   uint64_t offset, bool exact, struct symbolic_place *ret) MUST_CHECK;

/* Calls `observe` with what holds before each operation that is reached. Errors as above. */
typedef void symbolic_observer(void *context, const struct op *op,
			       const struct symbolic_state *state);
struct error *symbolic_watch(const struct symbolic_world *world, const struct code *code,
			     symbolic_observer *observe, void *context) MUST_CHECK;

bool symbolic_equal(const struct symbolic *a, const struct symbolic *b);

#endif
