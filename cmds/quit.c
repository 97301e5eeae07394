// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/command.h"

static struct error *run(struct session *session, const struct arguments *arguments)
{
	(void)arguments;
	session->quit = true;
	return NULL;
}

extern const struct command command_quit;
const struct command command_quit = {
	.name = "quit",
	.alias = "q exit",
	.summary = "leave the debugger",
	.description = "Ends the session or the script. Ctrl-D does the same at the prompt.",
	.examples = (const char *const[]){ "quit", NULL },
	.run = run,
};
