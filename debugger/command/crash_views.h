/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Forms of crash's commands that a line of tables shows: `ps -m`, `kmem -f`, `files -R PATH`. What
 * is typed runs that line; help of the command lists them.
 */
#ifndef DEBUGGER_COMMAND_CRASH_VIEWS_H
#define DEBUGGER_COMMAND_CRASH_VIEWS_H

#include "base/error.h"

/*
 * In `line` stands "%s" for the words behind the option, "%," for these with commas between, "%q"
 * for one of them within quotes of SQL. What is within [ ] falls away where there are none.
 */
struct crash_view {
	const char *command; /* as the program calls it */
	const char *option;  /* "-m" */
	const char *operand; /* what may stand behind it, for help; NULL: nothing */
	const char *line;
};

/* Ends with a nameless one; those of a command stand together. */
extern const struct crash_view crash_views[];

/*
 * The line that stands for `rest`, what was typed behind the command; caller frees *ret. NULL: it
 * is no such form. Errors: words that do not belong there.
 */
struct error *crash_view_line(const char *command, const char *rest, char **ret) MUST_CHECK;

#endif
