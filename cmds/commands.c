// SPDX-License-Identifier: GPL-3.0-or-later
/* The command table, and how a line becomes a call: words, options, operands, output, error. */
#include "cmds/command.h"

#include "base/array.h"
#include "base/interrupt.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct command command_bt, command_foreach, command_globals, command_help, command_log,
	command_mod, command_print, command_ps, command_quit, command_rd, command_struct,
	command_sym, command_sys, command_types, command_whatis;

const struct command *const commands[] = {
	&command_bt,   &command_foreach, &command_globals, &command_help,
	&command_log,  &command_mod,	 &command_print,   &command_ps,
	&command_quit, &command_rd,	 &command_struct,  &command_sym,
	&command_sys,  &command_types,	 &command_whatis,  NULL,
};

#define WORDS_MAX 256

static bool is_word(const char *word, const char *name, size_t length)
{
	return strcspn(word, " ") == length && !strncmp(word, name, length);
}

const struct command *command_find(const char *name, size_t length)
{
	for (size_t i = 0; commands[i] && length; i++) {
		const struct command *command = commands[i];
		if (is_word(command->name, name, length))
			return command;
		for (const char *alias = command->alias; alias; alias = strchr(alias, ' ')) {
			alias += *alias == ' ';
			if (is_word(alias, name, length))
				return command;
		}
	}
	return NULL;
}

/* --- usage ------------------------------------------------------------------------- */

static size_t option_count(const struct command *command)
{
	size_t count = 0;
	while (count < OPTIONS_MAX &&
	       (command->options[count].letter || command->options[count].name))
		count++;
	return count;
}

static size_t operand_count(const struct command *command)
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

size_t command_usage(const struct command *command, char *buffer, size_t size)
{
	char *text = NULL;
	size_t length = 0;
	FILE *file = open_memstream(&text, &length);
	if (!file)
		return 0;
	fprintf(file, "usage: %s", command->name);
	for (size_t i = 0; i < option_count(command); i++)
		usage_option(file, &command->options[i]);
	for (size_t i = 0; i < operand_count(command); i++) {
		const struct operand_spec *operand = &command->operands[i];
		fprintf(file, operand->optional ? " [%s%s]" : " %s%s", operand->name,
			operand->repeated ? "..." : "");
	}
	fclose(file);
	snprintf(buffer, size, "%s", text);
	free(text);
	return length;
}

static struct error *usage_error(const struct command *command, const char *format, ...)
	PRINTF_LIKE(2, 3);
static struct error *usage_error(const struct command *command, const char *format, ...)
{
	char what[256], usage[512];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	command_usage(command, usage, sizeof(usage));
	return error_create(ERROR_USAGE, "%s; %s", what, usage);
}

/* --- words ---------------------------------------------------------------------------- */

struct words {
	char *storage; /* the line, cut up */
	const char *words[WORDS_MAX];
	size_t count;
};

/*
 * Takes the next word from *at into *to (which never gets ahead of *at); quotes group, a backslash
 * outside single quotes escapes. False at the end of the line.
 */
