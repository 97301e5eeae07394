// SPDX-License-Identifier: GPL-3.0-or-later
#include "cmds/alias.h"

#include "base/array.h"
#include "cmds/command.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define EXPANSIONS_MAX 16

const struct alias *alias_find(const struct session *session, const char *name, size_t length)
{
	for (size_t i = 0; i < session->alias_count; i++) {
		const struct alias *alias = &session->aliases[i];
		if (length && !strncmp(alias->name, name, length) && !alias->name[length])
			return alias;
	}
	return NULL;
}

char *alias_expand(const struct session *session, const char *line)
{
	const struct alias *used[EXPANSIONS_MAX];
	size_t count = 0;
	while (isspace((unsigned char)*line))
		line++;
	char *text = strdup(line);
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

static void remove_alias(struct session *session, size_t index)
{
	free(session->aliases[index].name);
	free(session->aliases[index].text);
	session->alias_count--;
	memmove(&session->aliases[index], &session->aliases[index + 1],
		(session->alias_count - index) * sizeof(*session->aliases));
}

void aliases_deinit(struct session *session)
{
	while (session->alias_count)
		remove_alias(session, session->alias_count - 1);
	free(session->aliases);
	session->aliases = NULL;
}

static struct error *set_alias(struct session *session, const char *name, size_t length,
			       const char *text)
{
	const struct alias *old = alias_find(session, name, length);
	if (old)
		remove_alias(session, (size_t)(old - session->aliases));
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

static const struct column columns[] = { { "name", "ALIAS", -12 }, { "text", "STANDS FOR", -1 } };

static void show_aliases(struct session *session, const struct alias *aliases, size_t count)
{
	out_table_begin(session->out, NULL, columns, ARRAY_COUNT(columns));
	for (size_t i = 0; i < count; i++) {
		out_row_begin(session->out);
		out_string(session->out, "name", aliases[i].name);
		out_string(session->out, "text", aliases[i].text);
		out_row_end(session->out);
	}
	out_table_end(session->out);
}

/* "name = text", "name text", "name", nothing. */
static struct error *alias_run(struct session *session, const struct arguments *arguments)
{
	if (!arguments->operand_count) {
		show_aliases(session, session->aliases, session->alias_count);
		return NULL;
	}
	const char *name = arguments->operands[0];
	size_t length = strcspn(name, " \t=");
	const char *text = name + length + strspn(name + length, " \t");
	text += *text == '=';
	text += strspn(text, " \t");
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("_-.?", name[i]))
			return error_create(ERROR_USAGE, "\"%.*s\" cannot be a name", (int)length,
					    name);
	if (!length)
		return error_create(ERROR_USAGE, "name the alias: alias NAME = TEXT");
	if (*text)
		return set_alias(session, name, length, text);
	const struct alias *alias = alias_find(session, name, length);
	if (!alias)
		return error_create(ERROR_NOT_FOUND, "no alias %.*s", (int)length, name);
	show_aliases(session, alias, 1);
	return NULL;
}

static struct error *unalias_run(struct session *session, const struct arguments *arguments)
{
	const char *name = arguments->operands[0];
	const struct alias *alias = alias_find(session, name, strlen(name));
	if (!alias)
		return error_create(ERROR_NOT_FOUND, "no alias %s", name);
	remove_alias(session, (size_t)(alias - session->aliases));
	return NULL;
}

extern const struct command command_alias, command_unalias;

const struct command command_alias = {
	.name = "alias",
	.summary = "name a line, or list the names",
	.description =
		"Lines that begin with NAME begin with TEXT instead; what follows NAME stays. TEXT "
		"may hold pipes. Without TEXT, shows what NAME stands for; without NAME, all "
		"aliases. Those of ~/.config/btfcrash/rc are there at every prompt.",
	.operands = { { .name = "NAME = TEXT",
			.kind = OPERAND_WORD,
			.optional = true,
			.rest = true } },
	.examples = (const char *const[]){ "alias", "alias bta = bt -a",
					   "alias waiting = ps -s D | bt", NULL },
	.whole_line = true,
	.run = alias_run,
};

const struct command command_unalias = {
	.name = "unalias",
	.summary = "forget an alias",
	.description = "Forgets what `alias NAME = TEXT` said.",
	.operands = { { .name = "NAME", .kind = OPERAND_WORD } },
	.examples = (const char *const[]){ NULL },
	.run = unalias_run,
};
