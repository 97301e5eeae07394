// SPDX-License-Identifier: GPL-3.0-or-later
/* Frames of the tasks' stacks, as bt has them. */
#include "debugger/tables/table.h"

#include "base/array.h"
#include "debugger/unwind/unwind.h"

enum {
	COLUMN_PID,
	COLUMN_COMM,
	COLUMN_STATE,
	COLUMN_TASK,
	COLUMN_FRAME,
	COLUMN_KIND,
	COLUMN_STACK,
	COLUMN_SP,
	COLUMN_PC,
	COLUMN_OFFSET,
	COLUMN_MODULE,
	COLUMN_FUNCTION,
};

static const struct table_column columns[] = {
	[COLUMN_PID] = { "pid", COLUMN_INTEGER, 7, "of the task", NULL },
	[COLUMN_COMM] = { "comm", COLUMN_TEXT, -15, "the task's name", NULL },
	[COLUMN_STATE] = { "state", COLUMN_TEXT, 0, "its letter: R, S, D, ...", NULL },
	[COLUMN_TASK] = { "task", COLUMN_ADDRESS, 0, "the task's task_struct",
			  "struct task_struct" },
	[COLUMN_FRAME] = { "frame", COLUMN_INTEGER, 5, "0 is the innermost", NULL },
	[COLUMN_KIND] = { "kind", COLUMN_TEXT, -9,
			  "how it was found: orc, exception, ..., scan is a guess", NULL },
	[COLUMN_STACK] = { "stack", COLUMN_TEXT, 0, "IRQ, NMI, ...; none: the task's own", NULL },
	[COLUMN_SP] = { "sp", COLUMN_ADDRESS, 0, "its stack pointer", NULL },
	[COLUMN_PC] = { "pc", COLUMN_ADDRESS, 16, "where it goes on", NULL },
	[COLUMN_OFFSET] = { "offset", COLUMN_WIDE, 0, "of that in the function", NULL },
	[COLUMN_MODULE] = { "module", COLUMN_TEXT, -10, "whose function it is", NULL },
	[COLUMN_FUNCTION] = { "function", COLUMN_TEXT, -24, "none: of user mode", NULL },
};

static struct error *emit(struct table_scan *scan, const struct task *task,
			  const struct frame *frame, size_t number, const char *stack)
{
	const char state[] = { task->state_letter, 0 };
	table_set(scan, COLUMN_PID, (uint64_t)task->pid);
	table_set_text(scan, COLUMN_COMM, task->comm);
	table_set_text(scan, COLUMN_STATE, state);
	table_set(scan, COLUMN_TASK, task->address);
	table_set(scan, COLUMN_FRAME, number);
	table_set_text(scan, COLUMN_KIND, frame_kind_name(frame->kind));
	if (frame->stack != STACK_TASK && *stack)
		table_set_text(scan, COLUMN_STACK, stack);
	table_set(scan, COLUMN_SP, frame->sp);
	table_set(scan, COLUMN_PC, frame->pc);
	if (frame->has_symbol) {
		table_set(scan, COLUMN_OFFSET, frame->offset);
		table_set_text(scan, COLUMN_FUNCTION, frame->symbol.name);
		if (frame->symbol.module)
			table_set_text(scan, COLUMN_MODULE, frame->symbol.module);
	}
	return table_emit(scan);
}

static struct error *visit_task(struct table_scan *scan, const struct task *task)
{
	struct stack_trace trace = { 0 };
	const char *stack = "";
	/* It has exited. */
	if (!task->stack && strchr("ZX", task->state_letter))
		return NULL;
	TRY(unwind_task(scan->target, task, &trace));
	struct error *error = NULL;
	for (size_t i = 0; i < trace.count && !error; i++) {
		/* Said once, where it begins. */
		stack = *trace.frames[i].stack_name ? trace.frames[i].stack_name : stack;
		error = emit(scan, task, &trace.frames[i], i, stack);
	}
	/* Why there are no more. */
	if (!error && trace.end) {
		error = trace.end;
		trace.end = NULL;
	}
	stack_trace_deinit(&trace);
	return error;
}

static const char *const examples[] = {
	"frames -a --where \"function = 'schedule'\" -n 5",
	"sql SELECT function, count(DISTINCT task) AS tasks FROM frames GROUP BY function "
	"ORDER BY tasks DESC LIMIT 10",
	NULL
};

const struct table table_frames = {
	.name = "frames",
	.summary = "frames of stacks",
	.description = "A row is a frame of a task's stack, the innermost first, as bt has them.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit_task = visit_task,
	.item = COLUMN_PC,
};
