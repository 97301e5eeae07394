// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/lock_taker.h"

#include "base/array.h"
#include "debugger/analysis/object_owner.h"
#include "debugger/analysis/stack_words.h"
#include "debugger/analysis/wait_stack.h"
#include <stdio.h>
#include <string.h>

/* Of a static variable, and of an object that a module's variables lead to. */
static struct error *find_module(struct target *target, uint64_t lock, char *ret, size_t size)
{
	struct symbol symbol;
	uint64_t offset;
	struct object_note note;
	struct object_owner owner;
	*ret = 0;
	if (target_symbol_at(target, lock, &symbol, &offset)) {
		snprintf(ret, size, "%s", symbol.module ?: "");
		return NULL;
	}
	TRY(object_note_find(target, lock, &note));
	TRY(object_owner_of(target, &note, &owner));
	snprintf(ret, size, "%s", owner.module);
	return NULL;
}

static bool is_user(const struct task *task, const struct stack_trace *trace)
{
	size_t first = task->on_cpu ? trace_interrupted(trace) : trace->count;
	return first < trace->count && trace->frames[first].kind == FRAME_USER;
}

/* Only a stack that is known to its end says who is not on it. */
static bool is_whole(const struct stack_trace *trace)
{
	for (size_t i = 0; i < trace->count; i++) {
		const struct frame *frame = &trace->frames[i];
		if (frame->kind == FRAME_USER)
			break;
		if (frame->kind == FRAME_SCAN || frame->kind == FRAME_POINTER ||
		    frame->is_unproved || !frame->has_symbol)
			return false;
	}
	return trace->count && !trace->end;
}

static bool has_module(const struct stack_trace *trace, const char *module)
{
	for (size_t i = 0; i < trace->count; i++)
		if (trace->frames[i].has_symbol && trace->frames[i].symbol.module &&
		    !strcmp(trace->frames[i].symbol.module, module))
			return true;
	return false;
}

static struct error *look_at_stack(struct target *target, const struct task *task,
				   const struct stack_trace *trace, uint64_t lock,
				   struct lock_taker *ret)
{
	ret->is_user = is_user(task, trace);
	if (!lock || !is_whole(trace))
		return NULL;
	TRY(find_module(target, lock, ret->absent, sizeof(ret->absent)));
	if (*ret->absent && has_module(trace, ret->absent))
		*ret->absent = 0;
	return NULL;
}

struct error *lock_taker_ask(struct target *target, const struct task *task, uint64_t lock,
			     struct lock_taker *ret)
{
	static const char *const sleeps[] = { "do_nanosleep", "__do_sys_pause", "sigsuspend",
					      "do_sigtimedwait" };
	struct stack_trace trace;
	const char *function = NULL;
	*ret = (struct lock_taker){ .is_user = false };
	TRY(wait_function_of(target, task, &function));
	for (size_t i = 0; i < ARRAY_COUNT(sleeps) && function; i++)
		if (!strcmp(function, sleeps[i]))
			ret->sleep = sleeps[i];
	if (strchr("ZX?", task->state_letter))
		return NULL;
	struct error *error = unwind_task(target, task, &trace);
	if (error)
		return error_only_fatal(error);
	error = look_at_stack(target, task, &trace, lock, ret);
	stack_trace_deinit(&trace);
	return error;
}
