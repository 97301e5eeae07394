// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/command/command.h"
#include "debugger/command/task_filter.h"
#include <stdio.h>

static const struct column columns[] = {
	{ "running", "", 1 },	 { "pid", "PID", 7 },	    { "ppid", "PPID", 7 },
	{ "cpu", "CPU", 4 },	 { "address", "TASK", 16 }, { "state", "ST", 2 },
	{ "comm", "COMM", -16 },
};

struct listing {
	struct session *session;
	struct task_filter filter;
	uint64_t seen; /* tasks looked at */
};

static const char *mark(struct target *target, const struct task *task)
{
	const struct cpu *cpu = task->on_cpu ? target_cpu(target, task->cpu) : NULL;
	return cpu && cpu->is_silent ? "!" : task->on_cpu ? ">" : " ";
}

static void write_task(struct out *out, struct target *target, const struct task *task)
{
	char state[2] = { task->state_letter, 0 }, name[sizeof(task->comm) + 2];
	out_item_named(out, task->address, "struct task_struct");
	out_row_begin(out);
	out_bool_as(out, "running", task->on_cpu, mark(target, task));
	out_i64(out, "pid", task->pid);
	if (task->ppid < 0)
		out_null_as(out, "ppid", "?");
	else
		out_i64(out, "ppid", task->ppid);
	out_u64(out, "cpu", task->cpu);
	out_address(out, "address", task->address);
	out_string(out, "state", state);
	/* Kernel threads in brackets, as ps(1) has them. */
	snprintf(name, sizeof(name), task->has_mm ? "%s" : "[%s]", task->comm);
	out_string_as(out, "comm", task->comm, name);
	out_row_end(out);
}

static struct error *visit(void *context, const struct task *task)
{
	struct listing *listing = context;
	struct error *error = interrupt_check();
	if (error)
		return error;
	progress_report(listing->session->progress, "tasks", listing->seen++, 0);
	if (task_filter_wants(&listing->filter, task))
		write_task(listing->session->out, listing->session->target, task);
	return NULL;
}

static struct error *list_tasks(struct listing *listing)
{
	struct session *session = listing->session;
	struct error *problem = NULL;
	out_table_begin(session->out, NULL, columns, ARRAY_COUNT(columns));
	struct error *error = task_for_each(session->target, visit, listing, &problem);
	out_table_end(session->out);
	if (!error)
		error = problem;
	else
		error_free(problem);
	return error ?: task_filter_check(&listing->filter);
}

static struct error *ps_run(struct session *session, const struct arguments *arguments)
{
	struct listing listing = { .session = session };
	struct error *error = task_filter_init(&listing.filter, session, arguments,
					       arguments->operands, arguments->operand_count);
	if (!error)
		error = list_tasks(&listing);
	task_filter_deinit(&listing.filter);
	return error;
}

static const char *const examples[] = { "ps",
					"ps -k",
					"ps -u -s SR",
					"ps 1 kthreadd",
					"ps | grep kworker",
					"ps -s I | print {pid, comm, mm}",
					NULL };

const struct command command_ps = {
	.name = "ps",
	.summary = "tasks",
	.description =
		"Lists all tasks, threads and the idle task of every CPU too, or those with a pid, "
		"an address, a name or pattern, an mm, a cgroup. `>` marks those that were "
		"running, `!` those whose CPU then did not answer the dying kernel. The state is "
		"/proc's "
		"letter: R running, S sleeping, D waiting uninterruptibly, T stopped, t traced, Z "
		"zombie, X dead, P parked, I idle. Names of kernel threads are in brackets.\n"
		"\n"
		"Behind a pipe, each task is `$_`, a struct task_struct *.",
	.options = { TASK_FILTER_OPTIONS },
	.operands = { { .name = "PID|TASK|NAME",
			.kind = OPERAND_TASK_NAME,
			.optional = true,
			.repeated = true } },
	.examples = examples,
	.needs = NEEDS_MEMORY | NEEDS_SYMBOLS | NEEDS_BTF,
	.run = ps_run,
};
