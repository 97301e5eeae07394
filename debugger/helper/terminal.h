/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The terminal, which is the helper's alone. What the process that reads the dump writes there
 * comes through pipes, and so does what it writes to programs that are on the terminal: they would
 * show it as it is. All of it is filtered (base/terminal_filter.h). A standard file that is no
 * terminal stays with the other process, and costs nothing.
 */
#ifndef DEBUGGER_HELPER_TERMINAL_H
#define DEBUGGER_HELPER_TERMINAL_H

#include "base/helper.h"
#include "debugger/helper/relay.h"
#include <sys/types.h>
#include <termios.h>

#define RELAYS_MAX 80 /* the standard files, programs, files that are terminals */

struct terminal {
	bool is_there; /* standard output or error is one */
	bool has_mode, has_progress;
	struct termios mode; /* before anything was done */
	struct relay relays[RELAYS_MAX];
};

/* For the other process: what takes the place of each standard file; -1: the file stays. */
struct terminal_inputs {
	int files[3];
};

/* Before the fork. Returns an errno; 0: done. */
int terminal_open(struct terminal *terminal, struct terminal_inputs *ret);
/* In the helper, and where there is none after all. */
void terminal_inputs_close(struct terminal_inputs *inputs);
/* In the other process: takes the inputs, and gives up the terminal for good. */
void terminal_leave(struct terminal *terminal, struct terminal_inputs *inputs);

/* Passes on what comes until there is a message, or the end of the other process. */
void terminal_wait(struct terminal *terminal, int socket);
/* What was written to the terminal before is on it. */
void terminal_settle(struct terminal *terminal);
/* The same, and others write there now. */
void terminal_hand_over(struct terminal *terminal);
/*
 * Filters what goes to `to`, which it takes: the standard input of a program, or (0) a terminal.
 * *ret: where to write to. Returns an errno; 0: done.
 */
int terminal_filter_to(struct terminal *terminal, int to, pid_t program, int *ret);
/* Until a program has got all that is there for it, or does not want it. */
void terminal_finish(struct terminal *terminal, pid_t program);
/* The line that says how far work has come, "" none. False: it is no such text. */
bool terminal_progress(struct terminal *terminal, const char *text);
/* 0 where it is not known. */
struct helper_size terminal_size(void);
/*
 * The other process has ended. `was_left`: as it should, having said so. True: whoever is at the
 * terminal should hear of it.
 */
bool terminal_close(struct terminal *terminal, bool was_left);

#endif
