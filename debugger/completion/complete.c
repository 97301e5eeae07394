// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/completion/complete_private.h"

#include "base/array.h"
#include "base/ascii.h"
#include "debugger/command/alias.h"
#include "debugger/command/foreach_words.h"
#include "debugger/command/line.h"
#include "debugger/command/topics.h"
#include "debugger/kernel/task.h"
#include "debugger/tables/table.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_SHOWN_MAX 5000

/* --- words --------------------------------------------------------------------------- */

bool complete_full(const struct completing *completing)
{
	return completing->ret->count >= WORDS_SHOWN_MAX;
}

/*
 * Names in a dump are an attacker's: "a| id;#" would be run, and a control character would reach
 * the terminal. So they are held to the alphabet of their kind, which has nothing that means
 * anything to the line; and none begins like an option.
 */
static bool is_safe(const char *word, enum word_kind kind)
{
	static const char *const more[] = { [WORD_NAME] = "_",
					    [WORD_SYMBOL] = "_.$",
					    [WORD_MODULE] = "_-",
					    [WORD_TASK] = "_.-/:+@" };
	if (kind == WORD_OWN)
		return true;
	if (!*word || *word == '-')
		return false;
	for (const char *at = word; *at; at++)
		if (!ascii_is_alnum(*at) && !strchr(more[kind], *at))
			return false;
	return true;
}

void complete_offer(struct completing *completing, const char *word, enum word_kind kind)
{
	if (!strncmp(word, completing->prefix, strlen(completing->prefix)) &&
	    !complete_full(completing) && is_safe(word, kind))
		completions_add(completing->ret, word);
}

void complete_begin(struct completing *completing, size_t start)
{
	completing->prefix = completing->text + start;
	completing->ret->start = start;
}

static int compare_words(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_words(struct completions *found)
{
	size_t kept = 0;
	array_sort(found->words, found->count, sizeof(*found->words), compare_words);
	for (size_t i = 0; i < found->count; i++) {
		if (kept && !strcmp(found->words[kept - 1], found->words[i]))
			free(found->words[i]);
		else
			found->words[kept++] = found->words[i];
	}
	found->count = kept;
}

/* --- kinds of operands ------------------------------------------------------------------ */

static void offer_commands(struct completing *completing, bool with_aliases)
{
	const struct session *session = completing->session;
	for (size_t i = 0; commands[i]; i++)
		complete_offer(completing, commands[i]->name, WORD_OWN);
	for (size_t i = 0; i < session->alias_count && with_aliases; i++)
		complete_offer(completing, session->aliases[i].name, WORD_OWN);
	size_t count;
	const struct alias *known = aliases_known(&count);
	for (size_t i = 0; i < count && with_aliases; i++)
		complete_offer(completing, known[i].name, WORD_OWN);
}

static void offer_topics(struct completing *completing)
{
	for (size_t i = 0; i < topic_count; i++)
		complete_offer(completing, topics[i].name, WORD_OWN);
}

static void offer_modules(struct completing *completing)
{
	const struct module *modules;
	size_t count = target_modules(completing->session->target, &modules);
	for (size_t i = 0; i < count; i++)
		complete_offer(completing, modules[i].name, WORD_MODULE);
}

static void offer_cpus(struct completing *completing)
{
	const struct cpu *cpus;
	char number[16];
	size_t count = target_cpus(completing->session->target, &cpus);
	for (size_t i = 0; i < count; i++) {
		snprintf(number, sizeof(number), "%u", cpus[i].number);
		complete_offer(completing, number, WORD_OWN);
	}
}

static struct error *offer_task(void *context, const struct task *task)
{
	struct completing *completing = context;
	char pid[16];
	snprintf(pid, sizeof(pid), "%d", task->pid);
	if (isdigit((unsigned char)*completing->prefix) || !completing->names)
		complete_offer(completing, pid, WORD_OWN);
	else
		complete_offer(completing, task->comm, WORD_TASK);
	return interrupt_check();
}

static void offer_tasks(struct completing *completing)
{
	struct target *target = completing->session->target;
	struct error *problem = NULL;
	if (!target->memory || !target->btf)
		return;
	error_free(task_for_each(target, offer_task, completing, &problem));
	error_free(problem);
}

/* What may stand behind `foreach`: which tasks, or what is done for each. */
static void offer_each(struct completing *completing)
{
	static const char *const kinds[] = { "user", "kernel", "RU", "IN", "UN", "ST",
					     "TR",   "ZO",     "DE", "PA", "ID" };
	for (size_t i = 0; commands[i]; i++)
		if (commands[i]->per_task)
			complete_offer(completing, commands[i]->name, WORD_OWN);
	for (size_t i = 0; i < ARRAY_COUNT(kinds) && *completing->prefix; i++)
		complete_offer(completing, kinds[i], WORD_OWN);
	completing->names = *completing->prefix && !isdigit((unsigned char)*completing->prefix);
	if (*completing->prefix)
		offer_tasks(completing);
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
			complete_offer(completing, table->name, WORD_OWN);
		for (size_t k = 0; k < table->column_count; k++)
			if (is_any || has_word(statement, table->name))
				complete_offer(completing, table->columns[k].name, WORD_OWN);
	}
}

