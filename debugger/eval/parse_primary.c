// SPDX-License-Identifier: GPL-3.0-or-later
/* The smallest parts of expressions: numbers, strings, names, and what looks like a call. */
#include "debugger/eval/parse.h"

#include "base/array.h"
#include "base/digits.h"
#include "debugger/declare/ctype.h"
#include "debugger/eval/variables.h"
#include "debugger/target/object.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* --- names ---------------------------------------------------------------------------------- */

/* The address behind "name@": hexadecimal, with or without 0x. */
static struct error *parse_name_address(struct parser *parser, struct node *node)
{
	struct lexer *lexer = &parser->lexer;
	const char *digits = lexer->text + lexer->offset + 1; /* after the @ */
	const char *end = digits_scan(digits, 16, &node->address);
	node->has_address = true;
	if (!end)
		return error_create(ERROR_USAGE, "column %u: an address should follow the @",
				    node->column);
	lexer->offset = end - lexer->text;
	return NULL;
}

/* After an adjacent colon: a CPU, "a", or the name that makes the first one a module's. */
static struct error *parse_name_colon(struct parser *parser, struct node *node)
{
	struct lexer ahead = parser->lexer;
	TRY(lexer_next(&ahead));
	TRY(lexer_next(&ahead));
	const struct token *token = &ahead.token;
	if (token->spaced)
		return NULL;
	if (token->kind == TOKEN_NUMBER && token->number <= INT32_MAX) {
		node->cpu_choice = CPU_ONE;
		node->cpu = token->number;
	} else if (token_is(token, "a")) {
		node->cpu_choice = CPU_ALL;
		parser->tree.all_cpus = true;
	} else if (token->kind == TOKEN_NAME && !*node->module) {
		if (strlen(node->name) >= sizeof(node->module))
			return error_create(ERROR_USAGE, "column %u: no module has so long a name",
					    node->column);
		strcpy(node->module, node->name);
		node->column = token->column;
		TRY(node_set_name(node, token));
	} else {
		return NULL;
	}
	parser->lexer = ahead;
	return NULL;
}

static struct error *parse_name(struct parser *parser, struct node **ret)
{
	struct node *node = NULL;
	struct lexer *lexer = &parser->lexer;
	TRY(node_create(parser, NODE_NAME, &lexer->token, &node));
	TRY(node_set_name(node, &lexer->token));
	if (lexer_peek_byte(lexer) == ':' && !parser->colon_taken)
		TRY(parse_name_colon(parser, node));
	if (lexer_peek_byte(lexer) == '@')
		TRY(parse_name_address(parser, node));
	if (lexer_peek_byte(lexer) == ':' && !parser->colon_taken && !node->cpu_choice)
		TRY(parse_name_colon(parser, node));
	*ret = node;
	return parse_advance(parser);
}

/* $name, $1, $, $$: the lexer takes dollars for letters. */
static struct error *parse_variable(struct parser *parser, struct node **ret)
{
	struct token token = parser->lexer.token;
	TRY(node_create(parser, NODE_VARIABLE, &token, ret));
	token.text++;
	token.length--;
	TRY(node_set_name(*ret, &token));
	return parse_advance(parser);
}

/* --- literals ------------------------------------------------------------------------------- */

static struct error *parse_number(struct parser *parser, struct node **ret)
{
	const struct token *token = &parser->lexer.token;
	TRY(node_create(parser, NODE_NUMBER, token, ret));
	(*ret)->number = *token;
	return parse_advance(parser);
}

/* "one" "string" as C joins them, into `buffer` of the size of the text. */
static struct error *join_strings(struct parser *parser, char *buffer, size_t *ret_count)
{
	size_t count = 0;
	while (parser->lexer.token.kind == TOKEN_STRING) {
		count += string_token_decode(&parser->lexer.token, buffer + count);
		TRY(parse_advance(parser));
	}
	buffer[count++] = 0;
	*ret_count = count;
	return NULL;
}

static struct error *parse_string(struct parser *parser, struct node **ret)
{
	struct node *node = NULL;
	struct variables *variables = parser->scope->variables;
	if (!variables)
		return parse_unexpected(parser, "a value without strings");
	TRY(node_create(parser, NODE_STRING, &parser->lexer.token, &node));
	char *buffer = malloc(parser->lexer.size + 1);
	if (!buffer)
		return error_no_memory();
	struct error *error = join_strings(parser, buffer, &node->byte_count);
	if (!error)
		error = variables_keep_bytes(variables, buffer, node->byte_count, &node->bytes);
	free(buffer);
	*ret = node;
	return error;
}

