/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words of C, for expressions and declarations: one token at a time, without copies. */
#ifndef DEBUGGER_DECLARE_LEXER_H
#define DEBUGGER_DECLARE_LEXER_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A single-character punctuator is its own character; these are the others. */
enum token_kind {
	TOKEN_END = 0,
	TOKEN_NAME = 256,
	TOKEN_NUMBER, /* integer or character constant */
	TOKEN_STRING, /* with its quotes; string_token_decode() takes them off */
	TOKEN_ARROW,
	TOKEN_SHIFT_LEFT,
	TOKEN_SHIFT_RIGHT,
	TOKEN_LESS_EQUAL,
	TOKEN_GREATER_EQUAL,
	TOKEN_EQUAL,
	TOKEN_NOT_EQUAL,
	TOKEN_AND,
	TOKEN_OR,
	TOKEN_ELLIPSIS,
	TOKEN_RANGE,  /* .. between the bounds of a slice */
	TOKEN_ASSIGN, /* += and the like, but = itself */
	TOKEN_STEP    /* ++, -- */
};

struct token {
	int kind;
	const char *text; /* borrowed from the lexer's text */
	size_t length;
	uint32_t column; /* from 1, in bytes */
	uint32_t line;	 /* from 1 */
	bool spaced;	 /* white space or a comment stands before it */
	/* TOKEN_NUMBER */
	uint64_t number;
	bool is_decimal, is_unsigned, is_character;
	bool is_long, is_long_long; /* l or ll; ll */
};

struct lexer {
	const char *text;
	size_t size;
	size_t offset; /* of the byte after `token` */
	uint32_t line;
	size_t line_start;
	struct token token; /* the current one */
	/*
	 * Names may hold a dot before a digit ("__func__.12"), as symbols of local statics do.
	 */
	bool dotted_names;
};

/* Reads the first token. Borrows `text`. Errors: ERROR_USAGE "column 3: ...". */
struct error *lexer_init(struct lexer *lexer, const char *text, size_t size,
			 bool dotted_names) MUST_CHECK;
/* Advances to the next token; at the end stays there. */
struct error *lexer_next(struct lexer *lexer) MUST_CHECK;
/* The character right after the current token, 0 at the end. */
char lexer_peek_byte(const struct lexer *lexer);
bool token_equals(const struct token *token, const char *name);
/* The first letter settles nearly all of these questions. */
static inline bool token_is(const struct token *token, const char *name)
{
	return token->kind == TOKEN_NAME && *token->text == *name && token_equals(token, name);
}
/*
 * The bytes that a TOKEN_STRING stands for, without a NUL at the end, into `buffer` of at least
 * token->length bytes. Returns how many they are.
 */
size_t string_token_decode(const struct token *token, char *buffer);
/* How a message names it: the text in quotes, or "the end". */
struct error *token_unexpected(const struct token *token, const char *wanted) MUST_CHECK;

#endif
