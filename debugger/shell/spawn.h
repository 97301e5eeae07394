/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The helper's side of child.h: programs that it runs for the process that reads the dump. */
#ifndef DEBUGGER_SHELL_SPAWN_H
#define DEBUGGER_SHELL_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Runs `sh -c COMMAND`; *ret_input: the pipe to its standard input, which is the caller's to close,
 * NULL: it has ours. Returns an errno, 0: it runs.
 */
int spawn_shell(const char *command, int *ret_input, pid_t *ret);
/* Its exit status, 128 + the signal as sh has it. */
int spawn_wait(pid_t pid);
/* For sh -c: the user's pager; NULL: none is wanted. */
const char *spawn_pager(void);

#endif
