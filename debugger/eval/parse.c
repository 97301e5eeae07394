// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The expression grammar: C's, without assignments, commas and calls.
 *
 *	conditional: binary [? conditional : conditional]
 *	binary:      unary {operation unary}, by precedence
 *	unary:       - ~ ! + & * unary | sizeof unary | sizeof (type) | (type) unary | postfix
 *	postfix:     primary {[conditional] | .name | ->name}
 *	primary:     number | [module:]name[@address][:CPU | :a] | (conditional)
 */
#include "debugger/eval/tree.h"

#include "debugger/declare/ctype.h"
#include "debugger/target/object.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX  200 /* of nesting in the text, and so of recursion */
#define TREE_DEPTH 500 /* long chains such as 1+1+1 grow to the left */
#define NODES_MAX  20000

struct parser {
	struct target *target;
	struct lexer lexer;
	struct tree tree;
	uint32_t depth;
	/* Within "a ? HERE : b", a colon is not the one of "name:CPU". */
	bool colon_taken;
};

void tree_deinit(struct tree *tree)
{
	while (tree->nodes) {
		struct node *next = tree->nodes->next;
		free(tree->nodes);
		tree->nodes = next;
	}
	*tree = (struct tree){ 0 };
}

static struct error *node_create(struct parser *parser, enum node_kind kind,
				 const struct token *token, struct node **ret)
{
	if (++parser->tree.count > NODES_MAX)
		return error_create(ERROR_USAGE, "column %u: the expression is too long",
				    token->column);
	struct node *node = calloc(1, sizeof(*node));
	if (!node)
		return error_no_memory();
	node->kind = kind;
	node->operation = token->kind;
	node->column = token->column;
	node->depth = 1;
	node->next = parser->tree.nodes;
	parser->tree.nodes = node;
	*ret = node;
	return NULL;
}

static struct error *node_adopt(struct node *node, int index, struct node *operand)
{
	node->operands[index] = operand;
	if (operand->depth + 1 > node->depth)
		node->depth = operand->depth + 1;
	if (node->depth > TREE_DEPTH)
		return error_create(ERROR_USAGE, "column %u: the expression is too long",
				    node->column);
	return NULL;
}

static struct error *copy_name(const struct token *token, char *buffer, size_t size)
{
	if (token->length >= size)
		return error_create(ERROR_USAGE, "column %u: the name is too long", token->column);
	memcpy(buffer, token->text, token->length);
	buffer[token->length] = 0;
	return NULL;
}

static struct error *advance(struct parser *parser)
{
	return lexer_next(&parser->lexer);
}

static struct error *expect(struct parser *parser, int kind, const char *wanted)
{
	if (parser->lexer.token.kind != kind)
		return token_unexpected(&parser->lexer.token, wanted);
	return advance(parser);
}

static struct error *parse_conditional(struct parser *parser, struct node **ret);
static struct error *parse_unary(struct parser *parser, struct node **ret);

/* --- names ---------------------------------------------------------------------------------- */

/* The address behind "name@": hexadecimal, with or without 0x. */
static struct error *parse_name_address(struct parser *parser, struct node *node)
{
	struct lexer *lexer = &parser->lexer;
	const char *digits = lexer->text + lexer->offset + 1; /* after the @ */
	char *end;
	node->address = strtoull(digits, &end, 16);
	node->has_address = true;
	if (!isxdigit((unsigned char)*digits))
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
		snprintf(node->module, sizeof(node->module), "%s", node->name);
		node->column = token->column;
		TRY(copy_name(token, node->name, sizeof(node->name)));
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
	TRY(copy_name(&lexer->token, node->name, sizeof(node->name)));
	if (lexer_peek_byte(lexer) == ':' && !parser->colon_taken)
		TRY(parse_name_colon(parser, node));
	if (lexer_peek_byte(lexer) == '@')
		TRY(parse_name_address(parser, node));
	if (lexer_peek_byte(lexer) == ':' && !parser->colon_taken && !node->cpu_choice)
		TRY(parse_name_colon(parser, node));
	*ret = node;
	return advance(parser);
}

/* --- postfix -------------------------------------------------------------------------------- */

/* Parentheses and brackets: inside, colons are free again. */
static struct error *parse_enclosed(struct parser *parser, int closing, const char *wanted,
				    struct node **ret)
{
	bool colon_taken = parser->colon_taken;
	parser->colon_taken = false;
	TRY(advance(parser));
	TRY(parse_conditional(parser, ret));
	parser->colon_taken = colon_taken;
	return expect(parser, closing, wanted);
}

static struct error *parse_primary(struct parser *parser, struct node **ret)
{
	const struct token *token = &parser->lexer.token;
	if (token->kind == TOKEN_NAME)
		return parse_name(parser, ret);
	if (token->kind == '(')
		return parse_enclosed(parser, ')', "\")\"", ret);
	if (token->kind != TOKEN_NUMBER)
		return token_unexpected(token, "a value");
	TRY(node_create(parser, NODE_NUMBER, token, ret));
	(*ret)->number = *token;
	return advance(parser);
}

