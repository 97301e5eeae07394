// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/show/user_traces.h"

#include "debugger/show/traces.h"
#include "debugger/user_stack/user_stack.h"
#include <inttypes.h>
#include <stdio.h>

static void write_symbol(struct out *out, const struct user_frame *frame)
{
	char text[24];
	if (!frame->symbol) {
		out_null_as(out, "symbol", "?");
		out_null_as(out, "offset", "");
		return;
	}
	out_string(out, "symbol", frame->symbol);
	snprintf(text, sizeof(text), "+0x%" PRIx64, frame->offset);
	out_wide_as(out, "offset", frame->offset, text);
}

static void write_place(struct out *out, const struct user_frame *frame)
{
	char text[24];
	if (!frame->path) {
		out_null_as(out, "path", "");
		out_null_as(out, "place", "");
		return;
	}
	out_text(out, " (");
	out_string(out, "path", frame->path);
	snprintf(text, sizeof(text), "+0x%" PRIx64 ")", frame->place);
	out_wide_as(out, "place", frame->place, text);
}

static void write_frame(struct out *out, const struct user_frame *frame, size_t number)
{
	out_object_begin(out, NULL);
	out_text(out, "%s#", number < 10 ? " " : "");
	out_u64(out, "number", number);
	out_string_as(out, "kind", user_frame_kind_name(frame->kind), "");
	out_text(out, " [");
	out_address(out, "sp", frame->sp);
	out_text(out, "] ");
	write_symbol(out, frame);
	write_place(out, frame);
	out_text(out, " at ");
	out_address(out, "pc", frame->pc);
	out_text(out, "%s\n",
		 frame->kind == USER_FRAME_SIGNAL    ? " (interrupted by a signal)"
		 : frame->kind == USER_FRAME_POINTER ? " (fp)"
						     : "");
	out_object_end(out);
}

static void write_row(struct out *out, const struct task *task, const struct user_stack *stack,
		      size_t number)
{
	const struct user_frame *frame = &stack->frames[number];
	out_object_begin(out, NULL);
	out_i64(out, "pid", task->pid);
	out_string(out, "comm", task->comm);
	out_address(out, "task", task->address);
	out_u64(out, "number", number);
	out_string(out, "kind", user_frame_kind_name(frame->kind));
	out_address(out, "sp", frame->sp);
	out_address(out, "pc", frame->pc);
	write_symbol(out, frame);
	write_place(out, frame);
	if (stack->end)
		out_string(out, "end", stack->end->message);
	else
		out_null_as(out, "end", "");
	out_object_end(out);
}

static void write_stack(struct out *out, const struct task *task, const struct user_stack *stack)
{
	if (out_is_rows(out)) {
		out_array_begin(out, NULL);
		for (size_t i = 0; i < stack->count; i++)
			write_row(out, task, stack, i);
		out_array_end(out);
		return;
	}
	out_object_begin(out, NULL);
	task_write(out, "task", task);
	out_array_begin(out, "user_frames");
	for (size_t i = 0; i < stack->count; i++)
		write_frame(out, &stack->frames[i], i);
	out_array_end(out);
	if (stack->end) {
		out_string_as(out, "end", stack->end->message, "");
		out_text(out, "    (the end: %s)\n", stack->end->message);
	}
	out_object_end(out);
}

struct error *user_trace_write(struct session *session, const struct task *task)
{
	struct user_stack stack;
	TRY(user_stack_read(session->target, task, &stack));
	write_stack(session->out, task, &stack);
	user_stack_deinit(&stack);
	return NULL;
}
