/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A command is data: usage errors, help, completion and the manual page are made from it, and the
 * tests run every example on a real dump. To add one: cmds/NAME.c with one `const struct command`,
 * a line in cmds/commands.def, a session test.
 */
#ifndef DEBUGGER_COMMAND_COMMAND_H
#define DEBUGGER_COMMAND_COMMAND_H

#include "base/error.h"
#include "base/out.h"
#include "debugger/session.h"
#include <stdbool.h>
#include <stddef.h>

/* What an operand or an option's argument is: drives completion and the usage line. */
enum operand_kind {
	OPERAND_EXPRESSION,
	OPERAND_TYPE,
	OPERAND_SYMBOL,
	OPERAND_ADDRESS,   /* expression that gives an address */
	OPERAND_TASK,	   /* pid or address of a task_struct */
	OPERAND_TASK_NAME, /* one of these, or its comm */
	OPERAND_CPU,
	OPERAND_NUMBER,
	OPERAND_COMMAND,
	OPERAND_EACH, /* tasks, then a command with operands of its own */
	OPERAND_MODULE,
	OPERAND_FILE,
	/* Of operands: the last word of the line, a file that is written; `repeated`, others may
	   stand before it. */
	OPERAND_OUTPUT,
	OPERAND_SCRIPT, /* a file whose lines run */
	OPERAND_SQL,	/* a statement over tables */
	OPERAND_WORD
};

struct option_spec {
	char letter;	      /* 'a' for -a, 0: no short form */
	const char *name;     /* "all" for --all, NULL: no long form */
	const char *argument; /* NULL: a flag; else its name in the usage, "CPU" */
	enum operand_kind argument_kind;
	const char *help; /* one line */
};

struct operand_spec {
	const char *name; /* in the usage: "EXPRESSION" */
	enum operand_kind kind;
	bool optional;
	bool repeated; /* the last one may come more than once */
	bool rest;     /* the last one takes the rest of the line as it is, spaces and all */
	/*
	 * Of OPERAND_OUTPUT: what is written are bytes of processes or of their files, which the
	 * dead machine kept from other users: nobody but the user may read the file.
	 */
	bool is_private;
};

#define OPTIONS_MAX  16
#define OPERANDS_MAX 4

/* What the line said, checked against the specs. */
struct arguments {
	const char *options[OPTIONS_MAX]; /* by index of the spec: NULL absent, "" flag, else the
					     argument */
	const char *const *operands;
	size_t operand_count;
	const char *line; /* the whole line */
	const struct command *command;
};

/* Parts of the target a command cannot do without; the framework checks and says what is missing.
 */
#define NEEDS_MEMORY  1
#define NEEDS_SYMBOLS 2
#define NEEDS_BTF     4

struct table;

struct command {
	const char *name;
	/* That it shows, and that names, summary, description and examples are of; NULL: none. */
	const struct table *table;
	const char *alias;			 /* other names, blanks between; NULL */
	const char *summary;			 /* one line, lower case, no full stop */
	const char *description;		 /* paragraphs for help and the manual page */
	struct option_spec options[OPTIONS_MAX]; /* ends at the first without letter and name */
	struct operand_spec operands[OPERANDS_MAX];
	const char *const *examples; /* NULL-terminated command lines that work on any dump */
	unsigned int needs;
	bool whole_line;  /* `|` and `>` are its own: they begin no pipe */
	bool makes_table; /* behind a pipe {A, B} makes a table of members */
	bool per_task;	  /* says other things of other current tasks: foreach runs it */
	/*
	 * Writes exactly one value to session->out (an object, array, table or scalar with key
	 * NULL). What was written before an error is still shown.
	 */
	struct error *(*run)(struct session *session, const struct arguments *arguments);
};

/* NULL-terminated, in the order help shows them: cmds/commands.def, or what a test puts there. */
extern const struct command *const commands[];
/* Of the command or of its table; NULL: there are none. */
const char *command_other_names(const struct command *command);
const char *command_summary(const struct command *command);
const char *command_description(const struct command *command);
const char *const *command_examples(const struct command *command);
/* By name or alias; NULL. */
const struct command *command_find(const char *name, size_t length);
/* Index of an option by letter, for arguments->options. */
static inline const char *argument_option(const struct command *command,
					  const struct arguments *arguments, char letter)
{
	for (size_t i = 0; i < OPTIONS_MAX; i++)
		if (command->options[i].letter == letter)
			return arguments->options[i];
	return NULL;
}
/* "no command NAME", with the one that may have been meant. */
struct error *command_unknown(const char *name, size_t length) MUST_CHECK;
/* How many options and operands a command has. */
size_t command_option_count(const struct command *command);
size_t command_operand_count(const struct command *command);
/* An operand that takes the rest of the line, in which C's operators may stand. */
static inline bool operand_is_expression(const struct operand_spec *operand)
{
	return operand->rest && operand->kind != OPERAND_COMMAND && operand->kind != OPERAND_EACH;
}
/* The option that a word such as "-x", "-c0", "--name=VALUE" or "-16" is; NULL: none. */
const struct option_spec *command_find_option(const struct command *command, const char *word);
/* True of `print` and its like: an operand is an expression that goes to the end of the line. */
bool command_takes_expression(const struct command *command);
/* "usage: bt [-a] [-c CPU] [TASK]" without newline. Returns snprintf's length. */
size_t command_usage(const struct command *command, char *buffer, size_t size);
struct error *command_usage_error(const struct command *command, const char *format, ...)
	PRINTF_LIKE(2, 3) MUST_CHECK;
/*
 * Runs one line, with its pipes and redirections; the output goes to session->file, else to
 * standard output. The error, if any, has been printed; returns false then.
 */
bool command_run_line(struct session *session, const char *line);

#endif
