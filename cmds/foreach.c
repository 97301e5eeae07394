// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/array.h"
#include "base/interrupt.h"
#include "cmds/bt.h"
#include "cmds/command.h"
#include "cmds/task_filter.h"
#include <string.h>

/* What can be done for each task. */
static const struct {
	const char *name;
	struct error *(*write)(struct session *session, const struct task *task,
			       bool with_arguments);
} actions[] = { { "bt", bt_write_task } };

struct pass {
	struct session *session;
	struct error *(*write)(struct session *session, const struct task *task,
			       bool with_arguments);
	struct task_filter filter;
	bool with_arguments;
	bool is_first;
	uint64_t seen;
};

static struct error *visit(void *context, const struct task *task)
{
	struct pass *pass = context;
	TRY(interrupt_check());
	progress_report(pass->session->progress, "tasks", pass->seen++, 0);
	if (!task_filter_wants(&pass->filter, task))
		return NULL;
	if (!pass->is_first)
		out_text(pass->session->out, "\n");
	pass->is_first = false;
	return pass->write(pass->session, task, pass->with_arguments);
}

static struct error *run_pass(struct pass *pass)
{
	struct error *problem;
	out_array_begin(pass->session->out, NULL);
	struct error *error = task_for_each(pass->session->target, visit, pass, &problem);
	out_array_end(pass->session->out);
	if (error) {
		error_free(problem);
		return error;
	}
	return problem ?: task_filter_check(&pass->filter);
}

/* crash's words for kinds and states of tasks. */
static bool take_word(struct task_filter *filter, const char *word)
{
	static const struct {
		const char *word, *letters;
	} states[] = { { "RU", "R" }, { "IN", "S" }, { "UN", "D" }, { "ST", "T" }, { "TR", "t" },
		       { "ZO", "Z" }, { "DE", "X" }, { "PA", "P" }, { "ID", "I" } };
	for (size_t i = 0; i < ARRAY_COUNT(states); i++)
		if (!strcmp(word, states[i].word)) {
			filter->states = states[i].letters;
			return true;
		}
	filter->kernel |= !strcmp(word, "kernel");
	filter->user |= !strcmp(word, "user");
	return !strcmp(word, "kernel") || !strcmp(word, "user");
}

static void take_words(struct task_filter *filter)
{
	while (filter->name_count && take_word(filter, filter->names[0])) {
		filter->names++;
		filter->name_count--;
	}
}

enum { OPTION_NO_ARGUMENTS = FILTER_OPTIONS };

static struct error *foreach_run(struct session *session, const struct arguments *arguments)
{
	struct pass pass = { .session = session,
			     .is_first = true,
			     .with_arguments = !arguments->options[OPTION_NO_ARGUMENTS] };
	size_t last = arguments->operand_count - 1;
	for (size_t i = 0; i < ARRAY_COUNT(actions); i++)
		if (!strcmp(arguments->operands[last], actions[i].name))
			pass.write = actions[i].write;
	if (!pass.write)
		return error_create(ERROR_USAGE, "\"%s\" cannot be run for each task, only bt",
				    arguments->operands[last]);
	struct error *error =
		task_filter_init(&pass.filter, session, arguments, arguments->operands, last);
	take_words(&pass.filter);
	if (!error)
		error = run_pass(&pass);
	task_filter_deinit(&pass.filter);
	return error;
}

static const char *const examples[] = { "foreach bt",		"foreach -s D bt",
					"foreach user bt",	"foreach kworker* bt",
					"foreach kernel UN bt", NULL };

const struct command command_foreach = {
	.name = "foreach",
	.summary = "a command for every task",
	.description =
		"Runs a command (so far only bt) once for every task, threads and idle tasks too, "
		"or for those with a pid, an address, a name or pattern, a state, an mm, a cgroup. "
		"crash's words may come first: user, kernel, and the states RU IN UN ST TR ZO DE "
		"PA ID.\n"
		"\n"
		"`stacks` shows equal ones once.",
	.options = { TASK_FILTER_OPTIONS,
		     [OPTION_NO_ARGUMENTS] = { .letter = 'n',
					       .name = "no-arguments",
					       .help = "without the functions' arguments" } },
	.operands = { { .name = "[PID|TASK|NAME...] COMMAND",
			.kind = OPERAND_WORD,
			.repeated = true } },
	.examples = examples,
	.needs = NEEDS_MEMORY | NEEDS_SYMBOLS | NEEDS_BTF,
	.run = foreach_run,
};
