/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What bt, foreach, task, stacks, analyze and sys write for a task and its stack. */
#ifndef DEBUGGER_SHOW_TRACES_H
#define DEBUGGER_SHOW_TRACES_H

#include "debugger/arguments/arguments.h"
#include "debugger/kernel/task.h"
#include "debugger/session.h"
#include "debugger/unwind/unwind.h"

/* An object: "PID: ... COMMAND: ..." and the line's end. */
void task_write(struct out *out, const char *key, const struct task *task);
/* An object, for a line that has other things too: "pid 1 "init" at ffff888000000000 on CPU 0". */
void task_write_place(struct out *out, const char *key, const struct task *task);

/* Members of an object: where the trace begins; in text a line when that was searched for. */
void trace_write_start(struct out *out, const struct stack_trace *trace);
/* An object: the task and its frames; as rows, one a frame. `arguments`: NULL, or of each frame. */
void trace_write(struct session *session, const struct task *task, const struct stack_trace *trace,
		 const struct frame_arguments *arguments);
/*
 * Of the frames of a trace; *ret NULL: not known, for without them a stack is still worth showing.
 * Caller frees *ret.
 */
struct error *trace_find_arguments(struct session *session, const struct task *task,
				   struct stack_trace *trace,
				   struct frame_arguments **ret) MUST_CHECK;
/* Unwinds the task's stack and writes it. */
struct error *trace_write_task(struct session *session, const struct task *task,
			       bool with_arguments) MUST_CHECK;

#endif