/* --- calls ---------------------------------------------------------------------------------- */

/* "member.path[3].x": operands of a place of the type. */
static struct error *parse_place_path(struct parser *parser, struct type type, struct node **ret)
{
	TRY(node_create(parser, NODE_PLACE, &parser->lexer.token, ret));
	(*ret)->type = type;
	TRY(parse_member(parser, ret));
	return parse_postfixes(parser, ret);
}

static struct error *parse_comma(struct parser *parser)
{
	return parse_expect(parser, ',', "\",\"");
}

static struct error *parse_offsetof(struct parser *parser, struct node *node)
{
	struct node *path = NULL;
	struct type type;
	TRY(parse_type_name(parser, &type));
	TRY(parse_comma(parser));
	TRY(parse_place_path(parser, type, &path));
	return node_adopt(node, 0, path);
}

static struct error *parse_container(struct parser *parser, struct node *node)
{
	struct node *pointer = NULL, *path = NULL;
	TRY(parse_conditional(parser, &pointer));
	TRY(parse_comma(parser));
	TRY(parse_type_name(parser, &node->type));
	TRY(parse_comma(parser));
	TRY(parse_place_path(parser, node->type, &path));
	TRY(node_adopt(node, 0, pointer));
	return node_adopt(node, 1, path);
}

static struct error *parse_per_cpu(struct parser *parser, struct node *node)
{
	struct node *variable = NULL, *cpu = NULL;
	TRY(parse_conditional(parser, &variable));
	TRY(parse_comma(parser));
	TRY(parse_conditional(parser, &cpu));
	TRY(node_adopt(node, 0, variable));
	return node_adopt(node, 1, cpu);
}

struct builtin {
	const char *name;
	enum node_kind kind;
	struct error *(*parse)(struct parser *parser, struct node *node);
};

static const struct builtin *find_builtin(const struct token *token)
{
	static const struct builtin builtins[] = {
		{ "offsetof", NODE_OFFSETOF, parse_offsetof },
		{ "container_of", NODE_CONTAINER, parse_container },
		{ "per_cpu", NODE_PER_CPU, parse_per_cpu },
		{ "per_cpu_ptr", NODE_PER_CPU_PTR, parse_per_cpu },
	};
	for (size_t i = 0; i < ARRAY_COUNT(builtins); i++)
		if (token_is(token, builtins[i].name))
			return &builtins[i];
	return NULL;
}

static bool next_is_parenthesis(const struct parser *parser)
{
	struct lexer ahead = parser->lexer;
	struct error *error = lexer_next(&ahead);
	bool found = !error && ahead.token.kind == '(';
	error_free(error);
	return found;
}

static struct error *parse_builtin(struct parser *parser, const struct builtin *builtin,
				   struct node **ret)
{
	bool colon_taken = parser->colon_taken;
	parser->colon_taken = false;
	TRY(node_create(parser, builtin->kind, &parser->lexer.token, ret));
	TRY(parse_advance(parser));
	TRY(parse_advance(parser));
	TRY(builtin->parse(parser, *ret));
	parser->colon_taken = colon_taken;
	return parse_expect(parser, ')', "\")\"");
}

struct error *parse_primary(struct parser *parser, struct node **ret)
{
	const struct token *token = &parser->lexer.token;
	switch (token->kind) {
	case '(':
		return parse_enclosed(parser, ')', "\")\"", ret);
	case TOKEN_NUMBER:
		return parse_number(parser, ret);
	case TOKEN_STRING:
		return parse_string(parser, ret);
	case TOKEN_NAME:
		break;
	default:
		return parse_unexpected(parser, "a value");
	}
	if (*token->text == '$')
		return parse_variable(parser, ret);
	if (ctype_is_keyword(token) || parse_is_typeof(token))
		return error_create(ERROR_USAGE,
				    "column %u: a type where a value should be; a cast has "
				    "parentheses around it",
				    token->column);
	const struct builtin *builtin = find_builtin(token);
	if (builtin && next_is_parenthesis(parser))
		return parse_builtin(parser, builtin, ret);
	return parse_name(parser, ret);
}
