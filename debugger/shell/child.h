/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the helper process runs and opens for a line: programs behind a pipe, the pager, files to
 * write to. Programs share the terminal, so Ctrl-C ends them too. While one runs, a pipe that it
 * closed is a write error and no signal.
 */
#ifndef DEBUGGER_SHELL_CHILD_H
#define DEBUGGER_SHELL_CHILD_H

#include "base/error.h"
#include "base/helper.h"
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

struct child {
	struct helper_link *helper;   /* NULL: none runs */
	FILE *to;		      /* its standard input, NULL: ours */
	struct sigaction pipe_action; /* what SIGPIPE did before */
};

/* Runs `sh -c COMMAND`. `piped`: its standard input is ret->to. Errors: ERROR_SYSTEM. */
struct error *child_start(struct helper_link *helper, const char *command, bool piped,
			  struct child *ret) MUST_CHECK;
/* The user's pager, piped. */
struct error *child_start_pager(struct helper_link *helper, struct child *ret) MUST_CHECK;
/* Closes its input, waits for its end; the exit status, 128 + the signal as sh has it. */
int child_wait(struct child *child);
/* A file that the line says is written. */
struct error *output_open(struct helper_link *helper, const char *path, bool append,
			  FILE **ret) MUST_CHECK;
/*
 * Takes `error`, why it is not whole, NULL: it is; then what can end it may still fail. A part of a
 * file looks like one: nothing is left in it. `file` may be NULL.
 */
struct error *output_close(struct helper_link *helper, FILE *file, const char *path,
			   struct error *error) MUST_CHECK;

#endif
