/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * TAB at the prompt: what may stand at the cursor, by the kinds of operands in the command's entry.
 * Two processes find it: the helper, which has the user's line, knows the program's own words and
 * what the operand is; the one that reads the dump knows names, and is asked for these alone.
 */
#ifndef DEBUGGER_COMPLETION_COMPLETE_H
#define DEBUGGER_COMPLETION_COMPLETE_H

#include "debugger/shell/shell.h"

/* The most words of one answer: more than anybody will read. */
#define COMPLETE_WORDS_MAX 5000

/* What the dump may add to the program's own words. */
struct complete_wanted {
	enum helper_names names; /* NAMES_NONE: nothing */
	bool or_expression;	 /* the operand is an expression where no name fits */
	size_t start;		 /* of the operand in the line */
};

/*
 * For the helper. The program's own words at the end of `text`, the line up to the cursor, the
 * user's aliases, and where in the line the word begins. Of the session it reads the aliases alone.
 */
void complete_own(struct session *session, const char *text, struct completions *ret,
		  struct complete_wanted *ret_wanted);
/* The same where all from `start` on is an expression. */
void complete_own_expression(struct session *session, const char *text, size_t start,
			     struct completions *ret);

/* For the process that reads the dump, a shell_completer: reads no more than symbols and types. */
void command_complete(struct session *session, const char *line,
		      const struct helper_question *question, struct completions *ret);

/*
 * Whether a name may be offered as one of these: what TAB puts into the line is parsed and run, and
 * a name in a dump is an attacker's. So each kind has its alphabet, without anything that means
 * more to a line than a name: no blank, quote, bracket, `|`, `>`, `/`, `=`, and no `-` before it.
 */
bool complete_is_name(enum helper_names names, const char *word);

#endif
