// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/focus.h"

#include <stdlib.h>
#include <string.h>

static void forget_trace(struct focus *focus)
{
	if (focus->has_trace)
		stack_trace_deinit(&focus->trace);
	free(focus->arguments);
	focus->arguments = NULL;
	focus->has_trace = false;
	focus->frame = 0;
	focus->frame_is_chosen = false;
}

void focus_deinit(struct focus *focus)
{
	forget_trace(focus);
	if (focus->has_task)
		task_deinit(&focus->task);
	*focus = (struct focus){ .has_task = false };
}

void focus_refresh(struct focus *focus, struct target *target)
{
	if (!target_is_live(target))
		return;
	uint64_t address = focus->is_chosen ? focus->task.address : 0;
	size_t frame = focus->frame;
	bool frame_is_chosen = focus->frame_is_chosen;
	target_refresh(target);
	task_forget(target);
	focus_deinit(focus);
	struct task task;
	struct error *error = address ? task_read(target, address, &task) : NULL;
	if (address && !error) {
		focus_set_task(focus, &task);
		focus->frame = frame;
		focus->frame_is_chosen = frame_is_chosen;
	}
	error_free(error);
}

void focus_set_task(struct focus *focus, struct task *task)
{
	focus_deinit(focus);
	focus->task = *task;
	focus->has_task = focus->is_chosen = true;
	*task = (struct task){ .address = 0 };
}

struct error *focus_task(struct focus *focus, struct target *target, const struct task **ret)
{
	if (!focus->has_task)
		TRY(task_panicking(target, &focus->task));
	focus->has_task = true;
	*ret = &focus->task;
	return NULL;
}

/* Without them, the stack is still worth showing. */
static struct error *find_arguments(struct focus *focus, struct target *target)
{
	TRY(error_only_fatal(arguments_of(target, &focus->task, &focus->trace, &focus->arguments)));
	if (!unwind_holds(target, &focus->task, &focus->trace)) {
		free(focus->arguments);
		focus->arguments = NULL;
	}
	return NULL;
}

struct error *focus_trace(struct focus *focus, struct target *target,
			  const struct stack_trace **ret)
{
	const struct task *task;
	TRY(focus_task(focus, target, &task));
	if (!focus->has_trace) {
		TRY(unwind_task(target, task, &focus->trace));
		focus->has_trace = true;
		if (focus->frame >= focus->trace.count) {
			focus->frame = 0;
			focus->frame_is_chosen = false;
		}
		TRY(find_arguments(focus, target));
	}
	*ret = &focus->trace;
	return NULL;
}

struct error *focus_set_frame(struct focus *focus, struct target *target, size_t number)
{
	const struct stack_trace *trace;
	TRY(focus_trace(focus, target, &trace));
	if (!trace->count)
		return error_create(ERROR_NOT_FOUND, "task %d has no frames: %s", focus->task.pid,
				    trace->end ? trace->end->message : "its stack is empty");
	if (number >= trace->count)
		return error_create(ERROR_NOT_FOUND, "there is no frame %zu, the last one is %zu",
				    number, trace->count - 1);
	focus->frame = number;
	focus->frame_is_chosen = true;
	return NULL;
}

/* -1: there is no register of this name. */
static int register_number(const struct arch *arch, const char *name)
{
	const struct {
		const char *name;
		unsigned int number;
	} roles[] = { { "pc", arch->pc }, { "sp", arch->sp }, { "fp", arch->fp } };
	for (unsigned int i = 0; i < arch->register_count; i++)
		if (!strcmp(arch->register_names[i], name))
			return (int)i;
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (!strcmp(roles[i].name, name))
			return (int)roles[i].number;
	return -1;
}

struct error *focus_register(struct focus *focus, struct target *target, const char *name,
			     bool *ret_found, struct value *ret)
{
	const struct stack_trace *trace;
	struct value value = { .target = target, .origin = ORIGIN_CAST };
	int number = target->arch ? register_number(target->arch, name) : -1;
	*ret_found = number >= 0;
	if (number < 0)
		return NULL;
	TRY(focus_trace(focus, target, &trace));
	if (focus->frame >= trace->count)
		return error_create(ERROR_NOT_FOUND, "task %d has no frames", focus->task.pid);
	const struct registers *registers = &trace->frames[focus->frame].registers;
	if (trace->frames[focus->frame].is_unproved)
		return error_create(ERROR_NOT_FOUND,
				    "frame %zu of task %d was found by a search: its registers are "
				    "not sure",
				    focus->frame, focus->task.pid);
	if (!registers_has(registers, (unsigned int)number))
		return error_create(ERROR_NOT_FOUND,
				    "frame %zu of task %d: the value of %s is not known",
				    focus->frame, focus->task.pid, name);
	TRY(target_find_type(target, NULL, "unsigned long", &value.type));
	value.scalar = registers->values[number];
	*ret = value;
	return NULL;
}

struct error *focus_argument(struct focus *focus, struct target *target, const char *name,
			     bool *ret_found, struct value *ret)
{
	*ret_found = false;
	if (!focus->frame_is_chosen || !focus->arguments || focus->frame >= focus->trace.count)
		return NULL;
	const struct frame_arguments *arguments = &focus->arguments[focus->frame];
	for (size_t i = 0; i < arguments->count; i++) {
		const struct argument *argument = &arguments->items[i];
		if (strcmp(argument->name, name))
			continue;
		*ret_found = true;
		if (!argument->is_known)
			return error_create(ERROR_NOT_FOUND,
					    "frame %zu: the value of the argument %s is not known",
					    focus->frame, name);
		*ret = (struct value){ .target = target,
				       .type = argument->type,
				       .scalar = argument->value,
				       .origin = ORIGIN_KERNEL };
		return NULL;
	}
	return NULL;
}