static struct error *parse_member(struct parser *parser, struct node *base, struct node **ret)
{
	TRY(advance(parser));
	const struct token *token = &parser->lexer.token;
	if (token->kind != TOKEN_NAME)
		return token_unexpected(token, "a member's name");
	struct node *node = NULL;
	TRY(node_create(parser, NODE_MEMBER, token, &node));
	TRY(copy_name(token, node->name, sizeof(node->name)));
	TRY(node_adopt(node, 0, base));
	*ret = node;
	return advance(parser);
}

static struct error *parse_index(struct parser *parser, struct node *base, struct node **ret)
{
	struct node *node = NULL, *index = NULL;
	TRY(node_create(parser, NODE_INDEX, &parser->lexer.token, &node));
	TRY(parse_enclosed(parser, ']', "\"]\"", &index));
	TRY(node_adopt(node, 0, base));
	*ret = node;
	return node_adopt(node, 1, index);
}

static struct error *parse_postfix(struct parser *parser, struct node **ret)
{
	struct node *node = NULL;
	TRY(parse_primary(parser, &node));
	for (;;) {
		int kind = parser->lexer.token.kind;
		if (kind == '.' || kind == TOKEN_ARROW)
			TRY(parse_member(parser, node, &node));
		else if (kind == '[')
			TRY(parse_index(parser, node, &node));
		else
			break;
	}
	*ret = node;
	return NULL;
}

/* --- casts and unary operators -------------------------------------------------------------- */

static bool has_typedef(const struct target *target, const struct token *token)
{
	char name[CTYPE_NAME_SIZE];
	if (!target->btf || token->length >= sizeof(name))
		return false;
	memcpy(name, token->text, token->length);
	name[token->length] = 0;
	uint64_t cursor = 0;
	return btf_find(target->btf, BTF_TYPEDEF, name, &cursor) != 0;
}

static bool has_symbol(struct target *target, const struct token *token)
{
	char name[NODE_NAME_SIZE];
	struct symbol symbol;
	uint64_t cursor = 0;
	if (token->length >= sizeof(name))
		return false;
	memcpy(name, token->text, token->length);
	name[token->length] = 0;
	return symtab_find(target->symbols, NULL, name, &cursor, &symbol);
}

/* What can begin an operand but cannot continue one: "(x) 1", "(x) y", "(x) ~y". */
static bool begins_operand_only(const struct token *token)
{
	return token->kind == TOKEN_NAME || token->kind == TOKEN_NUMBER || token->kind == '(' ||
	       token->kind == '~' || token->kind == '!';
}

/* "(name)" or "(name *)": a typedef's name, unless it is a variable's and reads like one. */
static bool is_type_name(struct parser *parser, const struct lexer *at)
{
	struct lexer ahead = *at;
	struct error *error = lexer_next(&ahead);
	bool pointer = false;
	while (!error && ahead.token.kind == '*') {
		pointer = true;
		error = lexer_next(&ahead);
	}
	bool closes = !error && ahead.token.kind == ')';
	if (closes)
		error = lexer_next(&ahead);
	bool operand = !error && begins_operand_only(&ahead.token);
	error_free(error);
	/* "name *)" is nothing else, whoever knows the name. */
	if (closes && pointer)
		return true;
	if (!has_typedef(parser->target, &at->token))
		return false;
	return !has_symbol(parser->target, &at->token) || !closes || operand;
}

/* At "(": whether a type stands in it. */
static struct error *opens_type(struct parser *parser, bool *ret)
{
	struct lexer ahead = parser->lexer;
	*ret = false;
	if (ahead.token.kind != '(')
		return NULL;
	TRY(lexer_next(&ahead));
	if (ahead.token.kind == TOKEN_NAME)
		*ret = ctype_is_keyword(&ahead.token) || is_type_name(parser, &ahead);
	return NULL;
}

/* "(type)", from the opening parenthesis on. */
static struct error *parse_type(struct parser *parser, struct type *ret)
{
	struct ctype_pool pool = { 0 };
	struct ctype *ctype;
	TRY(advance(parser));
	struct error *error = ctype_parse_name(&parser->lexer, &pool, &ctype);
	if (!error)
		error = expect(parser, ')', "\")\"");
	if (!error)
		error = ctype_resolve_anywhere(parser->target, NULL, ctype, ret);
	ctype_pool_deinit(&pool);
	return error;
}

static struct error *parse_cast(struct parser *parser, struct node **ret)
{
	struct node *node = NULL, *operand = NULL;
	TRY(node_create(parser, NODE_CAST, &parser->lexer.token, &node));
	TRY(parse_type(parser, &node->type));
	TRY(parse_unary(parser, &operand));
	*ret = node;
	return node_adopt(node, 0, operand);
}

