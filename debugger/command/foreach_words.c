// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/foreach_words.h"

#include "debugger/command/alias.h"
#include "debugger/command/arguments.h"
#include "debugger/command/format.h"
#include <stdlib.h>
#include <string.h>

static bool begins_command(const struct session *session, const char *at)
{
	size_t length = strcspn(at, " \t");
	char *formatted = format_expand(at);
	free(formatted);
	return formatted || command_find(at, length) || alias_find(session, at, length);
}

/* The word at *at, without its quotes, which end at the next blank; *at is moved behind. */
static char *take_word(char **at)
{
	char quote = **at == '"' || **at == '\'' ? **at : 0, *word = *at + (quote != 0);
	char *end = quote ? strchr(word, quote) : NULL;
	if (!end) {
		word = *at;
		end = word + strcspn(word, " \t");
	}
	*at = end + (*end != 0);
	*end = 0;
	return word;
}

void foreach_words_deinit(struct foreach_words *words)
{
	free(words->text);
	free(words->names);
}

struct error *foreach_words_init(const struct session *session, const char *operand,
				 struct foreach_words *ret)
{
	char *at = strdup(operand);
	*ret = (struct foreach_words){
		.text = at, .names = calloc(strlen(operand) / 2 + 1, sizeof(*ret->names))
	};
	if (!at || !ret->names)
		return error_no_memory();
	for (at += strspn(at, " \t"); *at; at += strspn(at, " \t")) {
		if (begins_command(session, at)) {
			ret->command = operand + (at - ret->text);
			return NULL;
		}
		if (*at == '-')
			return error_create(ERROR_USAGE, "%.*s: options stand before the tasks",
					    (int)strcspn(at, " \t"), at);
		ret->names[ret->count++] = take_word(&at);
	}
	return NULL;
}

/* `foreach` itself, by what it takes. */
static const struct command *find_foreach(const char *line)
{
	const struct command *command = command_find(line, strcspn(line, " \t"));
	return command && command->operands[0].kind == OPERAND_EACH ? command : NULL;
}

const char *foreach_command(const struct session *session, const char *line)
{
	struct foreach_words words;
	const struct command *foreach = find_foreach(line);
	if (!foreach)
		return NULL;
	struct error *error = foreach_words_init(session, call_operands(foreach, line), &words);
	const char *command = error ? NULL : words.command;
	error_free(error);
	foreach_words_deinit(&words);
	return command && find_foreach(command) ? NULL : command;
}
