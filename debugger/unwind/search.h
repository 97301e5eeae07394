/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The stack of a task that was running, without the registers of its CPU: by looking for the chain
 * of calls on it.
 *
 * Each word that is a return address could be where the chain begins. Followed by rules alone, it
 * has to come to where the kernel was entered, each call on the way has to lead to the function
 * that it is said to have called, and saved registers have to be ones that a processor saves. Of
 * the chains that hold, the one that begins deepest has the most of what was running. But calls
 * that have returned leave their frames below, and these hold as well: the inner end is never sure.
 *
 * What makes the rest sure is a frame of a function that never returns (panic, stop_this_cpu), or
 * the saved registers that the kernel itself says are those of the interrupt it serves.
 */
#ifndef DEBUGGER_UNWIND_SEARCH_H
#define DEBUGGER_UNWIND_SEARCH_H

#include "debugger/unwind/context.h"
#include "debugger/unwind/step.h"

/* A frame to begin from. */
struct search_frame {
	struct registers registers;
	bool pc_is_exact;
};

struct search_result {
	bool found;
	struct search_frame start;
	const char *proof; /* what makes the chain sure from `sure` on; NULL: nothing does */
	struct search_frame sure;
};

/*
 * Looks at the stacks of `unwinder` that the CPU can have been on, the innermost first. The
 * unwinder is as it was afterwards. Errors: interrupted.
 */
struct error *search_stacks(const struct unwinder *unwinder, const struct cpu_context *context,
			    struct search_result *ret) MUST_CHECK;

#endif
