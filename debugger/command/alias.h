/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of the user's own for the beginning of a line. */
#ifndef DEBUGGER_COMMAND_ALIAS_H
#define DEBUGGER_COMMAND_ALIAS_H

#include "debugger/session.h"

struct alias {
	char *name, *text;
};

/* Those that come with btfcrash: words of crash and gdb. The user's own come first. */
const struct alias *aliases_known(size_t *ret_count);
/* NULL: there is none. */
const struct alias *alias_find(const struct session *session, const char *name, size_t length);
/* Of the user's own ones. NULL: there is none. */
const struct alias *alias_find_own(const struct session *session, const char *name, size_t length);
/* In place of an old one of the name. */
struct error *alias_set(struct session *session, const char *name, size_t length,
			const char *text) MUST_CHECK;
/* One that alias_find_own() has found. */
void alias_remove(struct session *session, const struct alias *alias);
/* "name = text", "name text", "name". Returns the text; it is empty where there is none. */
const char *alias_cut(const char *name, size_t *ret_length);
/* Errors: an alias cannot have this name. */
struct error *alias_check_name(const char *name, size_t length) MUST_CHECK;
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
