/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The words of a line of `foreach`: tasks, and the command within. */
#ifndef DEBUGGER_COMMAND_FOREACH_WORDS_H
#define DEBUGGER_COMMAND_FOREACH_WORDS_H

#include "debugger/session.h"

struct foreach_words {
	char *text;	    /* what the names point into */
	const char **names; /* of tasks */
	size_t count;
	const char *command; /* in the line; NULL: there is none */
};

/* `operand`: what follows the options; borrowed. foreach_words_deinit() in any case. */
struct error *foreach_words_init(const struct session *session, const char *operand,
				 struct foreach_words *ret) MUST_CHECK;
void foreach_words_deinit(struct foreach_words *words);
/*
 * Where in "foreach [OPTION...] [TASK...] COMMAND ..." the command begins: at the first word that
 * is called as one or is an alias, and that is not in quotes. NULL: this is no such line, or it
 * runs itself.
 */
const char *foreach_command(const struct session *session, const char *line);

#endif
