// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/command.h"
#include "debugger/command/line.h"

#include "debugger/shell/shell.h"
#include <stdlib.h>

static struct error *source_run(struct session *session, const struct arguments *arguments)
{
	char *path = line_path(arguments->operands[0]);
	if (!path)
		return error_no_memory();
	struct error *error = shell_run_path(session, path, command_run_line);
	free(path);
	return error;
}

const struct command command_source = {
	.name = "source",
	.alias = ".",
	.summary = "run the lines of a file",
	.description =
		"Runs the lines of FILE as if they were typed. Blank lines and comments, which # "
		"begins, are skipped. A line that fails does not end it; its message names file "
		"and line. A file may source others.",
	.operands = { { .name = "FILE", .kind = OPERAND_SCRIPT } },
	.examples = (const char *const[]){ "source /dev/null", NULL },
	.run = source_run,
};
