// SPDX-License-Identifier: GPL-3.0-or-later
/* The program's own words: no dump is needed to find them. */
#include "debugger/completion/complete_private.h"

#include "debugger/command/alias.h"
#include "debugger/command/foreach_words.h"
#include "debugger/command/line.h"
#include "debugger/command/topics.h"
#include "debugger/tables/table.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* --- words --------------------------------------------------------------------------- */

bool complete_full(const struct completing *completing)
{
	return completing->ret->count >= COMPLETE_WORDS_MAX;
}

void complete_offer(struct completing *completing, const char *word)
{
	if (!strncmp(word, completing->prefix, strlen(completing->prefix)) &&
	    !complete_full(completing))
		completions_add(completing->ret, word);
}

void complete_begin(struct completing *completing, size_t start)
{
	completing->prefix = completing->text + start;
	completing->ret->start = start;
}

/* --- kinds of operands ------------------------------------------------------------------ */

static void offer_commands(struct completing *completing, bool with_aliases)
{
	const struct session *session = completing->session;
	for (size_t i = 0; commands[i]; i++)
		complete_offer(completing, commands[i]->name);
	for (size_t i = 0; i < session->alias_count && with_aliases; i++)
		complete_offer(completing, session->aliases[i].name);
	size_t count;
	const struct alias *known = aliases_known(&count);
	for (size_t i = 0; i < count && with_aliases; i++)
		complete_offer(completing, known[i].name);
}

static void offer_topics(struct completing *completing)
{
	for (size_t i = 0; i < topic_count; i++)
		complete_offer(completing, topics[i].name);
}

/* What may stand behind `foreach`: which tasks, or what is done for each. */
static void offer_each(struct completing *completing)
{
	static const char *const kinds[] = { "user", "kernel", "RU", "IN", "UN", "ST",
					     "TR",   "ZO",     "DE", "PA", "ID" };
	for (size_t i = 0; commands[i]; i++)
		if (commands[i]->per_task)
			complete_offer(completing, commands[i]->name);
	for (size_t i = 0; i < ARRAY_COUNT(kinds) && *completing->prefix; i++)
		complete_offer(completing, kinds[i]);
}

/* --- C -------------------------------------------------------------------------------------- */

static void offer_in_expression(struct completing *completing, size_t start)
{
	static const char *const words[] = { "container_of", "current", "enum",
					     "offsetof",     "per_cpu", "sizeof",
					     "struct",	     "typeof",	"union" };
	size_t word = complete_word(NAMES_EXPRESSION, completing->text, start);
	complete_begin(completing, word);
	if (complete_place(completing->text, start, word) != PLACE_FREE)
		return;
	for (size_t i = 0; i < ARRAY_COUNT(words); i++)
		complete_offer(completing, words[i]);
}

void complete_own_expression(struct session *session, const char *text, size_t start,
			     struct completions *ret)
{
	struct completing completing = { .session = session, .text = text, .ret = ret };
	offer_in_expression(&completing, start);
	completions_sort(ret);
}

/* --- SQL ------------------------------------------------------------------------------------ */

static bool is_word(char byte)
{
	return isalnum((unsigned char)byte) || byte == '_';
}

/* Whether the text has this word. */
static bool has_word(const char *text, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = text; (at = strstr(at, word)); at++)
		if ((at == text || !is_word(at[-1])) && !is_word(at[length]))
			return true;
	return false;
}

/* Tables, and the columns of those that are named already, of all while none is. */
static void offer_sql(struct completing *completing, size_t start)
{
	const char *statement = completing->text + start;
	size_t word = strlen(completing->text);
	bool is_any = true;
	while (word > start && is_word(completing->text[word - 1]))
		word--;
	complete_begin(completing, word);
	bool is_column = word > start && completing->text[word - 1] == '.';
	for (size_t i = 0; commands[i]; i++)
		is_any &= !commands[i]->table || !has_word(statement, commands[i]->table->name);
	for (size_t i = 0; commands[i]; i++) {
		const struct table *table = commands[i]->table;
		if (!table)
			continue;
		if (!is_column)
			complete_offer(completing, table->name);
		for (size_t k = 0; k < table->column_count; k++)
			if (is_any || has_word(statement, table->name))
				complete_offer(completing, table->columns[k].name);
	}
}

static struct complete_wanted wanted_names(enum operand_kind kind, size_t start)
{
	static const enum helper_names names[] = { [OPERAND_EXPRESSION] = NAMES_EXPRESSION,
						   [OPERAND_TYPE] = NAMES_TYPES,
						   [OPERAND_SYMBOL] = NAMES_EXPRESSION,
						   [OPERAND_ADDRESS] = NAMES_EXPRESSION,
						   [OPERAND_TASK] = NAMES_PIDS,
						   [OPERAND_TASK_NAME] = NAMES_TASKS,
						   [OPERAND_CPU] = NAMES_CPUS,
						   [OPERAND_EACH] = NAMES_TASKS,
						   [OPERAND_MODULE] = NAMES_MODULES,
						   [OPERAND_WORD] = NAMES_NONE };
	bool is_task = kind == OPERAND_TASK || kind == OPERAND_TASK_NAME;
	return (struct complete_wanted){ names[kind], is_task, start };
}

