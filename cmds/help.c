// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/command.h"

#include "base/array.h"
#include "debugger/command/alias.h"
#include "debugger/command/crash_views.h"
#include "debugger/command/topics.h"
#include "debugger/tables/table.h"
#include <stdlib.h>
#include <string.h>

#define WIDTH 78

static void list_commands(struct out *out)
{
	static const struct column columns[] = { { "name", "COMMAND", -10 },
						 { "summary", "WHAT IT DOES", -1 } };
	out_table_begin(out, NULL, columns, 2);
	for (size_t i = 0; commands[i]; i++) {
		out_row_begin(out);
		out_string(out, "name", commands[i]->name);
		out_string(out, "summary", command_summary(commands[i]));
		out_row_end(out);
	}
	out_table_end(out);
	out_text(out, "\n`help COMMAND` says more; so does `help` with");
	for (size_t i = 0; i < topic_count; i++)
		out_text(out, i ? ", %s" : " %s", topics[i].name);
	out_text(out, ".\n");
}

static void list_examples(struct out *out, const char *const *examples)
{
	if (examples && *examples) {
		out_style(out, OUT_HEADING);
		out_text(out, "\nExamples:\n");
		out_style(out, OUT_PLAIN);
	}
	out_array_begin(out, "examples");
	for (size_t i = 0; examples && examples[i]; i++) {
		out_text(out, "  ");
		out_string(out, NULL, examples[i]);
		out_text(out, "\n");
	}
	out_array_end(out);
}

static void list_words(struct out *out, const struct topic *topic)
{
	static const struct column columns[] = { { "name", "CRASH", -8 },
						 { "instead", "HERE", -1 } };
	out_text(out, "\n");
	out_table_begin(out, "words", columns, 2);
	for (size_t i = 0; topic->words[i].name; i++) {
		out_row_begin(out);
		out_string(out, "name", topic->words[i].name);
		out_string(out, "instead", topic->words[i].hint);
		out_row_end(out);
	}
	out_table_end(out);
}

/* Its text is laid out by hand. */
static void describe_topic(struct out *out, const struct topic *topic)
{
	out_object_begin(out, NULL);
	out_string(out, "name", topic->name);
	out_text(out, " - ");
	out_string(out, "summary", topic->summary);
	out_text(out, "\n\n");
	for (const char *line = topic->text; *line; line += strcspn(line, "\n") + 1)
		out_text(out, "%.*s\n", (int)strcspn(line, "\n"), line);
	out_string_as(out, "description", topic->text, "");
	if (topic->words)
		list_words(out, topic);
	list_examples(out, topic->examples);
	out_object_end(out);
}

static void describe_option(struct out *out, const struct option_spec *option)
{
	char name[64];
	if (option->letter)
		snprintf(name, sizeof(name), "-%c%s%s", option->letter, option->argument ? " " : "",
			 option->argument ? option->argument : "");
	else
		snprintf(name, sizeof(name), "--%s%s%s", option->name, option->argument ? "=" : "",
			 option->argument ? option->argument : "");
	out_object_begin(out, NULL);
	out_text(out, "  ");
	out_pad(out, -16);
	out_string(out, "option", name);
	out_text(out, " ");
	out_string(out, "help", option->help);
	out_text(out, "\n");
	out_object_end(out);
}

/* Text in paragraphs, which blank lines end, filled to the width of a narrow terminal. */
static void fill(struct out *out, const char *text)
{
	int column = 0;
	while (*text) {
		size_t blank = strspn(text, " \n");
		if (blank >= 2 && text[0] == '\n' && text[1] == '\n' && column) {
			out_text(out, "\n\n");
			column = 0;
		}
		text += blank;
		size_t word = strcspn(text, " \n");
		if (column && column + 1 + (int)word > WIDTH) {
			out_text(out, "\n");
			column = 0;
		}
		if (word)
			out_text(out, column ? " %.*s" : "%.*s", (int)word, text);
		column += (int)word + (column != 0);
		text += word;
	}
	out_text(out, "\n");
}

