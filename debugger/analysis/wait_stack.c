// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/wait_stack.h"

#include "debugger/analysis/stack_words.h"
#include "debugger/analysis/waits_private.h"
#include <inttypes.h>
#include <string.h>

/* An ended task has no stack to look at: `ret` is empty then, and where it cannot be unwound. */
static struct error *unwind(struct target *target, const struct task *task, struct stack_trace *ret)
{
	*ret = (struct stack_trace){ .count = 0 };
	if (strchr("ZX?", task->state_letter))
		return NULL;
	struct error *error = unwind_task(target, task, ret);
	if (error)
		*ret = (struct stack_trace){ .count = 0 };
	return error_only_fatal(error);
}

/* Of a task that runs, what it did when it was interrupted. */
static size_t first_of(const struct stack_trace *trace, const struct task *task)
{
	return task->on_cpu && trace->count ? trace_interrupted(trace) : 0;
}

static bool is_guessed(const struct frame *frame)
{
	return frame->kind == FRAME_POINTER || frame->kind == FRAME_SCAN || frame->is_unproved;
}

struct error *wait_put_module_place(struct target *target, const struct task *task,
				    const char *function, struct strbuf *ret)
{
	struct stack_trace trace;
	TRY(unwind(target, task, &trace));
	for (size_t i = first_of(&trace, task); i < trace.count; i++) {
		const struct frame *frame = &trace.frames[i];
		/* Who sleeps in a page fault of its own, or was preempted, is still where it was.
		 */
		if (frame->kind == FRAME_USER || is_guessed(frame))
			break;
		if (!frame->has_symbol || !frame->symbol.module)
			continue;
		if (!function || strcmp(frame->symbol.name, function) != 0)
			strbuf_format(ret, "%s+0x%" PRIx64 " [%s]", frame->symbol.name,
				      frame->offset, frame->symbol.module);
		break;
	}
	stack_trace_deinit(&trace);
	return NULL;
}

static bool is_nested(const struct stack_trace *trace)
{
	const char *inner = NULL;
	bool is_left = false;
	for (size_t i = 0; i < trace->count; i++) {
		const struct frame *frame = &trace->frames[i];
		if (frame->kind == FRAME_USER || is_guessed(frame) || !frame->has_symbol)
			return false;
		const char *module = frame->symbol.module;
		if (is_left && module && !strcmp(module, inner))
			return true;
		is_left |= inner && !module;
		inner = inner ?: module;
	}
	return false;
}

struct error *wait_is_nested(struct target *target, const struct task *task, bool *ret)
{
	struct stack_trace trace;
	TRY(unwind(target, task, &trace));
	*ret = is_nested(&trace);
	stack_trace_deinit(&trace);
	return NULL;
}

struct error *wait_function_of(struct target *target, const struct task *task, const char **ret)
{
	struct stack_trace trace;
	*ret = "";
	TRY(unwind(target, task, &trace));
	for (size_t i = first_of(&trace, task); i < trace.count && !**ret; i++) {
		const struct frame *frame = &trace.frames[i];
		if (frame->kind == FRAME_USER || !frame->has_symbol)
			break;
		if (task->on_cpu || !wait_is_scheduler(frame))
			*ret = frame->symbol.name;
	}
	stack_trace_deinit(&trace);
	return NULL;
}
