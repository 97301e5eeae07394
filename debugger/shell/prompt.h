/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The prompt itself, in the helper process: readline, history, the keys. It knows nothing of the
 * dump; what fits behind the cursor is asked of the other process, and only words that cannot be
 * more than words are taken from it.
 */
#ifndef DEBUGGER_SHELL_PROMPT_H
#define DEBUGGER_SHELL_PROMPT_H

#include "base/channel.h"
#include <stdbool.h>
#include <stddef.h>

/*
 * Which words may be offered. Where the end of the line is for a program, or a file's name is
 * typed, only names of files, which no other process finds, complete it; half a name of a command
 * of ours looks like a program, too.
 */
enum prompt_words { PROMPT_ANY, PROMPT_COMMANDS, PROMPT_NONE };

struct prompt_link {
	void *context;
	enum prompt_words (*wanted)(void *context, const char *line, size_t point);
	bool (*is_command)(void *context, const char *word);
	/*
	 * The other process may need something to find words: kinds from 1 up and the most bytes of
	 * each (0: none is known), and what answers one; false: not while a line is typed.
	 */
	size_t (*request_limit)(uint32_t kind);
	bool (*serve)(void *context, const struct message *request);
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
/* A word that the other process found may stand in the line: it ends no command and begins none. */
bool prompt_word_is_plain(const char *word);
/*
 * And it goes on from what is typed, [start, point) of the line. Readline would put any word there:
 * one that begins elsewhere is another line than the user's, such as "source DUMP".
 */
bool prompt_word_fits(const char *line, size_t start, size_t point, const char *word);

#endif
