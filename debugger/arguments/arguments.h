/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The arguments of the functions on a stack, as far as they can be proved without DWARF: the BTF
 * prototype says what they are, the code of callee and caller says where they are. From the
 * innermost frame, whose registers are known, outwards: what a function saved of its caller's
 * registers is read from the stack, so these are known in the caller; an argument that a function
 * still holds in such a register or in a slot of its own, or that the caller had in one when it
 * called, is known too. Of a stack that was searched for, only the frames that are sure count. What
 * is not proved is unknown, never a guess; where callee and caller say different things, neither is
 * believed.
 */
#ifndef DEBUGGER_ARGUMENTS_ARGUMENTS_H
#define DEBUGGER_ARGUMENTS_ARGUMENTS_H

#include "debugger/unwind/unwind.h"

#define ARGUMENTS_MAX 12

struct argument {
	const char *name; /* "" when BTF has none; borrowed from the BTF */
	struct type type;
	bool is_known;
	uint64_t value; /* zero- or sign-extended as the type says */
};

struct frame_arguments {
	bool has_prototype; /* else nothing is known of its parameters */
	struct type result;
	size_t count;
	struct argument items[ARGUMENTS_MAX];
};

/*
 * One for each frame of the trace (*ret, caller frees). Adds to the frames' registers the callers'
 * registers that were recovered. `task`: whose stack it is, NULL unknown. What stands in the way of
 * a frame's arguments costs these only.
 */
struct error *arguments_of(struct target *target, const struct task *task,
			   struct stack_trace *trace, struct frame_arguments **ret) MUST_CHECK;

#endif
