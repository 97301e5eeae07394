// SPDX-License-Identifier: GPL-3.0-or-later
/* Choosing a task and a frame of its stack: task, frame, up, down, registers. */
#include "debugger/command/arguments.h"
#include "debugger/command/command.h"
#include "debugger/command/task_named.h"
#include "debugger/show/frames.h"
#include "debugger/show/traces.h"
#include <string.h>

/* The selected frame, as bt shows it. */
static struct error *write_selected(struct session *session)
{
	const struct stack_trace *trace;
	TRY(focus_trace(&session->focus, session->target, &trace));
	TRY(focus_set_frame(&session->focus, session->target, session->focus.frame));
	frame_write(session, &trace->frames[session->focus.frame], session->focus.frame,
		    session->focus.arguments ? &session->focus.arguments[session->focus.frame]
					     : NULL);
	return NULL;
}

static struct error *frame_run(struct session *session, const struct arguments *arguments)
{
	uint64_t number;
	if (arguments->operand_count) {
		TRY(argument_number(arguments->operands[0], "a number of frames", 0, SIZE_MAX,
				    &number));
		TRY(focus_set_frame(&session->focus, session->target, number));
	}
	return write_selected(session);
}

/* Towards the caller: up, as gdb counts. */
static struct error *move(struct session *session, const struct arguments *arguments, bool up)
{
	const struct stack_trace *trace;
	uint64_t steps = 1;
	size_t at = session->focus.frame;
	if (arguments->operand_count)
		TRY(argument_number(arguments->operands[0], "a number of frames", 0, SIZE_MAX,
				    &steps));
	TRY(focus_trace(&session->focus, session->target, &trace));
	if (up && (!trace->count || at == trace->count - 1))
		return error_create(ERROR_USAGE, "frame %zu is the last one", at);
	if (!up && !at)
		return error_create(ERROR_USAGE, "frame 0 is the innermost one");
	if (up)
		at = steps < trace->count - 1 - at ? at + steps : trace->count - 1;
	else
		at = steps < at ? at - steps : 0;
	TRY(focus_set_frame(&session->focus, session->target, at));
	return write_selected(session);
}

static struct error *up_run(struct session *session, const struct arguments *arguments)
{
	return move(session, arguments, true);
}

static struct error *down_run(struct session *session, const struct arguments *arguments)
{
	return move(session, arguments, false);
}

/* --- task -------------------------------------------------------------------------------- */

static struct error *task_run(struct session *session, const struct arguments *arguments)
{
	const struct task *selected;
	if (arguments->operand_count) {
		struct task task;
		TRY(task_named(session, arguments->operands[0], &task));
		focus_set_task(&session->focus, &task);
		session->scope.task = session->focus.task.address;
	}
	TRY(focus_task(&session->focus, session->target, &selected));
	out_item_named(session->out, selected->address, "struct task_struct");
	task_write(session->out, NULL, selected);
	return NULL;
}

/* --- registers ------------------------------------------------------------------------------ */

static const struct column register_columns[] = { { "register", "", -8 },
						  { "value", "", 16 },
						  { "symbol", "", 0 } };

static void write_register(struct session *session, const char *name, uint64_t value)
{
	char place[SYMBOL_NAME_SIZE + 64];
	bool described = target_describe(session->target, value, place, sizeof(place));
	out_row_begin(session->out);
	out_string(session->out, "register", name);
	out_address(session->out, "value", value);
	if (described)
		out_string(session->out, "symbol", place);
	else
		out_null_as(session->out, "symbol", "");
	out_row_end(session->out);
}

