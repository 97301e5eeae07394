/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of the user's own for the beginning of a line. */
#ifndef CMDS_ALIAS_H
#define CMDS_ALIAS_H

#include "debugger/session.h"

struct alias {
	char *name, *text;
};

/* Those that come with btfcrash: words of crash and gdb. The user's own come first. */
const struct alias *aliases_known(size_t *ret_count);
/* NULL: there is none. */
const struct alias *alias_find(const struct session *session, const char *name, size_t length);
/*
 * The line with its first word replaced, as often as it is an alias, but none twice. Caller frees;
 * NULL without memory.
 */
char *alias_expand(const struct session *session, const char *line);
/* What a line that is `alias NAME = TEXT` or `unalias NAME` does, without a word; others nothing.
 */
void alias_learn(struct session *session, const char *line);
void aliases_deinit(struct session *session);

#endif
