/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The options of the command line, as data: getopt's table, --help, the manual page and the shells'
 * completions are made from it.
 */
#ifndef DEBUGGER_COMMAND_OPTIONS_H
#define DEBUGGER_COMMAND_OPTIONS_H

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>

/* What getopt_long() returns for options without a letter. */
enum option_key {
	OPTION_LIVE = 256,
	OPTION_JSON,
	OPTION_RECORD,
	OPTION_JSON_INTEGERS,
	OPTION_CSV,
	OPTION_FORMAT,
	OPTION_COLUMNS,
	OPTION_COLOR,
	OPTION_NO_RC,
	OPTION_BTF,
	OPTION_DECLARE,
	OPTION_VMCOREINFO,
	OPTION_NO_CACHE,
	OPTION_NO_HINTS,
	OPTION_NO_SANDBOX,
	OPTION_WITH,
	OPTION_SQLITE,
	OPTION_MANUAL,
	OPTION_COMPLETION,
	OPTION_SCHEMAS
};

struct program_option {
	int key; /* its letter, or one of enum option_key */
	const char *name;
	const char *argument; /* in the usage: "FILE", "COMMAND", others; NULL: it takes none */
	const char *words;    /* what the argument may be, blanks between; NULL: anything */
	const char *help;     /* for --help, 55 characters at most; NULL: an option for Makefiles */
	const char *more;     /* sentences that the manual page adds; NULL */
};

/* The next option that people are told of, which has help; of NULL the first. NULL: there is none.
 */
const struct program_option *option_next(const struct program_option *option);
/* The letter of an option, 0: it has none. */
char option_letter(const struct program_option *option);
/* For getopt_long(): all options and an empty one; to be freed. NULL without memory. */
struct option *options_for_getopt(void);
/* Its string of letters, behind the same terms. */
char *option_letters(void);
/* Where a word stands among others with blanks between; -1: nowhere. */
int option_word(const char *word, const char *words);
/* The option of a key; there is one. */
const struct program_option *option_of_key(int key);
/* What --help shows. */
void options_usage(FILE *file);

#endif
