// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/alias.h"

#include "base/array.h"
#include "base/ascii.h"
#include "debugger/command/arguments.h"
#include "debugger/command/format.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define EXPANSIONS_MAX 16

/* Names that users of crash and gdb type by habit. The user's own aliases take precedence. */
static const struct alias known[] = {
	{ "backtrace", "bt" },	   { "dec", "set base dec" },
	{ "disassemble", "dis" },  { "eval", "print" },
	{ "for", "foreach" },	   { "h", "history" },
	{ "hex", "set base hex" }, { "i", "info" },
	{ "inspect", "print" },	   { "last", "ps -l" },
	{ "man", "help" },	   { "pd", "print -D" },
	{ "px", "print -x" },	   { "sf", "set scroll off" },
	{ "size", "struct" },	   { "sn", "set scroll on" },
	{ "t", "task" },	   { "thread", "task" },
	{ "where", "bt" },	   { "x", "rd" },
};

const struct alias *aliases_known(size_t *ret_count)
{
	*ret_count = ARRAY_COUNT(known);
	return known;
}

static const struct alias *find_in(const struct alias *aliases, size_t count, const char *name,
				   size_t length)
{
	for (size_t i = 0; i < count && length; i++)
		if (*aliases[i].name == *name && !strncmp(aliases[i].name, name, length) &&
		    !aliases[i].name[length])
			return &aliases[i];
	return NULL;
}

const struct alias *alias_find_own(const struct session *session, const char *name, size_t length)
{
	return find_in(session->aliases, session->alias_count, name, length);
}

const struct alias *alias_find(const struct session *session, const char *name, size_t length)
{
	const struct alias *own = alias_find_own(session, name, length);
	return own ? own : find_in(known, ARRAY_COUNT(known), name, length);
}

static const char *skip_blanks(const char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

/* crash hands lines of "gdb" and "g" on; here there is no other. */
static const char *skip_gdb(const struct session *session, const char *line)
{
	size_t length = strcspn(line, " \t");
	bool is_gdb = (length == 1 && *line == 'g') || (length == 3 && !strncmp(line, "gdb", 3));
	if (!is_gdb || !line[length] || alias_find_own(session, line, length))
		return line;
	return skip_blanks(line + length);
}

char *alias_expand(const struct session *session, const char *line)
{
	const struct alias *used[EXPANSIONS_MAX];
	size_t count = 0;
	line = skip_blanks(line);
	line = skip_gdb(session, line);
	char *text = format_expand(line);
	if (!text)
		text = strdup(line);
	while (text && count < EXPANSIONS_MAX) {
		size_t length = strcspn(text, " \t\n|>");
		const struct alias *alias = alias_find(session, text, length);
		for (size_t i = 0; i < count && alias; i++)
			if (used[i] == alias)
				alias = NULL;
		if (!alias)
			break;
		used[count++] = alias;
		char *expanded = NULL;
		if (asprintf(&expanded, "%s%s", alias->text, text + length) < 0)
			expanded = NULL;
		free(text);
		text = expanded;
	}
	return text;
}

void alias_remove(struct session *session, const struct alias *alias)
{
	size_t index = (size_t)(alias - session->aliases);
	free(session->aliases[index].name);
	free(session->aliases[index].text);
	session->alias_count--;
	memmove(&session->aliases[index], &session->aliases[index + 1],
		(session->alias_count - index) * sizeof(*session->aliases));
}

void aliases_deinit(struct session *session)
{
	while (session->alias_count)
		alias_remove(session, &session->aliases[session->alias_count - 1]);
	free(session->aliases);
	session->aliases = NULL;
}

struct error *alias_set(struct session *session, const char *name, size_t length, const char *text)
{
	const struct alias *old = alias_find_own(session, name, length);
	if (old)
		alias_remove(session, old);
	if (!array_reserve(&session->aliases, &session->alias_capacity, session->alias_count + 1))
		return error_no_memory();
	struct alias alias = { strndup(name, length), strdup(text) };
	if (!alias.name || !alias.text) {
		free(alias.name);
		free(alias.text);
		return error_no_memory();
	}
	session->aliases[session->alias_count++] = alias;
	return NULL;
}

const char *alias_cut(const char *name, size_t *ret_length)
{
	*ret_length = strcspn(name, " \t=");
	const char *text = name + *ret_length + strspn(name + *ret_length, " \t");
	text += *text == '=';
	return text + strspn(text, " \t");
}

struct error *alias_check_name(const char *name, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!ascii_is_alnum(name[i]) && !strchr("_-.?", name[i]))
			return error_create(ERROR_USAGE, "\"%.*s\" cannot be a name", (int)length,
					    name);
	if (!length)
		return error_create(ERROR_USAGE, "name the alias: alias NAME = TEXT");
	return NULL;
}

void alias_learn(struct session *session, const char *line)
{
	struct call call;
	size_t length;
	char *text = alias_expand(session, line);
	struct error *error = text ? call_parse(text, &call) : error_no_memory();
	const char *name = !error && call.arguments.operand_count ? call.arguments.operands[0] : "";
	if (!error && *name && !strcmp(call.command->name, "unalias")) {
		const struct alias *alias = alias_find_own(session, name, strlen(name));
		if (alias)
			alias_remove(session, alias);
	} else if (!error && *name && !strcmp(call.command->name, "alias")) {
		const char *meaning = alias_cut(name, &length);
		error = alias_check_name(name, length);
		if (!error && *meaning)
			error = alias_set(session, name, length, meaning);
	}
	if (text)
		call_deinit(&call);
	error_free(error);
	free(text);
}
