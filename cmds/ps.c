// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/array.h"
#include "cmds/command.h"
#include "debugger/kernel/task.h"
#include <stdio.h>

static const struct column columns[] = {
	{ "running", "", 1 },	 { "pid", "PID", 7 },	    { "ppid", "PPID", 7 },
	{ "cpu", "CPU", 4 },	 { "address", "TASK", 16 }, { "state", "ST", 2 },
	{ "comm", "COMM", -16 },
};

static struct error *write_task(void *context, const struct task *task)
{
	struct out *out = context;
	char state[2] = { task->state_letter, 0 }, name[sizeof(task->comm) + 2];
	out_row_begin(out);
	out_bool_as(out, "running", task->on_cpu, task->on_cpu ? ">" : " ");
	out_i64(out, "pid", task->pid);
	out_i64(out, "ppid", task->ppid);
	out_u64(out, "cpu", task->cpu);
	out_address(out, "address", task->address);
	out_string(out, "state", state);
	/* Kernel threads in brackets, as ps(1) has them. */
	snprintf(name, sizeof(name), task->has_mm ? "%s" : "[%s]", task->comm);
	out_string_as(out, "comm", task->comm, name);
	out_row_end(out);
	return NULL;
}

static struct error *ps_run(struct session *session, const struct arguments *arguments)
{
	(void)arguments;
	struct error *problem;
	out_table_begin(session->out, NULL, columns, ARRAY_COUNT(columns));
	struct error *error = task_for_each(session->target, write_task, session->out, &problem);
	out_table_end(session->out);
	if (!error)
		return problem;
	error_free(problem);
	return error;
}

static const char *const examples[] = { "ps", NULL };

const struct command command_ps = {
	.name = "ps",
	.summary = "tasks",
	.description =
		"Lists all tasks, threads and the idle task of every CPU too. `>` marks those that "
		"were running. The state is /proc's letter: R running, S sleeping, D waiting "
		"uninterruptibly, T stopped, t traced, Z zombie, X dead, P parked, I idle.",
	.examples = examples,
	.needs = NEEDS_MEMORY | NEEDS_SYMBOLS | NEEDS_BTF,
	.run = ps_run,
};
