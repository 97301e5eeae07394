// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/array.h"
#include "base/interrupt.h"
#include "cmds/command.h"
#include "debugger/kernel/task.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct column columns[] = {
	{ "running", "", 1 },	 { "pid", "PID", 7 },	    { "ppid", "PPID", 7 },
	{ "cpu", "CPU", 4 },	 { "address", "TASK", 16 }, { "state", "ST", 2 },
	{ "comm", "COMM", -16 },
};

enum { OPTION_KERNEL, OPTION_USER, OPTION_STATE };

/* Which tasks are asked for, and what was found of them. */
struct listing {
	struct session *session;
	bool kernel, user;  /* only these; neither: both */
	const char *states; /* letters, NULL: any */
	const char *const *names;
	size_t name_count;
	bool *found;   /* by name */
	uint64_t seen; /* tasks looked at */
};

static void write_task(struct out *out, const struct task *task)
{
	char state[2] = { task->state_letter, 0 }, name[sizeof(task->comm) + 2];
	out_item(out, task->address, "struct task_struct");
	out_row_begin(out);
	out_bool_as(out, "running", task->on_cpu, task->on_cpu ? ">" : " ");
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

/* A pid, the address of a task_struct (hexadecimal, as ps itself shows it), or a name. */
static bool is_called(const struct task *task, const char *name)
{
	char *end;
	size_t length = strlen(name);
	bool hexadecimal = !strncmp(name, "0x", 2);
	if (!hexadecimal && strspn(name, "0123456789") == length && length < 16)
		return strtoll(name, NULL, 10) == task->pid;
	if (hexadecimal || length == 16) {
		uint64_t address = strtoull(name, &end, 16);
		if (!*end)
			return address == task->address;
	}
	return !strcmp(name, task->comm);
}

static bool is_wanted(struct listing *listing, const struct task *task)
{
	if ((listing->kernel || listing->user) && !(task->has_mm ? listing->user : listing->kernel))
		return false;
	if (listing->states &&
	    (!task->state_letter || !strchr(listing->states, task->state_letter)))
		return false;
	bool any = !listing->name_count;
	for (size_t i = 0; i < listing->name_count; i++) {
		if (is_called(task, listing->names[i]))
			any = listing->found[i] = true;
	}
	return any;
}

static struct error *visit(void *context, const struct task *task)
{
	struct listing *listing = context;
	struct error *error = interrupt_check();
	if (error)
		return error;
	progress_report(listing->session->progress, "tasks", listing->seen++, 0);
	if (is_wanted(listing, task))
		write_task(listing->session->out, task);
	return NULL;
}

static struct error *check_found(const struct listing *listing)
{
	for (size_t i = 0; i < listing->name_count; i++)
		if (!listing->found[i])
			return error_create(ERROR_NOT_FOUND, "no task \"%s\"", listing->names[i]);
	return NULL;
}

static struct error *check_states(const char *states)
{
	for (; states && *states; states++)
		if (!strchr("RSDTtXZPI", *states))
			return error_create(ERROR_USAGE,
					    "no state \"%c\"; there are R S D T t X Z P I",
					    isprint((unsigned char)*states) ? *states : '?');
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
	return error ? error : check_found(listing);
}

static struct error *ps_run(struct session *session, const struct arguments *arguments)
{
	struct listing listing = { .session = session,
				   .kernel = arguments->options[OPTION_KERNEL],
				   .user = arguments->options[OPTION_USER],
				   .states = arguments->options[OPTION_STATE],
				   .names = arguments->operands,
				   .name_count = arguments->operand_count };
	struct error *error = check_states(listing.states);
	if (error)
		return error;
	listing.found = calloc(listing.name_count + 1, sizeof(*listing.found));
	if (!listing.found)
		return error_no_memory();
	error = list_tasks(&listing);
	free(listing.found);
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
		"an address or a name. `>` marks those that were running. The state is /proc's "
		"letter: R running, S sleeping, D waiting uninterruptibly, T stopped, t traced, Z "
		"zombie, X dead, P parked, I idle. Names of kernel threads are in brackets.\n"
		"\n"
		"Behind a pipe, each task is `$_`, a struct task_struct *.",
	.options = { [OPTION_KERNEL] = { 'k', "kernel", NULL, 0, "kernel threads only" },
		     [OPTION_USER] = { 'u', "user", NULL, 0, "user tasks only" },
		     [OPTION_STATE] = { 's', "state", "LETTERS", OPERAND_WORD,
					"only tasks in one of these states" } },
	.operands = { { .name = "PID|TASK|NAME",
			.kind = OPERAND_TASK_NAME,
			.optional = true,
			.repeated = true } },
	.examples = examples,
	.needs = NEEDS_MEMORY | NEEDS_SYMBOLS | NEEDS_BTF,
	.run = ps_run,
};
