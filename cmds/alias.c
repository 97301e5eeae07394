// SPDX-License-Identifier: GPL-3.0-or-later
#include "cmds/alias.h"

#include "base/array.h"
#include "base/ascii.h"
#include "cmds/arguments.h"
#include "cmds/format.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define EXPANSIONS_MAX 16

extern const struct command command_alias, command_unalias;

/* Names that users of crash and gdb type by habit. The user's own aliases take precedence. */
static const struct alias known[] = {
	{ "backtrace", "bt" },	   { "dec", "set base dec" },
	{ "disassemble", "dis" },  { "eval", "print" },
	{ "hex", "set base hex" }, { "i", "info" },
	{ "inspect", "print" },	   { "man", "help" },
	{ "pd", "print -D" },	   { "px", "print -x" },
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

static const struct alias *find_own(const struct session *session, const char *name, size_t length)
{
	return find_in(session->aliases, session->alias_count, name, length);
}

const struct alias *alias_find(const struct session *session, const char *name, size_t length)
{
	const struct alias *own = find_own(session, name, length);
	return own ? own : find_in(known, ARRAY_COUNT(known), name, length);
}

static const char *skip_blanks(const char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

char *alias_expand(const struct session *session, const char *line)
{
	const struct alias *used[EXPANSIONS_MAX];
	size_t count = 0;
	line = skip_blanks(line);
	/* crash hands such lines on; here there is no other. */
	if (!strncmp(line, "gdb", 3) && isspace((unsigned char)line[3]))
		line = skip_blanks(line + 3);
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
	const struct alias *old = find_own(session, name, length);
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

static void show_alias(struct out *out, const struct alias *alias)
{
	out_row_begin(out);
	out_string(out, "name", alias->name);
	out_string(out, "text", alias->text);
	out_row_end(out);
}

static void show_all(struct session *session)
{
	out_table_begin(session->out, NULL, columns, ARRAY_COUNT(columns));
	for (size_t i = 0; i < session->alias_count; i++)
		show_alias(session->out, &session->aliases[i]);
	for (size_t i = 0; i < ARRAY_COUNT(known); i++)
		if (!find_own(session, known[i].name, strlen(known[i].name)))
			show_alias(session->out, &known[i]);
	out_table_end(session->out);
}

/* "name = text", "name text", "name". Returns the text; it is empty where there is none. */
static const char *cut_alias(const char *name, size_t *ret_length)
{
	*ret_length = strcspn(name, " \t=");
	const char *text = name + *ret_length + strspn(name + *ret_length, " \t");
	text += *text == '=';
	return text + strspn(text, " \t");
}

static struct error *check_name(const char *name, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!ascii_is_alnum(name[i]) && !strchr("_-.?", name[i]))
			return error_create(ERROR_USAGE, "\"%.*s\" cannot be a name", (int)length,
					    name);
	if (!length)
		return error_create(ERROR_USAGE, "name the alias: alias NAME = TEXT");
	return NULL;
}

static struct error *alias_run(struct session *session, const struct arguments *arguments)
{
	size_t length;
	if (!arguments->operand_count) {
		show_all(session);
		return NULL;
	}
	const char *name = arguments->operands[0], *text = cut_alias(name, &length);
	TRY(check_name(name, length));
	if (*text)
		return set_alias(session, name, length, text);
	const struct alias *alias = alias_find(session, name, length);
	if (!alias)
		return error_create(ERROR_NOT_FOUND, "no alias %.*s", (int)length, name);
	out_table_begin(session->out, NULL, columns, ARRAY_COUNT(columns));
	show_alias(session->out, alias);
	out_table_end(session->out);
	return NULL;
}

static struct error *unalias_run(struct session *session, const struct arguments *arguments)
{
	const char *name = arguments->operands[0];
	const struct alias *alias = find_own(session, name, strlen(name));
	if (!alias && alias_find(session, name, strlen(name)))
		return error_create(ERROR_USAGE,
				    "%s comes with btfcrash; `alias %s = TEXT` gives it another "
				    "meaning",
				    name, name);
	if (!alias)
		return error_create(ERROR_NOT_FOUND, "no alias %s", name);
	remove_alias(session, (size_t)(alias - session->aliases));
	return NULL;
}

void alias_learn(struct session *session, const char *line)
{
	struct call call;
	size_t length;
	char *text = alias_expand(session, line);
	struct error *error = text ? call_parse(text, &call) : error_no_memory();
	const char *name = !error && call.arguments.operand_count ? call.arguments.operands[0] : "";
	if (!error && *name && call.command == &command_unalias) {
		const struct alias *alias = find_own(session, name, strlen(name));
		if (alias)
			remove_alias(session, (size_t)(alias - session->aliases));
	} else if (!error && *name && call.command == &command_alias) {
		const char *meaning = cut_alias(name, &length);
		error = check_name(name, length);
		if (!error && *meaning)
			error = set_alias(session, name, length, meaning);
	}
	if (text)
		call_deinit(&call);
	error_free(error);
	free(text);
}

const struct command command_alias = {
	.name = "alias",
	.summary = "name a line, or list the names",
	.description =
		"Lines that begin with NAME begin with TEXT instead; what follows NAME stays. TEXT "
		"may hold pipes. Without TEXT, shows what NAME stands for; without NAME, all "
		"aliases. Those of ~/.config/btfcrash/rc are there at every prompt. Some words of "
		"crash and gdb are aliases from the start; gdb's formats (p/x EXPRESSION, x/4gx "
		"ADDRESS, x/s, x/i) are understood too.",
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
