/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the text of one command, without pipes, to the command and its checked arguments. */
#ifndef DEBUGGER_COMMAND_ARGUMENTS_H
#define DEBUGGER_COMMAND_ARGUMENTS_H

#include "debugger/command/command.h"

#define WORDS_MAX 256

struct call {
	const struct command *command;
	struct arguments arguments;
	/* --json, --csv and --columns, which every command takes. */
	bool json, csv;
	const char *columns; /* NULL: all */
	/* What the arguments point into. */
	char *text, *storage;
	char *view; /* the line that was run for what was typed: crash_views.h; NULL */
	const char **operands;
};

/* Errors: ERROR_USAGE with the usage line. call_deinit() in any case. */
struct error *call_parse(const char *text, struct call *ret) MUST_CHECK;
void call_deinit(struct call *call);
/* Whether it is of `help`, or of a command with --help alone, which need no dump. */
bool call_asks_for_help(const char *text);
/* What follows a command's name and its options in the text of one. */
const char *call_operands(const struct command *command, const char *text);

/*
 * A number among the operands or options, decimal or with 0x. Errors: ERROR_USAGE, "TEXT is not
 * WHAT", also where it is less or more than that.
 */
struct error *argument_number(const char *text, const char *what, uint64_t least, uint64_t most,
			      uint64_t *ret) MUST_CHECK;
/* The operands from `first` to before `end`, with blanks between: an expression. Caller frees. */
char *arguments_join(const struct arguments *arguments, size_t first, size_t end);

#endif
