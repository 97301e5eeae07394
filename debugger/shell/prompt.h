/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The prompt itself, in the helper process: readline, history, the keys. It knows nothing of the
 * dump; what fits behind the cursor is for others to find.
 */
#ifndef DEBUGGER_SHELL_PROMPT_H
#define DEBUGGER_SHELL_PROMPT_H

#include "debugger/shell/shell.h"
#include <stdbool.h>
#include <stddef.h>

struct prompt_link {
	void *context;
	/*
	 * TAB: the words that may stand in place of [ret->start, point) of the line; each goes on
	 * from what is there. False: the process that was asked for some is gone, or talks
	 * nonsense.
	 */
	bool (*find)(void *context, const char *line, size_t point, struct completions *ret);
	/* Nothing that it writes is shown while a line is typed; this shows it when it has ended.
	 */
	void (*settle)(void *context);
};

struct prompt;

/*
 * History is kept in $XDG_STATE_HOME/btfcrash/history, else ~/.local/state/btfcrash/history.
 * `socket`: to the other process. NULL without memory.
 */
struct prompt *prompt_open(int socket, const struct prompt_link *link);
/* The next line that is not empty, NULL: Ctrl-D. Caller frees. */
char *prompt_read(struct prompt *prompt);
/* NULL is allowed. */
void prompt_close(struct prompt *prompt);

#endif
