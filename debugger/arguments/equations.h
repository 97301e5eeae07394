/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From what holds symbolically at a place of a function, and the registers and memory there, to the
 * values of the bases: "rbx is the first argument" and "rbx is 0xffff8880..." give the first
 * argument. A base that comes out differently twice, a constant that is not what it must be: then
 * the analysis or the frame is wrong, and nothing of it is believed.
 */
#ifndef DEBUGGER_ARGUMENTS_EQUATIONS_H
#define DEBUGGER_ARGUMENTS_EQUATIONS_H

#include "base/memory.h"
#include "debugger/arguments/symbolic.h"

/* Registers, by the numbers that lower.h gives them. */
struct equation_registers {
	uint64_t values[16];
	uint32_t known; /* mask */
};

struct equation_frame {
	struct memory *memory;
	struct equation_registers registers; /* at the place */
	uint64_t sp;			     /* there */
	bool has_entry;
	uint64_t entry; /* stack pointer when the function was entered */
	uint64_t task;	/* the current one, 0: not known */
};

#define SOLVED_MAX 128

struct solved {
	uint8_t base; /* ENTRY or SOME */
	uint8_t size; /* bytes of the value that are known */
	uint32_t id;
	uint64_t value;
};

struct equations {
	const struct symbolic_place *place; /* borrowed */
	bool has_entry;
	uint64_t entry, task;
	size_t count;
	struct solved solved[SOLVED_MAX];
};

/* `equations->place` is given. ERROR_FORMAT: contradictions. */
struct error *equations_solve(struct equations *equations, const struct equation_frame *frame,
			      const struct lowering *lowering) MUST_CHECK;
/* The low `size` bytes of a value, zero-extended; false: not known. */
bool equations_value(const struct equations *equations, const struct symbolic *value, uint32_t size,
		     uint64_t *ret);
/*
 * The same with a pointer that was loaded from memory read again from there. It may be another one
 * by now, so this proves nothing but that an expected value was the one.
 */
bool equations_value_again(const struct equations *equations, const struct symbolic *value,
			   struct memory *memory, uint64_t *ret);

#endif
