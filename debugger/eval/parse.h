/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inside the parser of expressions: what its files share. */
#ifndef DEBUGGER_EVAL_PARSE_H
#define DEBUGGER_EVAL_PARSE_H

#include "debugger/eval/tree.h"

#define PARSE_DEPTH_MAX 200 /* of nesting in the text, and so of recursion */

struct parser {
	struct scope *scope;
	struct target *target; /* of the scope */
	struct lexer lexer;
	struct tree tree;
	uint32_t depth;
	/* Within "a ? HERE : b", a colon is not the one of "name:CPU". */
	bool colon_taken;
};

struct error *node_create(struct parser *parser, enum node_kind kind, const struct token *token,
			  struct node **ret) MUST_CHECK;
struct error *node_adopt(struct node *node, int index, struct node *operand) MUST_CHECK;
/* The token's text as the node's name. */
struct error *node_set_name(struct node *node, const struct token *token) MUST_CHECK;
struct error *parse_advance(struct parser *parser) MUST_CHECK;
struct error *parse_expect(struct parser *parser, int kind, const char *wanted) MUST_CHECK;
/* The current token cannot stand here. */
struct error *parse_unexpected(const struct parser *parser, const char *wanted) MUST_CHECK;

struct error *parse_too_deep(const struct parser *parser) MUST_CHECK;

/* parse.c: with the comma operator, and without. */
struct error *parse_expression(struct parser *parser, struct node **ret) MUST_CHECK;
struct error *parse_conditional(struct parser *parser, struct node **ret) MUST_CHECK;
struct error *parse_unary(struct parser *parser, struct node **ret) MUST_CHECK;
/* From the opening bracket past the closing one; inside, colons are free again. */
struct error *parse_enclosed(struct parser *parser, int closing, const char *wanted,
			     struct node **ret) MUST_CHECK;
/* {.name | ->name | [index] | [first..last]} behind `*ret`. */
struct error *parse_postfixes(struct parser *parser, struct node **ret) MUST_CHECK;
struct error *parse_member(struct parser *parser, struct node **ret) MUST_CHECK;

/* parse_primary.c: numbers, strings, names, and what looks like a call. */
struct error *parse_primary(struct parser *parser, struct node **ret) MUST_CHECK;

/* parse_type.c: what begins with a type. */
bool parse_is_typeof(const struct token *token);
/* At "(": whether a type stands in it. */
struct error *parse_opens_type(struct parser *parser, bool *ret) MUST_CHECK;
/* A type's name, up to the first token that does not belong to it. */
struct error *parse_type_name(struct parser *parser, struct type *ret) MUST_CHECK;
struct error *parse_cast(struct parser *parser, struct node **ret) MUST_CHECK;
struct error *parse_sizeof(struct parser *parser, struct node **ret) MUST_CHECK;

#endif
