// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/show/stack_groups.h"

#include "debugger/command/task_filter.h"

enum { OPTION_FUNCTION = FILTER_OPTIONS, OPTION_MODULE, OPTION_WAITS };

static bool is_wanted(void *context, const struct task *task)
{
	return task_filter_wants(context, task);
}

static struct error *stacks_run(struct session *session, const struct arguments *arguments)
{
	struct task_filter filter;
	struct stack_selection selection = { .function = arguments->options[OPTION_FUNCTION],
					     .module = arguments->options[OPTION_MODULE],
					     .waits = arguments->options[OPTION_WAITS],
					     .wants = is_wanted,
					     .context = &filter };
	struct error *error = task_filter_init(&filter, session, arguments, arguments->operands,
					       arguments->operand_count);
	if (!error)
		error = stack_groups_write(session, &selection);
	if (!error)
		error = task_filter_check(&filter);
	task_filter_deinit(&filter);
	return error;
}

static const char *const examples[] = {
	"stacks", "stacks -s D", "stacks -u -w *futex*", "stacks -f vfs_read", "stacks -k kworker*",
	NULL
};

const struct command command_stacks = {
	.name = "stacks",
	.summary = "equal stacks of all tasks, counted",
	.description =
		"Groups tasks by their stacks: the most frequent first, the panicking task's last. "
		"Two stacks are equal when all return addresses are. Text names the first 8 tasks "
		"of a group, JSON all. Arguments are those that all tasks of a group are known "
		"to have; a table has a row a frame.\n"
		"\n"
		"Tasks are chosen by pid, address, name or pattern, state, mm, cgroup; stacks by a "
		"function or a module somewhere on them, or by the function the task waits in, "
		"which is the first one outside of the scheduler, as in /proc/PID/wchan.",
	.options = { TASK_FILTER_OPTIONS,
		     [OPTION_FUNCTION] = { 'f', "function", "PATTERN", OPERAND_SYMBOL,
					   "only stacks with such a function" },
		     [OPTION_MODULE] = { 'm', "module", "PATTERN", OPERAND_MODULE,
					 "only stacks with a function of such a module" },
		     [OPTION_WAITS] = { 'w', "waits-in", "PATTERN", OPERAND_SYMBOL,
					"only tasks that wait in such a function" } },
	.operands = { { .name = "PID|TASK|NAME",
			.kind = OPERAND_TASK,
			.optional = true,
			.repeated = true } },
	.examples = examples,
	.needs = NEEDS_MEMORY | NEEDS_SYMBOLS | NEEDS_BTF,
	.run = stacks_run,
};