static void list_columns(struct out *out, const struct table *table)
{
	static const char *const kinds[] = {
		[COLUMN_INTEGER] = "integer", [COLUMN_WIDE] = "integer",
		[COLUMN_BYTES] = "bytes",     [COLUMN_DURATION] = "duration",
		[COLUMN_ADDRESS] = "address", [COLUMN_TEXT] = "text"
	};
	static const struct column columns[] = { { "name", "COLUMN", -12 },
						 { "kind", "KIND", -8 },
						 { "is_default", "", 1 },
						 { "help", "WHAT IT IS", -1 } };
	out_text(out, "\nColumns, a star before those that are shown unless -o names others:\n\n");
	out_table_begin(out, "columns", columns, ARRAY_COUNT(columns));
	for (size_t i = 0; i < table->column_count; i++) {
		const struct table_column *column = &table->columns[i];
		out_row_begin(out);
		out_string(out, "name", column->name);
		out_string(out, "kind", kinds[column->kind]);
		out_bool_as(out, "is_default", column->width, column->width ? "*" : " ");
		out_string(out, "help", column->help);
		out_row_end(out);
	}
	out_table_end(out);
}

/* What crash's options of this command show here. */
static void list_views(struct out *out, const struct command *command)
{
	bool is_first = true;
	for (const struct crash_view *view = crash_views; view->command; view++) {
		if (strcmp(view->command, command->name) != 0)
			continue;
		if (is_first)
			out_text(out, "\nAs in crash:\n");
		is_first = false;
		out_text(out, "  %s %s%s%s\n", command->name, view->option,
			 view->operand ? " " : "", view->operand ? view->operand : "");
	}
}

static void describe(struct out *out, const struct command *command)
{
	char usage[512];
	command_usage(command, usage, sizeof(usage));
	out_object_begin(out, NULL);
	out_string(out, "name", command->name);
	out_text(out, " - ");
	out_string(out, "summary", command_summary(command));
	out_text(out, "\n\n");
	out_string(out, "usage", usage);
	out_text(out, "\n");
	out_array_begin(out, "options");
	if (command->options[0].letter || command->options[0].name)
		out_text(out, "\n");
	for (size_t i = 0; i < OPTIONS_MAX; i++)
		if (command->options[i].letter || command->options[i].name)
			describe_option(out, &command->options[i]);
	out_array_end(out);
	out_text(out, "\n");
	fill(out, command_description(command));
	out_string_as(out, "description", command_description(command), "");
	if (command->table)
		list_columns(out, command->table);
	if (command_other_names(command))
		out_text(out, "\nAlso: %s\n", command_other_names(command));
	list_views(out, command);
	list_examples(out, command_examples(command));
	out_object_end(out);
}

/* What the name stands for, if it is an alias. NULL: it is no command at all. */
static const struct command *find(const struct session *session, const char *name)
{
	const struct command *command = command_find(name, strlen(name));
	char *line = command ? NULL : alias_expand(session, name);
	if (line)
		command = command_find(line, strcspn(line, " \t"));
	free(line);
	return command;
}

static struct error *run(struct session *session, const struct arguments *arguments)
{
	if (!arguments->operand_count) {
		list_commands(session->out);
		return NULL;
	}
	const char *name = arguments->operands[0];
	const struct topic *topic = topic_find(name);
	if (topic) {
		describe_topic(session->out, topic);
		return NULL;
	}
	const struct command *command = find(session, name);
	if (!command)
		return command_unknown(name, strlen(name));
	describe(session->out, command);
	return NULL;
}

extern const struct command command_help;
const struct command command_help = {
	.name = "help",
	.alias = "?",
	.summary = "list the commands, or describe one",
	.description =
		"Without an operand, lists the commands. With the name of one, shows its usage,\n"
		"options and examples. Besides commands there are topics: crash, "
		"expressions, output, piping, rc.",
	.operands = { { .name = "COMMAND", .kind = OPERAND_COMMAND, .optional = true } },
	.examples = (const char *const[]){ "help", "help print", "help piping", NULL },
	.run = run,
};
