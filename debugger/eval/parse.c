// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The expression grammar: C's, without assignments and calls.
 *
 *	expression:  conditional {, conditional}
 *	conditional: binary [? expression : conditional]
 *	binary:      unary {operation unary}, by precedence
 *	unary:       - ~ ! + & * unary | sizeof unary | sizeof (type) | (type) unary | postfix
 *	postfix:     primary {[expression] | [conditional .. conditional] | .name | ->name}
 *	primary:     number | string {string} | $name | [module:]name[@address][:CPU | :a]
 *	             | (expression) | offsetof(type, path) | container_of(conditional, type, path)
 *	             | per_cpu(conditional, conditional) | per_cpu_ptr(conditional, conditional)
 *	type:        C's, and typeof(expression) or typeof(type) in the place of its name
 *	path:        name {.name | [expression]}
 */
#include "debugger/eval/parse.h"

#include "debugger/target/object.h"
#include <stdlib.h>
#include <string.h>

#define TREE_DEPTH 500 /* long chains such as 1+1+1 grow to the left */
#define NODES_MAX  20000

void tree_deinit(struct tree *tree)
{
	while (tree->nodes) {
		struct node *next = tree->nodes->next;
		free(tree->nodes);
		tree->nodes = next;
	}
	*tree = (struct tree){ 0 };
}

struct error *node_create(struct parser *parser, enum node_kind kind, const struct token *token,
			  struct node **ret)
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

struct error *node_adopt(struct node *node, int index, struct node *operand)
{
	node->operands[index] = operand;
	if (operand->depth + 1 > node->depth)
		node->depth = operand->depth + 1;
	if (node->depth > TREE_DEPTH)
		return error_create(ERROR_USAGE, "column %u: the expression is too long",
				    node->column);
	return NULL;
}

struct error *node_set_name(struct node *node, const struct token *token)
{
	if (token->length >= sizeof(node->name))
		return error_create(ERROR_USAGE, "column %u: the name is too long", token->column);
	memcpy(node->name, token->text, token->length);
	node->name[token->length] = 0;
	return NULL;
}

struct error *parse_advance(struct parser *parser)
{
	return lexer_next(&parser->lexer);
}

struct error *parse_unexpected(const struct parser *parser, const char *wanted)
{
	const struct token *token = &parser->lexer.token;
	if (token->kind == '=' || token->kind == TOKEN_ASSIGN || token->kind == TOKEN_STEP)
		return error_create(
			ERROR_USAGE,
			"column %u: a dump cannot be changed; `set $name = EXPRESSION` makes a "
			"variable, == compares",
			token->column);
	if (token->kind == '@')
		return error_create(ERROR_USAGE,
				    "column %u: elements are ARRAY[0..9], a symbol's address is "
				    "NAME@ADDRESS",
				    token->column);
	return token_unexpected(token, wanted);
}

struct error *parse_expect(struct parser *parser, int kind, const char *wanted)
{
	if (parser->lexer.token.kind != kind)
		return parse_unexpected(parser, wanted);
	return parse_advance(parser);
}

struct error *parse_too_deep(const struct parser *parser)
{
	return error_create(ERROR_USAGE, "column %u: nested too deep", parser->lexer.token.column);
}

/* --- postfix -------------------------------------------------------------------------------- */

struct error *parse_enclosed(struct parser *parser, int closing, const char *wanted,
			     struct node **ret)
{
	bool colon_taken = parser->colon_taken;
	parser->colon_taken = false;
	TRY(parse_advance(parser));
	TRY(parse_expression(parser, ret));
	parser->colon_taken = colon_taken;
	return parse_expect(parser, closing, wanted);
}

/* The member that the current token names, of *ret. */
struct error *parse_member(struct parser *parser, struct node **ret)
{
	const struct token *token = &parser->lexer.token;
	if (token->kind != TOKEN_NAME)
		return parse_unexpected(parser, "a member's name");
	struct node *node = NULL;
	TRY(node_create(parser, NODE_MEMBER, token, &node));
	TRY(node_set_name(node, token));
	TRY(node_adopt(node, 0, *ret));
	*ret = node;
	return parse_advance(parser);
}

/* From behind ".." on. */
static struct error *parse_slice(struct parser *parser, struct node *node)
{
	struct tree *tree = &parser->tree;
	struct node *last = NULL;
	node->kind = NODE_SLICE;
	TRY(parse_advance(parser));
	TRY(parse_conditional(parser, &last));
	TRY(node_adopt(node, 2, last));
	if (tree->slice_count == EXPRESSION_SLICES_MAX)
		return error_create(ERROR_USAGE, "column %u: more than %d slices", node->column,
				    EXPRESSION_SLICES_MAX);
	tree->slices[tree->slice_count++] = node;
	return NULL;
}

