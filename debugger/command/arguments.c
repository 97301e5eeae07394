// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/arguments.h"

#include "base/ascii.h"
#include "base/digits.h"
#include "debugger/command/crash_views.h"
#include "debugger/command/crash_words.h"
#include "debugger/target/object.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Where the bracket that opens at `from` is closed; NULL: nowhere. */
static const char *closing_bracket(const char *from)
{
	size_t depth = 0;
	for (; *from; from++) {
		if (strchr("([{", *from))
			depth++;
		else if (strchr(")]}", *from) && --depth == 0)
			return from;
	}
	return NULL;
}

/*
 * Takes the next word from *at into *to (which never gets ahead of *at); quotes and brackets group
 * (an address may have a cast), a backslash outside single quotes escapes. False at the end of the
 * line.
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
	const char *end = from; /* of the brackets; NULL: they have none */
	for (; *from; from++) {
		bool is_grouped = quote || (end && from < end);
		if (!is_grouped && isspace((unsigned char)*from))
			break;
		if (!is_grouped && end && strchr("([{", *from))
			end = closing_bracket(from);
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
	struct call *call;
	struct arguments *arguments;
};

/* An option that all commands have; false: `word` is none. */
static struct error *parse_output_option(struct parser *parser, const char *word, bool *ret)
{
	struct call *call = parser->call;
	*ret = true;
	if (!strcmp(word, "--json")) {
		call->json = true;
	} else if (!strcmp(word, "--csv")) {
		call->csv = true;
	} else if (!strncmp(word, "--columns", 9) && (!word[9] || word[9] == '=')) {
		call->columns = word + 10;
		if (!word[9] && !next_word(&parser->at, &parser->to, &call->columns))
			return command_usage_error(parser->command, "%s needs a list", word);
	} else {
		*ret = false;
	}
	return NULL;
}

static struct error *no_option(const struct command *command, const char *word)
{
	const char *hint = crash_option_hint(command->name, word);
	return hint ? error_create(ERROR_USAGE, "no option %s; %s", word, hint)
		    : command_usage_error(command, "no option %s", word);
}

/* "-rx": letters of options that take no argument; false: it is something else. */
static bool take_letters(const struct parser *parser, const char *word)
{
	const struct command *command = parser->command;
	size_t found[OPTIONS_MAX], count = 0;
	if (*word != '-' || !word[1])
		return false;
	for (const char *letter = word + 1; *letter; letter++) {
		const char name[] = { '-', *letter, 0 };
		const struct option_spec *option = command_find_option(command, name);
		if (!option || !option->letter || option->argument || count == OPTIONS_MAX)
			return false;
		found[count++] = (size_t)(option - command->options);
	}
	while (count)
		parser->arguments->options[found[--count]] = "";
	return true;
}

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
			word[0] == '-' && word[1] ? command_find_option(command, word) : NULL;
		/* Where C's own minus may stand, letters have to be apart. */
		bool is_done = !option && !takes_rest && take_letters(parser, word);
		if (!option && !is_done)
			TRY(parse_output_option(parser, word, &is_done));
		if (is_done)
			continue;
		if (!option) {
			size_t dashes = strspn(word, "-");
			if (dashes && dashes < 3 && ascii_is_alpha(word[dashes]) && !takes_rest)
				return no_option(command, word);
			parser->at = before;
			parser->to = storage;
			return NULL;
		}
		const char *argument = "";
		if (option->argument) {
			argument = joined_argument(option, word);
			if (!argument && !next_word(&parser->at, &parser->to, &argument))
				return command_usage_error(command, "%s needs %s", word,
							   option->argument);
		}
		parser->arguments->options[option - command->options] = argument;
	}
}

static struct error *add_operand(struct parser *parser, const char *word)
{
	if (parser->arguments->operand_count == WORDS_MAX)
		return command_usage_error(parser->command, "more than %d operands", WORDS_MAX);
	parser->call->operands[parser->arguments->operand_count++] = word;
	return NULL;
}

/* --json and --csv behind an expression, where C has no use for them. */
static void take_last_options(struct parser *parser)
{
	const struct {
		const char *word;
		bool *option;
	} options[] = { { "--json", &parser->call->json }, { "--csv", &parser->call->csv } };
	char *text = parser->call->text + (parser->at - parser->call->text);
	enum operand_kind kind = parser->command->operands[0].kind;
	bool is_free = kind == OPERAND_EXPRESSION || kind == OPERAND_SQL;
	for (size_t i = 0; i < 2 && is_free; i++) {
		size_t size = strlen(text), length = strlen(options[i].word);
		if (size <= length || strcmp(text + size - length, options[i].word) ||
		    !isspace((unsigned char)text[size - length - 1]))
			continue;
		*options[i].option = true;
		for (size -= length; size && isspace((unsigned char)text[size - 1]);)
			text[--size] = 0;
	}
}

