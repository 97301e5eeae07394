/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TAB at the prompt: what may stand at the cursor, by the kinds of operands in the command's entry.
 */
#ifndef DEBUGGER_COMPLETION_COMPLETE_H
#define DEBUGGER_COMPLETION_COMPLETE_H

#include "debugger/shell/shell.h"

/* A shell_completer: borrows nothing, reads no more of the dump than symbols and types. */
void command_complete(struct session *session, const char *line, size_t point,
		      struct completions *ret);

#endif
