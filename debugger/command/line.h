/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A line as it was typed, cut into its commands, the shell program behind them and the file the
 * output goes to. Which `|` and `>` are C's and which the line's:
 *
 * - Within (), [], {} and quotes, and written without blanks around (a->b, a>>2, a||b), they are
 *   always C's.
 * - A command without an expression (bt, ps, log...) has no C: there they are always the line's.
 * - In `print flags | x` with blanks on both sides, `|` begins a pipe when x is a command of ours
 *   or a program, even where a variable is called so too, for many are called `head` or `sort`:
 *   (flags | x) is C's. In `print a > x` and `print a >> x` the output goes to a file when x is the
 *   last word and no number. Where x is a variable, that is an error, for files shall not be
 *   overwritten by mistake: the line has to say which is meant, (a > x) or > ./x.
 * - `| !PROGRAM` is a program even where a command of ours is called so. All behind the first
 *   program is the shell's, pipes and redirections too.
 */
#ifndef DEBUGGER_COMMAND_LINE_H
#define DEBUGGER_COMMAND_LINE_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>

#define LINE_STAGES_MAX 16

/* What a word may be, for line_split(). Words are not terminated. */
struct line_names {
	void *context;
	/* A command of ours; *ret_expression: one with an expression. */
	bool (*is_command)(void *context, const char *word, size_t length, bool *ret_expression);
	/* A program in $PATH. */
	bool (*is_program)(void *context, const char *word, size_t length);
	/* Something that an expression may name. */
	bool (*is_variable)(void *context, const char *word, size_t length);
};

struct line {
	char *text;			     /* what the others point into */
	const char *stages[LINE_STAGES_MAX]; /* commands of ours, blanks trimmed */
	size_t stage_count;
	const char *program; /* for sh -c, NULL: none */
	const char *file;    /* to write to, NULL: none */
	bool append;
};

/*
 * Errors: ERROR_USAGE for what is ambiguous, for a pipe or redirection that leads nowhere, and for
 * a `;` with another command behind it.
 * line_deinit() afterwards, on errors not.
 */
struct error *line_split(const char *text, const struct line_names *names,
			 struct line *ret) MUST_CHECK;
void line_deinit(struct line *line);

/* False: there is neither a pipe nor a redirection in it. */
bool line_may_have_parts(const char *text);
/* Without the comment that a `#` begins: at the start, or between blanks outside of quotes. */
size_t line_length(const char *text);
/*
 * Where the last command of a line that is still being typed begins; *ret_file: it is no command
 * but the name of a file to write to.
 */
size_t line_last_part(const char *text, bool *ret_file);
/* The program in $PATH, or the path itself if it has a slash; false: there is none. */
bool line_is_program(const char *word, size_t length);

/* A file that a line names: "~/x" is of the home folder. Caller frees; NULL: no memory. */
char *line_path(const char *word);

#endif