static struct error *parse_operands(struct parser *parser)
{
	const struct command *command = parser->command;
	size_t specs = command_operand_count(command);
	struct arguments *arguments = parser->arguments;
	const char *word;
	for (;;) {
		size_t index = arguments->operand_count;
		while (isspace((unsigned char)*parser->at))
			parser->at++;
		if (!*parser->at)
			break;
		if (index < specs && command->operands[index].rest) {
			take_last_options(parser);
			TRY(add_operand(parser, parser->at));
			break;
		}
		TRY(parse_options(parser, false));
		if (!next_word(&parser->at, &parser->to, &word))
			break;
		const char *hint = crash_operand_hint(command->name, word);
		if (hint)
			return error_create(ERROR_USAGE, "there is no `%s %s`; %s", command->name,
					    word, hint);
		if (index >= specs && !(specs && command->operands[specs - 1].repeated))
			return command_usage_error(command, "%s takes %s", command->name,
						   specs ? "fewer operands" : "no operands");
		TRY(add_operand(parser, word));
	}
	for (size_t i = arguments->operand_count; i < specs; i++)
		if (!command->operands[i].optional)
			return command_usage_error(command, "%s is missing",
						   command->operands[i].name);
	return NULL;
}

static struct error *parse_call(const char *rest, struct call *call)
{
	size_t size = strlen(rest) + 2;
	call->text = strdup(rest);
	call->storage = malloc(size);
	call->operands = calloc(WORDS_MAX, sizeof(*call->operands));
	if (!call->text || !call->storage || !call->operands)
		return error_no_memory();
	for (size_t end = strlen(rest); end && isspace((unsigned char)rest[end - 1]); end--)
		call->text[end - 1] = 0;
	call->arguments.operands = call->operands;
	call->arguments.command = call->command;
	struct parser parser = { .command = call->command,
				 .at = call->text,
				 .to = call->storage,
				 .call = call,
				 .arguments = &call->arguments };
	TRY(parse_options(&parser, operand_is_expression(&call->command->operands[0])));
	return parse_operands(&parser);
}

extern const struct command command_help;

/* Behind the command stands --help, and nothing else. Read as C's --, it would be no expression. */
static bool asks_for_help(const char *rest)
{
	static const char word[] = "--help", blanks[] = " \t\n";
	rest += strspn(rest, blanks);
	return !strncmp(rest, word, strlen(word)) &&
	       !rest[strlen(word) + strspn(rest + strlen(word), blanks)];
}

struct error *call_parse(const char *text, struct call *ret)
{
	*ret = (struct call){ 0 };
	while (isspace((unsigned char)*text))
		text++;
	size_t length = strcspn(text, " \t\n");
	ret->command = command_find(text, length);
	if (!ret->command)
		return command_unknown(text, length);
	const char *rest = text + length;
	TRY(error_prefix(crash_view_line(ret->command->name, rest, &ret->view), "%s",
			 ret->command->name));
	if (ret->view) {
		text = ret->view;
		length = strcspn(text, " \t\n");
		rest = text + length;
		ret->command = command_find(text, length);
		if (!ret->command)
			return command_unknown(text, length);
	}
	ret->arguments.line = text;
	if (asks_for_help(rest)) {
		rest = ret->command->name;
		ret->command = &command_help;
	}
	return error_prefix(parse_call(rest, ret), "%s", ret->command->name);
}

bool call_asks_for_help(const char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	size_t length = strcspn(text, " \t\n");
	const struct command *command = command_find(text, length);
	return command && (command == &command_help || asks_for_help(text + length));
}

static const char *skip_word(const char *at)
{
	at += strcspn(at, " \t");
	return at + strspn(at, " \t");
}

const char *call_operands(const struct command *command, const char *text)
{
	const char *at = skip_word(text);
	while (*at == '-' && at[1] && at[1] != '>') {
		char word[128];
		snprintf(word, sizeof(word), "%.*s", (int)strcspn(at, " \t"), at);
		const struct option_spec *option = command_find_option(command, word);
		if (!option && strncmp(word, "--", 2))
			break;
		bool joined = option && (strchr(word, '=') ||
					 (option->letter && word[1] == option->letter && word[2]));
		bool takes_next = option ? option->argument && !joined : !strcmp(word, "--columns");
		at = skip_word(at);
		if (takes_next)
			at = skip_word(at);
	}
	return at;
}

void call_deinit(struct call *call)
{
	free(call->text);
	free(call->storage);
	free(call->operands);
	free(call->view);
}

char *arguments_join(const struct arguments *arguments, size_t first, size_t end)
{
	size_t size = 1, used = 0;
	for (size_t i = first; i < end; i++)
		size += strlen(arguments->operands[i]) + 1;
	char *text = calloc(1, size);
	for (size_t i = first; text && i < end; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i > first ? " " : "",
					 arguments->operands[i]);
	return text;
}

struct error *argument_number(const char *text, const char *what, uint64_t least, uint64_t most,
			      uint64_t *ret)
{
	uint64_t value;
	if (!digits_parse(text, &value) || value < least || value > most)
		return error_create(ERROR_USAGE, "\"%s\" is not %s", text, what);
	*ret = value;
	return NULL;
}