static struct error *parse_index(struct parser *parser, struct node **ret)
{
	struct node *node = NULL, *index = NULL;
	bool colon_taken = parser->colon_taken;
	parser->colon_taken = false;
	TRY(node_create(parser, NODE_INDEX, &parser->lexer.token, &node));
	TRY(parse_advance(parser));
	TRY(parse_expression(parser, &index));
	TRY(node_adopt(node, 0, *ret));
	TRY(node_adopt(node, 1, index));
	if (parser->lexer.token.kind == TOKEN_RANGE)
		TRY(parse_slice(parser, node));
	parser->colon_taken = colon_taken;
	*ret = node;
	return parse_expect(parser, ']', "\"]\"");
}

struct error *parse_postfixes(struct parser *parser, struct node **ret)
{
	for (;;) {
		int kind = parser->lexer.token.kind;
		if (kind == '[') {
			TRY(parse_index(parser, ret));
		} else if (kind == '.' || kind == TOKEN_ARROW) {
			TRY(parse_advance(parser));
			TRY(parse_member(parser, ret));
		} else if (kind == '(') {
			return error_create(ERROR_USAGE,
					    "column %u: the machine is dead, nothing can be called",
					    parser->lexer.token.column);
		} else {
			return NULL;
		}
	}
}

static struct error *parse_postfix(struct parser *parser, struct node **ret)
{
	TRY(parse_primary(parser, ret));
	return parse_postfixes(parser, ret);
}

/* --- unary operators ------------------------------------------------------------------------ */

static struct error *parse_operator(struct parser *parser, struct node **ret)
{
	struct node *node = NULL, *operand = NULL;
	TRY(node_create(parser, NODE_UNARY, &parser->lexer.token, &node));
	TRY(parse_advance(parser));
	TRY(parse_unary(parser, &operand));
	*ret = node;
	return node_adopt(node, 0, operand);
}

struct error *parse_unary(struct parser *parser, struct node **ret)
{
	const struct token *token = &parser->lexer.token;
	if (++parser->depth > PARSE_DEPTH_MAX)
		return parse_too_deep(parser);
	struct error *error;
	bool is_type = false;
	if (token->kind && token->kind < TOKEN_NAME && strchr("-~!+&*", token->kind))
		error = parse_operator(parser, ret);
	else if (token_is(token, "sizeof"))
		error = parse_sizeof(parser, ret);
	else if (!(error = parse_opens_type(parser, &is_type)))
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
		TRY(parse_advance(parser));
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
	TRY(parse_advance(parser));
	parser->colon_taken = true;
	TRY(parse_expression(parser, &yes));
	parser->colon_taken = colon_taken;
	TRY(parse_expect(parser, ':', "\":\""));
	TRY(parse_conditional(parser, &no));
	TRY(node_adopt(node, 1, yes));
	return node_adopt(node, 2, no);
}

struct error *parse_conditional(struct parser *parser, struct node **ret)
{
	if (++parser->depth > PARSE_DEPTH_MAX)
		return parse_too_deep(parser);
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

struct error *parse_expression(struct parser *parser, struct node **ret)
{
	struct node *left = NULL;
	TRY(parse_conditional(parser, &left));
	while (parser->lexer.token.kind == ',') {
		struct node *node = NULL, *right = NULL;
		TRY(node_create(parser, NODE_BINARY, &parser->lexer.token, &node));
		TRY(parse_advance(parser));
		TRY(parse_conditional(parser, &right));
		TRY(node_adopt(node, 0, left));
		TRY(node_adopt(node, 1, right));
		left = node;
	}
	*ret = left;
	return NULL;
}

/* --- the whole ------------------------------------------------------------------------------ */

/* A slice that nothing is done with is an array; those left give one result an element. */
static struct error *finish(struct parser *parser)
{
	struct tree *tree = &parser->tree;
	if (parser->lexer.token.kind != TOKEN_END)
		return parse_unexpected(parser, "an operator or the end");
	if (tree->root->kind == NODE_SLICE) {
		tree->root->is_whole = true;
		tree->slice_count--; /* outer ones come last */
	}
	return NULL;
}

static struct error *parse_all(struct parser *parser, const char *text)
{
	TRY(lexer_init(&parser->lexer, text, strlen(text), true));
	TRY(parse_expression(parser, &parser->tree.root));
	return finish(parser);
}

static struct error *parse_path(struct parser *parser, const char *text)
{
	TRY(lexer_init(&parser->lexer, text, strlen(text), true));
	TRY(node_create(parser, NODE_BASE, &parser->lexer.token, &parser->tree.root));
	if (parser->lexer.token.kind == TOKEN_NAME)
		TRY(parse_member(parser, &parser->tree.root));
	TRY(parse_postfixes(parser, &parser->tree.root));
	return finish(parser);
}

static struct error *parse(struct scope *scope, const char *text,
			   struct error *(*parse_text)(struct parser *parser, const char *text),
			   struct tree *ret)
{
	struct parser parser = { .scope = scope, .target = scope->target };
	struct error *error = parse_text(&parser, text);
	if (error)
		tree_deinit(&parser.tree);
	else
		*ret = parser.tree;
	return error;
}

struct error *expression_parse(struct scope *scope, const char *text, struct tree *ret)
{
	return parse(scope, text, parse_all, ret);
}

struct error *member_path_parse(struct scope *scope, const char *text, struct tree *ret)
{
	return parse(scope, text, parse_path, ret);
}
