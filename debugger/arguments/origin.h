/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the value that a register has in a frame came from, as far as the code of the frame's
 * function proves it on all paths.
 */
#ifndef DEBUGGER_ARGUMENTS_ORIGIN_H
#define DEBUGGER_ARGUMENTS_ORIGIN_H

#include "debugger/arguments/arguments.h"

struct origin {
	uint32_t at;	 /* what gave it is the instruction at this offset of the function */
	bool is_result;	 /* a call returned it, of... */
	uint64_t callee; /* ...the function there; 0: not known */
	bool is_loaded;	 /* it was read from memory */
	bool has_place;	 /* and that from a place that is known: what lies there may have changed */
	uint64_t place;
	bool is_constant;     /* the code itself says it: the offset is the value */
	bool is_entry;	      /* the function was entered with it... */
	unsigned int entry;   /* ...in this register, of struct registers */
	const char *argument; /* which is this argument; NULL: not known. Borrowed of the BTF */
	int64_t offset;	      /* bytes that were added to it since */
};

/*
 * `reg`: number of the register in struct registers. Errors: ERROR_NOT_FOUND, nothing is proved of
 * it. The BTF of the frame's module must be known, as it is after arguments_of().
 */
struct error *origin_find(struct target *target, const struct task *task, const struct frame *frame,
			  unsigned int reg, struct origin *ret) MUST_CHECK;
/*
 * The same of the address that the frame called: of a pointer, which may be none to a function. The
 * frame is one that called; ERROR_NOT_FOUND too where it did so by a plain address.
 */
struct error *origin_find_target(struct target *target, const struct task *task,
				 const struct frame *frame, struct origin *ret) MUST_CHECK;
/*
 * The function that the frame called, as far as the code and what is known of its registers and of
 * memory prove it. `*ret_is_pointer`: through a pointer. ERROR_NOT_FOUND: not proved.
 */
struct error *origin_find_called(struct target *target, const struct task *task,
				 const struct frame *frame, uint64_t *ret,
				 bool *ret_is_pointer) MUST_CHECK;

#endif