static bool next_word(const char **at, char **to, const char **ret)
{
	const char *from = *at;
	while (isspace((unsigned char)*from))
		from++;
	if (!*from)
		return false;
	*ret = *to;
	char quote = 0;
	for (; *from && (quote || !isspace((unsigned char)*from)); from++) {
		if (quote ? *from == quote : *from == '\'' || *from == '"')
			quote = quote ? 0 : *from;
		else if (*from == '\\' && quote != '\'' && from[1])
			*(*to)++ = *++from;
		else
			*(*to)++ = *from;
	}
	if (*from)
		from++;
	*(*to)++ = 0;
	*at = from;
	return true;
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

static const struct option_spec *find_option(const struct command *command, const char *word)
{
	for (size_t i = 0; i < option_count(command); i++) {
		const struct option_spec *option = &command->options[i];
		if (option->letter && word[0] == '-' && word[1] == option->letter &&
		    (!word[2] || option->argument))
			return option;
		if (option->name && is_long_form(option, word))
			return option;
	}
	return NULL;
}

/* The argument within the option's own word: -cCPU, --name=VALUE; NULL: the next word has it. */
static const char *joined_argument(const struct option_spec *option, const char *word)
{
	if (option->letter && word[1] == option->letter)
		return word[2] ? word + 2 : NULL;
	const char *equals = strchr(word, '=');
	return equals ? equals + 1 : NULL;
}

struct parser {
	const struct command *command;
	const char *at; /* what is left of the line */
	char *to;	/* free storage */
	struct arguments *arguments;
	const char **operands;
};

/*
 * Options, up to the first word that is none. `-1` of an expression is no option; an unknown
 * `-x` is an error where the command takes no free text.
 */
static struct error *parse_options(struct parser *parser, bool takes_rest)
{
	const struct command *command = parser->command;
	for (;;) {
		const char *before = parser->at;
		char *storage = parser->to;
		const char *word;
		if (!next_word(&parser->at, &parser->to, &word))
			return NULL;
		if (!strcmp(word, "--"))
			return NULL;
		const struct option_spec *option =
			word[0] == '-' && word[1] ? find_option(command, word) : NULL;
		if (!option) {
			if (word[0] == '-' && isalpha((unsigned char)word[1]) && !takes_rest)
				return usage_error(command, "no option %s", word);
			parser->at = before;
			parser->to = storage;
			return NULL;
		}
		const char *argument = "";
		if (option->argument) {
			argument = joined_argument(option, word);
			if (!argument && !next_word(&parser->at, &parser->to, &argument))
				return usage_error(command, "%s needs %s", word, option->argument);
		}
		parser->arguments->options[option - command->options] = argument;
	}
}

static struct error *add_operand(struct parser *parser, const char *word)
{
	if (parser->arguments->operand_count == WORDS_MAX)
		return usage_error(parser->command, "more than %d operands", WORDS_MAX);
	parser->operands[parser->arguments->operand_count++] = word;
	return NULL;
}

static struct error *parse_operands(struct parser *parser)
{
	const struct command *command = parser->command;
	size_t specs = operand_count(command);
	struct arguments *arguments = parser->arguments;
	const char *word;
	for (;;) {
		size_t index = arguments->operand_count;
		while (isspace((unsigned char)*parser->at))
			parser->at++;
		if (!*parser->at)
			break;
		if (index < specs && command->operands[index].rest) {
			struct error *error = add_operand(parser, parser->at);
			if (error)
				return error;
			break;
		}
		if (index >= specs && !(specs && command->operands[specs - 1].repeated))
			return usage_error(command, "%s takes %s", command->name,
					   specs ? "fewer operands" : "no operands");
		struct error *error = parse_options(parser, false);
		if (!error && next_word(&parser->at, &parser->to, &word))
			error = add_operand(parser, word);
		if (error)
			return error;
	}
	for (size_t i = arguments->operand_count; i < specs; i++)
		if (!command->operands[i].optional)
			return usage_error(command, "%s is missing", command->operands[i].name);
	return NULL;
}

/* --- running ------------------------------------------------------------------------------- */

static struct error *check_needs(const struct command *command, struct session *session)
{
	struct error *error = NULL;
	if (command->needs & NEEDS_MEMORY)
		error = target_need_memory(session->target);
	if (!error && (command->needs & NEEDS_SYMBOLS))
		error = target_need_symbols(session->target);
	if (!error && (command->needs & NEEDS_BTF))
		error = target_need_btf(session->target);
	return error;
}

static struct error *parse_and_run(struct session *session, const char *line)
{
	while (isspace((unsigned char)*line))
		line++;
	size_t length = strcspn(line, " \t\n");
	const struct command *command = command_find(line, length);
	if (!command)
		return error_create(ERROR_USAGE, "no command \"%.*s\"; `help` lists them",
				    (int)length, line);
	size_t size = strlen(line) + 1;
	char *storage = malloc(size + 1);
	const char **operands = calloc(WORDS_MAX, sizeof(*operands));
	char *copy = strdup(line + length);
	struct error *error = NULL;
	if (!storage || !operands || !copy) {
		error = error_no_memory();
	} else {
		struct arguments arguments = { .operands = operands, .line = line };
		struct parser parser = { .command = command,
					 .at = copy,
					 .to = storage,
					 .arguments = &arguments,
					 .operands = operands };
		bool takes_rest = command->operands[0].rest;
		for (size_t end = strlen(copy); end && isspace((unsigned char)copy[end - 1]); end--)
			copy[end - 1] = 0;
		error = parse_options(&parser, takes_rest);
		if (!error)
			error = parse_operands(&parser);
		if (!error)
			error = check_needs(command, session);
		if (!error)
			error = command->run(session, &arguments);
	}
	free(copy);
	free(operands);
	free(storage);
	return error_prefix(error, "%s", command->name);
}

/* One line of JSON around what the command wrote. */
static void write_envelope(FILE *file, const char *line, const char *result,
			   const struct error *error)
{
	struct out *out = out_json_create(file);
	if (!out)
		return;
	out_object_begin(out, NULL);
	out_string(out, "command", line);
	out_bool(out, "ok", !error);
	if (error)
		out_string(out, "error", error->message);
	if (*result || !error)
		fprintf(file, ", \"result\": %s", *result ? result : "null");
	out_object_end(out);
	out_destroy(out);
	putc('\n', file);
}

static struct error *run_json(struct session *session, const char *line)
{
	char *result = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&result, &size);
	struct out *out = memory ? out_json_create(memory) : NULL;
	if (!out) {
		if (memory)
			fclose(memory);
		free(result);
		return error_no_memory();
	}
	struct out *outer = session->out;
	session->out = out;
	struct error *error = parse_and_run(session, line);
	out_finish(out);
	session->out = outer;
	out_destroy(out);
	fclose(memory);
	write_envelope(stdout, line, result ? result : "", error);
	free(result);
	return error;
}

bool command_run_line(struct session *session, const char *line)
{
	interrupt_clear();
	struct error *error;
	if (session->json) {
		error = run_json(session, line);
	} else {
		error = parse_and_run(session, line);
		out_finish(session->out);
	}
	fflush(stdout);
	if (!error)
		return true;
	if (!session->json) {
		fputs("btfcrash: ", stderr);
		out_escape(stderr, error->message, strlen(error->message));
		putc('\n', stderr);
	}
	error_free(error);
	session->failed = true;
	return false;
}
