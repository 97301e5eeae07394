// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/array.h"
#include "base/interrupt.h"
#include "cmds/bt.h"
#include "cmds/command.h"
#include <string.h>

/* What can be done for each task. */
static const struct {
	const char *name;
	struct error *(*write)(struct session *session, const struct task *task);
} actions[] = { { "bt", bt_write_task } };

struct pass {
	struct session *session;
	struct error *(*write)(struct session *session, const struct task *task);
	bool is_first;
};

static struct error *visit(void *context, const struct task *task)
{
	struct pass *pass = context;
	TRY(interrupt_check());
	if (!pass->is_first)
		out_text(pass->session->out, "\n");
	pass->is_first = false;
	return pass->write(pass->session, task);
}

static struct error *foreach_run(struct session *session, const struct arguments *arguments)
{
	struct pass pass = { .session = session, .is_first = true };
	for (size_t i = 0; i < ARRAY_COUNT(actions); i++)
		if (!strcmp(arguments->operands[0], actions[i].name))
			pass.write = actions[i].write;
	if (!pass.write)
		return error_create(ERROR_USAGE, "\"%s\" cannot be run for each task, only bt",
				    arguments->operands[0]);
	struct error *problem;
	out_array_begin(session->out, NULL);
	struct error *error = task_for_each(session->target, visit, &pass, &problem);
	out_array_end(session->out);
	if (!error)
		return problem;
	error_free(problem);
	return error;
}

static const char *const examples[] = { "foreach bt", NULL };

const struct command command_foreach = {
	.name = "foreach",
	.summary = "a command for every task",
	.description = "Runs a command (so far only bt) once for every task, threads and idle "
		       "tasks too: `foreach bt` "
		       "shows all stacks.",
	.operands = { { .name = "COMMAND", .kind = OPERAND_COMMAND } },
	.examples = examples,
	.needs = NEEDS_MEMORY | NEEDS_SYMBOLS | NEEDS_BTF,
	.run = foreach_run,
};