static void offer_kind(struct completing *completing, enum operand_kind kind, size_t start)
{
	complete_begin(completing, start);
	switch (kind) {
	case OPERAND_COMMAND:
		offer_commands(completing, false);
		offer_topics(completing);
		break;
	case OPERAND_EACH:
		offer_each(completing);
		break;
	case OPERAND_MODULE:
		offer_modules(completing);
		break;
	case OPERAND_CPU:
		offer_cpus(completing);
		break;
	case OPERAND_TASK:
	case OPERAND_TASK_NAME:
		completing->names = kind == OPERAND_TASK_NAME;
		offer_tasks(completing);
		if (!completing->ret->count)
			complete_expression(completing, start);
		break;
	case OPERAND_TYPE:
		complete_type_operand(completing, start);
		break;
	case OPERAND_SQL:
		offer_sql(completing, start);
		break;
	case OPERAND_EXPRESSION:
	case OPERAND_SYMBOL:
	case OPERAND_ADDRESS:
		complete_expression(completing, start);
		break;
	case OPERAND_FILE:
	case OPERAND_OUTPUT:
	case OPERAND_SCRIPT:
		completing->ret->are_files = true;
		break;
	default:
		break;
	}
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
		complete_offer(completing, word, WORD_OWN);
	}
	complete_offer(completing, "--columns", WORD_OWN);
	complete_offer(completing, "--csv", WORD_OWN);
	complete_offer(completing, "--json", WORD_OWN);
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
static void complete_operands(struct completing *completing, const struct command *command,
			      size_t at)
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
		offer_kind(completing, awaiting->argument_kind, at);
	else if (text[at] == '-')
		offer_options(completing, command);
	else if (index < specs)
		offer_kind(completing, command->operands[index].kind, at);
	else if (specs && (command->operands[specs - 1].repeated ||
			   command->operands[specs - 1].kind == OPERAND_EACH))
		offer_kind(completing, command->operands[specs - 1].kind, at);
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

void command_complete(struct session *session, const char *line, size_t point,
		      struct completions *ret)
{
	char *text = strndup(line, point);
	struct completing completing = { .session = session, .text = text, .ret = ret };
	if (!text)
		return;
	bool to_file;
	size_t start = line_last_part(text, &to_file);
	start += strspn(text + start, " \t");
	const char *inner = foreach_command(session, text + start);
	if (inner && inner[strcspn(inner, " \t")])
		start = (size_t)(inner - text);
	size_t length = strcspn(text + start, " \t");
	complete_begin(&completing, start);
	if (to_file || text[start] == '!') {
		ret->are_files = true;
	} else if (!text[start + length]) {
		offer_commands(&completing, true);
	} else {
		const struct command *command = find_command(session, text + start, length);
		if (command)
			complete_operands(&completing, command, start + length);
		else
			ret->are_files = true;
	}
	if (ret->are_files) {
		const char *blank = strrchr(text, ' ');
		ret->start = blank ? (size_t)(blank + 1 - text) : 0;
	}
	sort_words(ret);
	free(text);
}
