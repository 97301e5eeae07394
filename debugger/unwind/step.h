/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inside debugger/unwind: one step from a frame to the one that called it, in several ways. */
#ifndef DEBUGGER_UNWIND_STEP_H
#define DEBUGGER_UNWIND_STEP_H

#include "debugger/unwind/orc.h"
#include "debugger/unwind/stacks.h"
#include "debugger/unwind/unwind.h"

struct unwinder {
	struct target *target;
	const struct task *task; /* NULL: not known */
	struct orc *orc;	 /* NULL: none, see orc_problem */
	struct error *orc_problem;
	struct stacks stacks;
	uint32_t stacks_left;	   /* by index in stacks.bounds: not to be entered again */
	struct stack_trace *trace; /* NULL: only looking */
	bool strict;		   /* no frame by rbp alone, none that a rule contradicts */
	/* The current frame. */
	struct registers registers;
	bool pc_is_exact;
	bool has_function;
	uint64_t function; /* start of the function of the current pc */
};

/* What a step found. */
struct step {
	struct registers registers;
	enum frame_kind kind;
	bool pc_is_exact;
	bool is_end;	    /* there is no further frame, and rightly so */
	uint64_t saved_end; /* where the saved registers end that it took; 0: none */
};

/* One step by a rule, else by a guess; the error is that of the rule (unwind.c). */
struct error *unwinder_step(struct unwinder *unwinder, struct step *ret) MUST_CHECK;
/* Makes what the step found the current frame, but for the function. */
void unwinder_take(struct unwinder *unwinder, const struct step *step);

/*
 * By ORC (step_orc.c). Errors say why there is no next frame: no rule, a register that is not
 * known, a word that cannot be read.
 */
struct error *step_orc(struct unwinder *unwinder, struct step *ret) MUST_CHECK;

/*
 * The rule that holds in code without ORC of its own (step_generated.c): BPF programs and
 * trampolines keep rbp, ftrace trampolines are copies of ftrace_caller. False: no such code.
 */
bool generated_rule(struct unwinder *unwinder, uint64_t pc, struct orc_entry *ret,
		    enum frame_kind *ret_kind);

/* What to try when there is no rule (step_guess.c), from proof to guess; false: found nothing. */
bool step_call_scan(struct unwinder *unwinder, struct step *ret);
bool step_frame_pointer(struct unwinder *unwinder, struct step *ret);
bool step_scan(struct unwinder *unwinder, struct step *ret);

/*
 * Tracers replace return addresses on the stack (recover.c): puts the true one into *pc, which was
 * read at `slot`. Errors: it was replaced, and the true one cannot be found.
 */
struct error *recover_return_address(struct unwinder *unwinder, uint64_t slot,
				     uint64_t *pc) MUST_CHECK;

#endif
