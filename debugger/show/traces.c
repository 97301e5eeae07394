// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/show/traces.h"

#include "debugger/show/frames.h"
#include <stdlib.h>
#include <string.h>

static void explain_search(struct out *out, const struct stack_trace *trace)
{
	out_text(out, "    (%sno registers say where it was: ",
		 trace->cpu_is_silent ? "its CPU did not answer when the kernel died, so " : "");
	if (trace->proof && trace->unproved)
		out_text(out, "found by a search of its stacks, sure from #%zu on by %s",
			 trace->unproved, trace->proof);
	else if (trace->proof)
		out_text(out, "found by a search of its stacks, sure by %s", trace->proof);
	else if (trace->may_be_user)
		out_text(out, "it was running in user mode, or its stack is unknown%s",
			 trace->count ? "; the last calls that a search found:" : "");
	else
		out_text(out, "%s",
			 trace->count ? "found by a search of its stacks, calls among "
					"it may have returned"
				      : "its stack is unknown");
	out_text(out, ")\n");
}

void trace_write_start(struct out *out, const struct stack_trace *trace)
{
	if (trace->is_moving) {
		out_bool_as(out, "moving", true, "");
		return;
	}
	out_string_as(out, "start", trace_start_name(trace->start), "");
	if (trace->registers_from)
		out_string_as(out, "registers_from", trace->registers_from, "");
	if (trace->start != START_SEARCH)
		return;
	if (trace->proof)
		out_string_as(out, "proof", trace->proof, "");
	if (trace->cpu_is_silent)
		out_bool_as(out, "cpu_silent", true, "");
	out_bool_as(out, "may_be_user", trace->may_be_user, "");
	explain_search(out, trace);
}

void task_write(struct out *out, const char *key, const struct task *task)
{
	char state[2] = { task->state_letter, 0 };
	out_object_begin(out, key);
	out_text(out, "PID: ");
	out_pad(out, -8);
	if (task->is_partial)
		out_null_as(out, "pid", "?");
	else
		out_i64(out, "pid", task->pid);
	out_text(out, " TASK: ");
	out_address(out, "address", task->address);
	out_text(out, "  CPU: ");
	out_pad(out, -3);
	out_u64(out, "cpu", task->cpu);
	out_space(out, 1, (int)strlen(task->comm) + 11, 4);
	out_text(out, "COMMAND: ");
	if (task->is_partial) {
		out_null_as(out, "comm", "?");
		out_text(out, "\n    (");
		out_string(out, "problem", task->problem ? task->problem->message : "");
		out_text(out, ")\n");
	} else {
		out_text(out, "\"");
		out_string(out, "comm", task->comm);
		out_text(out, "\"\n");
	}
	out_string_as(out, "state", state, "");
	out_object_end(out);
}

void task_write_place(struct out *out, const char *key, const struct task *task)
{
	char state[2] = { task->state_letter, 0 };
	out_object_begin(out, key);
	out_text(out, "pid ");
	if (task->is_partial) {
		out_null_as(out, "pid", "?");
		out_null_as(out, "comm", "");
	} else {
		out_i64(out, "pid", task->pid);
		out_text(out, " \"");
		out_string(out, "comm", task->comm);
		out_text(out, "\"");
	}
	out_text(out, " at ");
	out_address(out, "address", task->address);
	out_text(out, " on CPU ");
	out_u64(out, "cpu", task->cpu);
	out_string_as(out, "state", state, "");
	out_object_end(out);
}

static void write_row(struct session *session, const struct task *task,
		      const struct stack_trace *trace, size_t number,
		      const struct frame_arguments *arguments)
{
	struct out *out = session->out;
	char state[2] = { task->state_letter, 0 };
	out_object_begin(out, NULL);
	if (task->is_partial)
		out_null_as(out, "pid", "");
	else
		out_i64(out, "pid", task->pid);
	out_string(out, "comm", task->is_partial ? "" : task->comm);
	out_u64(out, "cpu", task->cpu);
	out_string(out, "state", state);
	out_address(out, "task", task->address);
	frame_write_cells(session, trace->count ? &trace->frames[number] : NULL, number,
			  arguments ? &arguments[number] : NULL);
	out_string(out, "start", trace->is_moving ? "moving" : trace_start_name(trace->start));
	if (trace->end)
		out_string(out, "end", trace->end->message);
	else
		out_null_as(out, "end", "");
	out_object_end(out);
}

/* A table has a row a frame, and one where a task has no frames. */
static void write_rows(struct session *session, const struct task *task,
		       const struct stack_trace *trace, const struct frame_arguments *arguments)
{
	out_array_begin(session->out, NULL);
	for (size_t i = 0; !i || i < trace->count; i++)
		write_row(session, task, trace, i, arguments);
	out_array_end(session->out);
}

void trace_write(struct session *session, const struct task *task, const struct stack_trace *trace,
		 const struct frame_arguments *arguments)
{
	struct out *out = session->out;
	if (out_is_rows(out)) {
		write_rows(session, task, trace, arguments);
		return;
	}
	out_object_begin(out, NULL);
	task_write(out, "task", task);
	trace_write_start(out, trace);
	out_array_begin(out, "frames");
	for (size_t i = 0; i < trace->count; i++)
		frame_write(session, &trace->frames[i], i, arguments ? &arguments[i] : NULL);
	out_array_end(out);
	if (trace->end) {
		out_string_as(out, "end", trace->end->message, "");
		out_text(out, trace->is_moving ? "    (%s)\n" : "    (the end: %s)\n",
			 trace->end->message);
	}
	out_object_end(out);
}

struct error *trace_find_arguments(struct session *session, const struct task *task,
				   struct stack_trace *trace, struct frame_arguments **ret)
{
	*ret = NULL;
	TRY(error_only_fatal(arguments_of(session->target, task, trace, ret)));
	if (!unwind_holds(session->target, task, trace)) {
		free(*ret);
		*ret = NULL;
	}
	return NULL;
}

struct error *trace_write_task(struct session *session, const struct task *task,
			       bool with_arguments)
{
	struct stack_trace trace;
	struct frame_arguments *arguments = NULL;
	struct error *error = NULL;
	TRY(unwind_task(session->target, task, &trace));
	if (with_arguments)
		error = trace_find_arguments(session, task, &trace, &arguments);
	if (!error)
		trace_write(session, task, &trace, arguments);
	free(arguments);
	stack_trace_deinit(&trace);
	return error;
}
