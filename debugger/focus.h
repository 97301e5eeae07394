/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The task and the frame that the user looks at: `task`, `frame`, `up`, `down` choose, `bt` and
 * `$rip` in expressions refer to them. Without a choice it is the panicking task's first frame.
 */
#ifndef DEBUGGER_FOCUS_H
#define DEBUGGER_FOCUS_H

#include "debugger/arguments/arguments.h"
#include "debugger/eval/value.h"

struct focus {
	bool has_task; /* chosen, or the default was looked up */
	bool is_chosen;
	bool frame_is_chosen; /* then its arguments may be named in expressions */
	bool has_trace;
	struct task task;
	struct stack_trace trace;
	struct frame_arguments *arguments; /* of the trace's frames; NULL: not known */
	size_t frame;			   /* of the trace */
};

void focus_deinit(struct focus *focus);
/*
 * Before a question to a running machine: the chosen task is read anew, and its stack. Of a dump:
 * nothing.
 */
void focus_refresh(struct focus *focus, struct target *target);
/* Takes `task`. The frame is the first one again. */
void focus_set_task(struct focus *focus, struct task *task);
/* The task, the panicking one unless another was chosen. Borrowed. */
struct error *focus_task(struct focus *focus, struct target *target,
			 const struct task **ret) MUST_CHECK;
/* Its stack trace. Borrowed until another task is chosen. */
struct error *focus_trace(struct focus *focus, struct target *target,
			  const struct stack_trace **ret) MUST_CHECK;
/* ERROR_NOT_FOUND: there is no such frame. */
struct error *focus_set_frame(struct focus *focus, struct target *target, size_t number) MUST_CHECK;
/* A register_finder's work: of the selected frame, without the dollar; `pc`, `sp`, `fp` too. */
struct error *focus_register(struct focus *focus, struct target *target, const char *name,
			     bool *ret_found, struct value *ret) MUST_CHECK;

/* The same for an argument of a frame that was chosen, by its plain name. */
struct error *focus_argument(struct focus *focus, struct target *target, const char *name,
			     bool *ret_found, struct value *ret) MUST_CHECK;

#endif
