// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/alias.h"

#include "base/array.h"
#include "debugger/command/command.h"
#include <string.h>

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
	size_t count;
	const struct alias *known = aliases_known(&count);
	out_table_begin(session->out, NULL, columns, ARRAY_COUNT(columns));
	for (size_t i = 0; i < session->alias_count; i++)
		show_alias(session->out, &session->aliases[i]);
	for (size_t i = 0; i < count; i++)
		if (!alias_find_own(session, known[i].name, strlen(known[i].name)))
			show_alias(session->out, &known[i]);
	out_table_end(session->out);
}

static struct error *alias_run(struct session *session, const struct arguments *arguments)
{
	size_t length;
	if (!arguments->operand_count) {
		show_all(session);
		return NULL;
	}
	const char *name = arguments->operands[0], *text = alias_cut(name, &length);
	TRY(alias_check_name(name, length));
	if (*text)
		return alias_set(session, name, length, text);
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
	const struct alias *alias = alias_find_own(session, name, strlen(name));
	if (!alias && alias_find(session, name, strlen(name)))
		return error_create(ERROR_USAGE,
				    "%s comes with btfcrash; `alias %s = TEXT` gives it another "
				    "meaning",
				    name, name);
	if (!alias)
		return error_create(ERROR_NOT_FOUND, "no alias %s", name);
	alias_remove(session, alias);
	return NULL;
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
