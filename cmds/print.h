/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `print` shares with the tables that it makes behind a pipe. */
#ifndef CMDS_PRINT_H
#define CMDS_PRINT_H

#include "cmds/command.h"

extern const struct command command_print;

/* The options of a `print` that was parsed. */
struct error *print_options(const struct arguments *arguments,
			    struct render_options *options) MUST_CHECK;
/* gdb's "/x" in front of an expression, if it is there; what follows it. */
const char *print_format(const char *text, struct render_options *options);

#endif
