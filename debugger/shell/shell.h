/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where command lines come from: the prompt, a script, standard input. */
#ifndef DEBUGGER_SHELL_SHELL_H
#define DEBUGGER_SHELL_SHELL_H

#include "debugger/session.h"
#include <stdio.h>

/* Runs one line; whatever it has to say it has said. */
typedef void shell_runner(struct session *session, const char *line);

/* The prompt, until Ctrl-D or `quit`. History is kept in ~/.local/state/btfcrash/history. */
void shell_interact(struct session *session, shell_runner *run);
/* Lines of a file; blank ones and # comments are skipped. ERROR_SYSTEM when it cannot be read. */
struct error *shell_run_file(struct session *session, FILE *file, shell_runner *run) MUST_CHECK;

#endif
