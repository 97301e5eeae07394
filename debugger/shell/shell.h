/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where command lines come from: the prompt, a script, standard input. */
#ifndef DEBUGGER_SHELL_SHELL_H
#define DEBUGGER_SHELL_SHELL_H

#include "base/helper.h"
#include "debugger/session.h"
#include <stdio.h>

/* Runs one line; whatever it has to say it has said. False: it failed. */
typedef bool shell_runner(struct session *session, const char *line);

/* What TAB has found: the words that may stand at [start, end) of the line. */
struct completions {
	size_t start; /* offset of the word in the line */
	char **words; /* owned, sorted */
	size_t count, capacity;
	bool are_files; /* the words are file names: let readline find them */
};
/* Names of the dump that go on from the end of `line`. None: count 0. */
typedef void shell_completer(struct session *session, const char *line,
			     const struct helper_question *question, struct completions *ret);
/* Adds a copy of a word. */
void completions_add(struct completions *completions, const char *word);
/* In their order, each once. */
void completions_sort(struct completions *completions);
void completions_deinit(struct completions *completions);

/* Not blank, and no comment. */
bool shell_is_command(const char *line);

/* The prompt (prompt.h), until Ctrl-D or `quit`. ERROR_SYSTEM: there is none. */
struct error *shell_interact(struct session *session, shell_runner *run,
			     shell_completer *complete) MUST_CHECK;
/* One line of the command line, the source of this number. */
struct error *shell_run_command(struct session *session, size_t number, const char *line,
				shell_runner *run) MUST_CHECK;
/*
 * Lines of the file at `path`; "-" is standard input. Blank ones and # comments are skipped.
 * ERROR_SYSTEM when it cannot be read, ERROR_USAGE when it sources itself.
 */
struct error *shell_run_path(struct session *session, const char *path,
			     shell_runner *run) MUST_CHECK;
/* The lines of $XDG_CONFIG_HOME/btfcrash/rc, else ~/.config/btfcrash/rc, if there is one. */
struct error *shell_run_rc(struct session *session, shell_runner *run) MUST_CHECK;

#endif