static struct error *parse_sizeof(struct parser *parser, struct node **ret)
{
	struct node *node = NULL, *operand = NULL;
	bool is_type;
	TRY(node_create(parser, NODE_SIZEOF, &parser->lexer.token, &node));
	*ret = node;
	TRY(advance(parser));
	TRY(opens_type(parser, &is_type));
	if (is_type) {
		node->kind = NODE_SIZEOF_TYPE;
		return parse_type(parser, &node->type);
	}
	TRY(parse_unary(parser, &operand));
	return node_adopt(node, 0, operand);
}

static struct error *parse_operator(struct parser *parser, struct node **ret)
{
	struct node *node = NULL, *operand = NULL;
	TRY(node_create(parser, NODE_UNARY, &parser->lexer.token, &node));
	TRY(advance(parser));
	TRY(parse_unary(parser, &operand));
	*ret = node;
	return node_adopt(node, 0, operand);
}

static struct error *parse_unary(struct parser *parser, struct node **ret)
{
	const struct token *token = &parser->lexer.token;
	if (++parser->depth > DEPTH_MAX)
		return error_create(ERROR_USAGE, "column %u: nested too deep", token->column);
	struct error *error;
	bool is_type = false;
	if (token->kind == TOKEN_AND)
		error = token_unexpected(token, "a value");
	else if (token->kind && token->kind < TOKEN_NAME && strchr("-~!+&*", token->kind))
		error = parse_operator(parser, ret);
	else if (token_is(token, "sizeof"))
		error = parse_sizeof(parser, ret);
	else if (!(error = opens_type(parser, &is_type)))
		error = is_type ? parse_cast(parser, ret) : parse_postfix(parser, ret);
	parser->depth--;
	return error;
}

/* --- binary operators ----------------------------------------------------------------------- */

/* C's precedence: higher binds tighter; 0: not a binary operation. */
static int precedence(int operation)
{
	switch (operation) {
	case '*':
	case '/':
	case '%':
		return 10;
	case '+':
	case '-':
		return 9;
	case TOKEN_SHIFT_LEFT:
	case TOKEN_SHIFT_RIGHT:
		return 8;
	case '<':
	case '>':
	case TOKEN_LESS_EQUAL:
	case TOKEN_GREATER_EQUAL:
		return 7;
	case TOKEN_EQUAL:
	case TOKEN_NOT_EQUAL:
		return 6;
	case '&':
		return 5;
	case '^':
		return 4;
	case '|':
		return 3;
	case TOKEN_AND:
		return 2;
	case TOKEN_OR:
		return 1;
	}
	return 0;
}

/* Operators that bind tighter than `level`, left to right. */
static struct error *parse_binary(struct parser *parser, int level, struct node **ret)
{
	struct node *left = NULL;
	TRY(parse_unary(parser, &left));
	for (int own; (own = precedence(parser->lexer.token.kind)) > level;) {
		struct node *node = NULL, *right = NULL;
		TRY(node_create(parser, NODE_BINARY, &parser->lexer.token, &node));
		TRY(advance(parser));
		TRY(parse_binary(parser, own, &right));
		TRY(node_adopt(node, 0, left));
		TRY(node_adopt(node, 1, right));
		left = node;
	}
	*ret = left;
	return NULL;
}

static struct error *parse_branches(struct parser *parser, struct node *node)
{
	struct node *yes = NULL, *no = NULL;
	bool colon_taken = parser->colon_taken;
	TRY(advance(parser));
	parser->colon_taken = true;
	TRY(parse_conditional(parser, &yes));
	parser->colon_taken = colon_taken;
	TRY(expect(parser, ':', "\":\""));
	TRY(parse_conditional(parser, &no));
	TRY(node_adopt(node, 1, yes));
	return node_adopt(node, 2, no);
}

static struct error *parse_conditional(struct parser *parser, struct node **ret)
{
	if (++parser->depth > DEPTH_MAX)
		return error_create(ERROR_USAGE, "column %u: nested too deep",
				    parser->lexer.token.column);
	TRY(parse_binary(parser, 0, ret));
	if (parser->lexer.token.kind == '?') {
		struct node *node = NULL;
		TRY(node_create(parser, NODE_CONDITIONAL, &parser->lexer.token, &node));
		TRY(node_adopt(node, 0, *ret));
		TRY(parse_branches(parser, node));
		*ret = node;
	}
	parser->depth--;
	return NULL;
}

static struct error *parse_all(struct parser *parser, const char *text)
{
	TRY(lexer_init(&parser->lexer, text, strlen(text), true));
	TRY(parse_conditional(parser, &parser->tree.root));
	if (parser->lexer.token.kind != TOKEN_END)
		return token_unexpected(&parser->lexer.token, "an operator or the end");
	return NULL;
}

struct error *expression_parse(struct target *target, const char *text, struct tree *ret)
{
	struct parser parser = { .target = target };
	struct error *error = parse_all(&parser, text);
	if (error)
		tree_deinit(&parser.tree);
	else
		*ret = parser.tree;
	return error;
}