static struct error *registers_run(struct session *session, const struct arguments *arguments)
{
	(void)arguments;
	const struct stack_trace *trace;
	const struct arch *arch = session->target->arch;
	TRY(focus_trace(&session->focus, session->target, &trace));
	TRY(focus_set_frame(&session->focus, session->target, session->focus.frame));
	const struct frame *frame = &trace->frames[session->focus.frame];
	if (frame->is_unproved)
		return error_create(ERROR_NOT_FOUND,
				    "frame %zu was found by a search: its registers are not sure",
				    session->focus.frame);
	out_table_begin(session->out, NULL, register_columns, 3);
	for (unsigned int number = 0; number < arch->register_count; number++)
		if (registers_has(&frame->registers, number))
			write_register(session, arch->register_names[number],
				       frame->registers.values[number]);
	out_table_end(session->out);
	return NULL;
}

/* --- entries -------------------------------------------------------------------------------- */

#define NEEDS (NEEDS_MEMORY | NEEDS_SYMBOLS | NEEDS_BTF)

static const char *const frame_examples[] = { "frame", "frame 1", "frame 0", NULL };
const struct command command_frame = {
	.name = "frame",
	.alias = "f",
	.summary = "shows or selects a frame of the selected task's stack",
	.description =
		"Without a number shows the selected frame, with one selects it first; numbers are "
		"those of bt. Its registers are $rip, $rsp, ... in expressions, as far as they are "
		"known: all of an interrupted frame, of others those that the unwinder could "
		"follow. Arguments whose values are proved go by their names: `frame 7`, then "
		"`print *file`.",
	.operands = { { .name = "NUMBER", .kind = OPERAND_NUMBER, .optional = true } },
	.examples = frame_examples,
	.needs = NEEDS,
	.per_task = true,
	.run = frame_run,
};

static const char *const up_examples[] = { "up", NULL };
const struct command command_up = {
	.name = "up",
	.summary = "selects the frame of the caller",
	.description = "Moves towards the callers, by one frame or by so many.",
	.operands = { { .name = "COUNT", .kind = OPERAND_NUMBER, .optional = true } },
	.examples = up_examples,
	.needs = NEEDS,
	.run = up_run,
};

static const char *const down_examples[] = { NULL };
const struct command command_down = {
	.name = "down",
	.summary = "selects the frame of the callee",
	.description = "Moves towards the innermost frame, by one frame or by so many.",
	.operands = { { .name = "COUNT", .kind = OPERAND_NUMBER, .optional = true } },
	.examples = down_examples,
	.needs = NEEDS,
	.run = down_run,
};

static const char *const task_examples[] = { "task", "task 1", NULL };
const struct command command_task = {
	.name = "task",
	.summary = "shows or selects the task to look at",
	.description = "Selects a task by pid, by name or by the address of its task_struct: bt, "
		       "frame and "
		       "`current` in "
		       "expressions are about it from then on. At first it is the panicking one.",
	.operands = { { .name = "TASK", .kind = OPERAND_TASK, .optional = true } },
	.examples = task_examples,
	.needs = NEEDS,
	.per_task = true,
	.run = task_run,
};

static const char *const registers_examples[] = { "registers", NULL };
const struct command command_registers = {
	.name = "registers",
	.alias = "regs",
	.summary = "the known registers of the selected frame",
	.description = "Lists the registers of the selected frame whose values are known, with "
		       "the symbol that a value points to. `info registers` is the same.",
	.examples = registers_examples,
	.needs = NEEDS,
	.per_task = true,
	.run = registers_run,
};

static struct error *info_run(struct session *session, const struct arguments *arguments)
{
	const char *what = arguments->operands[0];
	size_t length = strlen(what);
	if (length && !strncmp(what, "registers", length))
		return registers_run(session, arguments);
	if (!strcmp(what, "regs"))
		return registers_run(session, arguments);
	if (length && !strncmp(what, "frame", length))
		return write_selected(session);
	return error_create(ERROR_USAGE, "there is `info registers` and `info frame`");
}

static const char *const info_examples[] = { "info registers", "info frame", NULL };
const struct command command_info = {
	.name = "info",
	.summary = "registers or place of the selected frame",
	.description = "`info registers` and `info frame`, for hands that know gdb.",
	.operands = { { .name = "WHAT", .kind = OPERAND_WORD } },
	.examples = info_examples,
	.needs = NEEDS,
	.run = info_run,
};
