/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs that are run beside the debugger: the user's own behind a pipe, the pager. They share
 * the terminal, so Ctrl-C ends them too. While one runs, a pipe that it closed is a write error
 * and no signal.
 */
#ifndef DEBUGGER_SHELL_CHILD_H
#define DEBUGGER_SHELL_CHILD_H

#include "base/error.h"
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct child {
	pid_t pid;		      /* 0: none */
	FILE *to;		      /* its standard input, NULL: ours */
	struct sigaction pipe_action; /* what SIGPIPE did before */
};

/* Runs `sh -c COMMAND`. `piped`: its standard input is ret->to. Errors: ERROR_SYSTEM. */
struct error *child_start(const char *command, bool piped, struct child *ret) MUST_CHECK;
/* Closes its input, waits for its end; the exit status, 128 + the signal as sh has it. */
int child_wait(struct child *child);

#endif
