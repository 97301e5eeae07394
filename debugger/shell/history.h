/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines typed at prompts, kept in a file of the user's own: bounded, each line once. */
#ifndef DEBUGGER_SHELL_HISTORY_H
#define DEBUGGER_SHELL_HISTORY_H

/*
 * $VARIABLE/btfcrash/NAME, else ~/FOLDER/btfcrash/NAME; NULL: there is no home, or no memory.
 * Caller frees.
 */
char *user_path(const char *variable, const char *folder, const char *name);

/* Reads the file into readline's history. */
void history_load(const char *path);
/*
 * Adds a line, to readline's history and to the file at once, for a session may end in a kill. An
 * older line that is equal goes. `path` NULL: no file.
 */
void history_keep(const char *path, const char *line);
/* Writes the file anew, without what is double or too old; what other sessions added stays. */
void history_tidy(const char *path);

#endif
