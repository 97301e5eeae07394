/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `print` shares with the tables that it makes behind a pipe. */
#ifndef DEBUGGER_COMMAND_PRINT_OPTIONS_H
#define DEBUGGER_COMMAND_PRINT_OPTIONS_H

#include "debugger/command/command.h"

/* The options of a `print` that was parsed; `command` is that. */
struct error *print_options(const struct command *command, const struct arguments *arguments,
			    struct render_options *options) MUST_CHECK;
/* gdb's "/x" in front of an expression, if it is there; what follows it. */
const char *print_format(const char *text, struct render_options *options);

#endif