static struct complete_wanted offer_kind(struct completing *completing, enum operand_kind kind,
					 size_t start)
{
	struct complete_wanted wanted = wanted_names(kind, start);
	complete_begin(completing, complete_word(wanted.names, completing->text, start));
	switch (kind) {
	case OPERAND_COMMAND:
		offer_commands(completing, false);
		offer_topics(completing);
		break;
	case OPERAND_EACH:
		offer_each(completing);
		if (!*completing->prefix)
			wanted.names = NAMES_NONE;
		break;
	case OPERAND_SQL:
		offer_sql(completing, start);
		break;
	case OPERAND_EXPRESSION:
	case OPERAND_SYMBOL:
	case OPERAND_ADDRESS:
		offer_in_expression(completing, start);
		break;
	case OPERAND_FILE:
	case OPERAND_OUTPUT:
	case OPERAND_SCRIPT:
		completing->ret->are_files = true;
		break;
	default:
		break;
	}
	return wanted;
}

/* --- the command ---------------------------------------------------------------------------- */

static void offer_options(struct completing *completing, const struct command *command)
{
	char word[64];
	for (size_t i = 0; i < command_option_count(command); i++) {
		const struct option_spec *option = &command->options[i];
		if (option->name)
			snprintf(word, sizeof(word), "--%s", option->name);
		else
			snprintf(word, sizeof(word), "-%c", option->letter);
		complete_offer(completing, word);
	}
	complete_offer(completing, "--columns");
	complete_offer(completing, "--csv");
	complete_offer(completing, "--json");
}

/* The option whose argument is the next word; NULL: none. */
static const struct option_spec *awaits_argument(const struct command *command, const char *text,
						 size_t length)
{
	char word[128];
	if (length >= sizeof(word) || *text != '-')
		return NULL;
	memcpy(word, text, length);
	word[length] = 0;
	const struct option_spec *option = command_find_option(command, word);
	bool joined = option && (strchr(word, '=') ||
				 (option->letter && word[1] == option->letter && word[2]));
	return option && option->argument && !joined ? option : NULL;
}

/* Walks the whole words before the cursor, to know what the one at the cursor is. */
static struct complete_wanted complete_operands(struct completing *completing,
						const struct command *command, size_t at)
{
	const char *text = completing->text;
	const struct option_spec *awaiting = NULL;
	size_t index = 0, specs = command_operand_count(command);
	for (;;) {
		at += strspn(text + at, " \t");
		size_t length = strcspn(text + at, " \t");
		bool is_rest = index < specs && operand_is_expression(&command->operands[index]) &&
			       (text[at] != '-' || text[at + 1] == '>');
		if (is_rest || !text[at + length])
			break;
		if (awaiting)
			awaiting = NULL;
		else if (text[at] == '-')
			awaiting = awaits_argument(command, text + at, length);
		else
			index++;
		at += length;
	}
	complete_begin(completing, at);
	if (awaiting)
		return offer_kind(completing, awaiting->argument_kind, at);
	if (text[at] == '-')
		offer_options(completing, command);
	else if (index < specs)
		return offer_kind(completing, command->operands[index].kind, at);
	else if (specs && (command->operands[specs - 1].repeated ||
			   command->operands[specs - 1].kind == OPERAND_EACH))
		return offer_kind(completing, command->operands[specs - 1].kind, at);
	return (struct complete_wanted){ .names = NAMES_NONE };
}

static const struct command *find_command(const struct session *session, const char *word,
					  size_t length)
{
	const char *slash = memchr(word, '/', length); /* gdb's p/x */
	if (slash)
		length = (size_t)(slash - word);
	const struct alias *alias = alias_find(session, word, length);
	return alias ? command_find(alias->text, strcspn(alias->text, " \t"))
		     : command_find(word, length);
}

void complete_own(struct session *session, const char *text, struct completions *ret,
		  struct complete_wanted *ret_wanted)
{
	struct completing completing = { .session = session, .text = text, .ret = ret };
	bool to_file;
	size_t start = line_last_part(text, &to_file);
	start += strspn(text + start, " \t");
	const char *inner = foreach_command(session, text + start);
	if (inner && inner[strcspn(inner, " \t")])
		start = (size_t)(inner - text);
	size_t length = strcspn(text + start, " \t");
	*ret_wanted = (struct complete_wanted){ .names = NAMES_NONE };
	complete_begin(&completing, start);
	if (to_file || text[start] == '!') {
		ret->are_files = true;
	} else if (!text[start + length]) {
		offer_commands(&completing, true);
	} else {
		const struct command *command = find_command(session, text + start, length);
		if (command)
			*ret_wanted = complete_operands(&completing, command, start + length);
		else
			ret->are_files = true;
	}
	if (ret->are_files) {
		const char *blank = strrchr(text, ' ');
		ret->start = blank ? (size_t)(blank + 1 - text) : 0;
	}
	completions_sort(ret);
}
