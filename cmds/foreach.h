/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command within a line of `foreach`. */
#ifndef CMDS_FOREACH_H
#define CMDS_FOREACH_H

#include "debugger/session.h"

/*
 * Where in "foreach [OPTION...] [TASK...] COMMAND ..." the command begins: at the first word that
 * is called as one or is an alias, and that is not in quotes. NULL: this is no such line, or it
 * runs itself.
 */
const char *foreach_command(const struct session *session, const char *line);

#endif
