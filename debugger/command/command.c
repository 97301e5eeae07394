// SPDX-License-Identifier: GPL-3.0-or-later
/* What is made of the entries of the command table: names, usage, options. */
#include "debugger/command/command.h"

#include "debugger/command/crash_words.h"
#include "debugger/declare/nearest.h"
#include "debugger/tables/table.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *command_other_names(const struct command *command)
{
	return command->table ? command->table->alias : command->alias;
}

const char *command_summary(const struct command *command)
{
	return command->table ? command->table->summary : command->summary;
}

const char *command_description(const struct command *command)
{
	return command->table ? command->table->description : command->description;
}

const char *const *command_examples(const struct command *command)
{
	return command->table ? command->table->examples : command->examples;
}

static bool is_word(const char *word, const char *name, size_t length)
{
	return *word == *name && !strncmp(word, name, length) &&
	       (!word[length] || word[length] == ' ');
}

const struct command *command_find(const char *name, size_t length)
{
	for (size_t i = 0; commands[i] && length; i++) {
		const struct command *command = commands[i];
		if (is_word(command->name, name, length))
			return command;
		for (const char *alias = command_other_names(command); alias;
		     alias = strchr(alias, ' ')) {
			alias += *alias == ' ';
			if (is_word(alias, name, length))
				return command;
		}
	}
	return NULL;
}

struct error *command_unknown(const char *name, size_t length)
{
	struct nearest nearest;
	char hint[128];
	/* "*task_struct": crash's * needs no blank. */
	const char *crash = crash_command_hint(name, *name == '*' ? 1 : length);
	if (crash)
		return error_create(ERROR_USAGE, "no command \"%.*s\"; %s", (int)length, name,
				    crash);
	nearest_init(&nearest, name, length);
	for (size_t i = 0; commands[i]; i++)
		nearest_offer(&nearest, commands[i]->name);
	nearest_hint(&nearest, hint, sizeof(hint));
	return error_create(ERROR_USAGE, "no command \"%.*s\"%s", (int)length, name,
			    *hint ? hint : "; `help` lists them");
}

/* --- usage ------------------------------------------------------------------------- */

size_t command_option_count(const struct command *command)
{
	size_t count = 0;
	while (count < OPTIONS_MAX &&
	       (command->options[count].letter || command->options[count].name))
		count++;
	return count;
}

size_t command_operand_count(const struct command *command)
{
	size_t count = 0;
	while (count < OPERANDS_MAX && command->operands[count].name)
		count++;
	return count;
}

static void usage_option(FILE *file, const struct option_spec *option)
{
	if (option->letter)
		fprintf(file, " [-%c", option->letter);
	else
		fprintf(file, " [--%s", option->name);
	fprintf(file, option->argument ? " %s]" : "]%s", option->argument ? option->argument : "");
}

bool command_takes_expression(const struct command *command)
{
	for (size_t i = 0; i < command_operand_count(command); i++)
		if (operand_is_expression(&command->operands[i]))
			return true;
	return false;
}

size_t command_usage(const struct command *command, char *buffer, size_t size)
{
	char *text = NULL;
	size_t length = 0;
	FILE *file = open_memstream(&text, &length);
	if (!file)
		return 0;
	fprintf(file, "usage: %s", command->name);
	for (size_t i = 0; i < command_option_count(command); i++)
		usage_option(file, &command->options[i]);
	for (size_t i = 0; i < command_operand_count(command); i++) {
		const struct operand_spec *operand = &command->operands[i];
		bool is_list = operand->repeated && operand->kind != OPERAND_OUTPUT;
		fprintf(file, operand->optional ? " [%s%s]" : " %s%s", operand->name,
			is_list ? "..." : "");
	}
	fclose(file);
	snprintf(buffer, size, "%s", text);
	free(text);
	return length;
}

struct error *command_usage_error(const struct command *command, const char *format, ...)
{
	char what[256], usage[512];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	command_usage(command, usage, sizeof(usage));
	return error_create(ERROR_USAGE, "%s; %s", what, usage);
}

/* --name, --name=VALUE; -16 too, as crash's rd has it. */
static bool is_long_form(const struct option_spec *option, const char *word)
{
	size_t dashes = strspn(word, "-"), length = strlen(option->name);
	if (dashes != 2 && !(dashes == 1 && isdigit((unsigned char)*option->name)))
		return false;
	const char *rest = word + dashes + length;
	return !strncmp(word + dashes, option->name, length) &&
	       (!*rest || (option->argument && *rest == '='));
}

const struct option_spec *command_find_option(const struct command *command, const char *word)
{
	for (size_t i = 0; i < command_option_count(command); i++) {
		const struct option_spec *option = &command->options[i];
		if (option->letter && word[0] == '-' && word[1] == option->letter &&
		    (!word[2] || option->argument))
			return option;
		if (option->name && is_long_form(option, word))
			return option;
	}
	return NULL;
}
