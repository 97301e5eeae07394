// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/declare/lexer.h"

#include "base/array.h"
#include "base/ascii.h"
#include <ctype.h>
#include <string.h>

static bool is_name_start(char c)
{
	return ascii_is_alpha(c) || c == '_' || c == '$';
}

static bool is_name_byte(char c)
{
	return is_name_start(c) || isdigit((unsigned char)c);
}

static char byte_at(const struct lexer *lexer, size_t offset)
{
	return offset < lexer->size ? lexer->text[offset] : 0;
}

char lexer_peek_byte(const struct lexer *lexer)
{
	return byte_at(lexer, lexer->offset);
}

static struct error *lexer_error(const struct lexer *lexer, const char *what)
{
	return error_create(ERROR_USAGE, "column %u: %s", lexer->token.column, what);
}

/* A comment at the offset: its length, 0 when there is none, SIZE_MAX when it does not end. */
static size_t comment_length(const struct lexer *lexer)
{
	const char *at = lexer->text + lexer->offset;
	size_t left = lexer->size - lexer->offset;
	if (left < 2 || at[0] != '/' || (at[1] != '*' && at[1] != '/'))
		return 0;
	if (at[1] == '/') {
		const char *end = memchr(at, '\n', left);
		return end ? (size_t)(end - at) : left;
	}
	const char *end = memmem(at + 2, left - 2, "*/", 2);
	return end ? (size_t)(end - at) + 2 : SIZE_MAX;
}

static void skip_bytes(struct lexer *lexer, size_t count)
{
	for (; count; count--)
		if (lexer->text[lexer->offset++] == '\n') {
			lexer->line++;
			lexer->line_start = lexer->offset;
		}
}

static void token_begin(struct lexer *lexer, bool spaced)
{
	lexer->token = (struct token){ .text = lexer->text + lexer->offset,
				       .line = lexer->line,
				       .column = lexer->offset - lexer->line_start + 1,
				       .spaced = spaced };
}

static struct error *skip_blanks(struct lexer *lexer)
{
	size_t start = lexer->offset;
	for (;;) {
		while (lexer->offset < lexer->size &&
		       isspace((unsigned char)lexer->text[lexer->offset]))
			skip_bytes(lexer, 1);
		size_t length = comment_length(lexer);
		if (length == SIZE_MAX) {
			token_begin(lexer, true);
			return lexer_error(lexer, "a comment does not end");
		}
		if (!length)
			break;
		skip_bytes(lexer, length);
	}
	token_begin(lexer, lexer->offset != start);
	return NULL;
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* u, l, ll and ul, in both cases: C11 6.4.4.1. */
static struct error *lex_suffix(struct lexer *lexer)
{
	struct token *token = &lexer->token;
	for (;; lexer->offset++) {
		char c = lexer_peek_byte(lexer);
		if (tolower((unsigned char)c) == 'u' && !token->is_unsigned) {
			token->is_unsigned = true;
		} else if (tolower((unsigned char)c) == 'l' && !token->is_long) {
			token->is_long = true;
			token->is_long_long = byte_at(lexer, lexer->offset + 1) == c;
			lexer->offset += token->is_long_long;
		} else {
			break;
		}
	}
	if (lexer_peek_byte(lexer) == '.' &&
	    isdigit((unsigned char)byte_at(lexer, lexer->offset + 1)))
		return lexer_error(lexer, "numbers with a fraction are not known here");
	if (!is_name_byte(lexer_peek_byte(lexer)))
		return NULL;
	if (token->is_decimal && digit_value(lexer_peek_byte(lexer)) < 16)
		return lexer_error(lexer, "malformed number; hexadecimal needs 0x in front");
	return lexer_error(lexer, "malformed number");
}

/* The base that the number's first letters say; takes 0x and 0b. */
static int number_base(struct lexer *lexer)
{
	if (byte_at(lexer, lexer->offset) != '0')
		return 10;
	char next = (char)tolower((unsigned char)byte_at(lexer, lexer->offset + 1));
	if (next != 'x' && next != 'b')
		return 8;
	lexer->offset += 2;
	return next == 'x' ? 16 : 2;
}

static struct error *lex_number(struct lexer *lexer)
{
	struct token *token = &lexer->token;
	int base = number_base(lexer);
	size_t start = lexer->offset;
	token->kind = TOKEN_NUMBER;
	token->is_decimal = base == 10;
	for (int digit; (digit = digit_value(lexer_peek_byte(lexer))) < base; lexer->offset++)
		if (__builtin_mul_overflow(token->number, base, &token->number) ||
		    __builtin_add_overflow(token->number, digit, &token->number))
			return lexer_error(lexer, "number does not fit in 64 bits");
	if (lexer->offset == start)
		return lexer_error(lexer, "malformed number: no digits");
	if (base == 8 && isdigit((unsigned char)lexer_peek_byte(lexer)))
		return lexer_error(lexer, "octal numbers have no digits 8 and 9");
	return lex_suffix(lexer);
}

/* --- characters and strings ----------------------------------------------------------------- */

/* \x41: as many digits as follow, as C has it. */
static size_t hexadecimal_escape(const char *text, size_t size, int *ret)
{
	size_t at = 2;
	int value = 0;
	while (at < size && digit_value(text[at]) < 16)
		value = (value * 16 + digit_value(text[at++])) & 0xff;
	*ret = value;
	return at > 2 ? at : 0;
}

/* \101: up to three digits. */
static size_t octal_escape(const char *text, size_t size, int *ret)
{
	size_t at = 1;
	int value = 0;
	while (at < size && at < 4 && digit_value(text[at]) < 8)
		value = value * 8 + digit_value(text[at++]);
	*ret = value & 0xff;
	return at;
}

/* One character of a constant, escaped or not: its length in the text, 0: malformed. */
static size_t decode_character(const char *text, size_t size, int *ret)
{
	static const char letters[] = "abefnrtv\\'\"?";
	static const char values[] = "\a\b\033\f\n\r\t\v\\'\"?";
	*ret = (unsigned char)*text;
	if (*text != '\\')
		return *text && *text != '\n';
	if (size < 2 || !text[1])
		return 0;
	if (text[1] == 'x')
		return hexadecimal_escape(text, size, ret);
	if (digit_value(text[1]) < 8)
		return octal_escape(text, size, ret);
	const char *letter = strchr(letters, text[1]);
	*ret = letter ? (unsigned char)values[letter - letters] : 0;
	return letter ? 2 : 0;
}

static struct error *lex_character(struct lexer *lexer)
{
	struct token *token = &lexer->token;
	size_t left = lexer->size - ++lexer->offset;
	int value = 0;
	bool is_empty = lexer_peek_byte(lexer) == '\'';
	size_t length =
		left && !is_empty ? decode_character(lexer->text + lexer->offset, left, &value) : 0;
	if (!length || byte_at(lexer, lexer->offset + length) != '\'')
		return lexer_error(lexer, "malformed character constant");
	lexer->offset += length + 1;
	token->kind = TOKEN_NUMBER;
	token->is_character = true;
	token->number = (uint64_t)(int64_t)(signed char)value;
	return NULL;
}

static struct error *lex_string(struct lexer *lexer)
{
	lexer->token.kind = TOKEN_STRING;
	lexer->offset++;
	while (lexer_peek_byte(lexer) != '"') {
		int value;
		size_t left = lexer->size - lexer->offset;
		size_t length = left ? decode_character(lexer->text + lexer->offset, left, &value)
				     : 0;
		if (!left || lexer_peek_byte(lexer) == '\n')
			return lexer_error(lexer, "a string does not end");
		if (!length)
			return lexer_error(lexer, "a string has a malformed escape");
		lexer->offset += length;
	}
	lexer->offset++;
	return NULL;
}

size_t string_token_decode(const struct token *token, char *buffer)
{
	size_t count = 0;
	for (size_t at = 1; at + 1 < token->length;) {
		int value;
		size_t length = decode_character(token->text + at, token->length - 1 - at, &value);
		if (!length)
			break;
		buffer[count++] = (char)value;
		at += length;
	}
	return count;
}

/* --- words and punctuators ------------------------------------------------------------------ */

static void lex_name(struct lexer *lexer)
{
	lexer->token.kind = TOKEN_NAME;
	while (is_name_byte(lexer_peek_byte(lexer)) ||
	       (lexer->dotted_names && lexer_peek_byte(lexer) == '.' &&
		isdigit((unsigned char)byte_at(lexer, lexer->offset + 1))))
		lexer->offset++;
}

static void lex_punctuator(struct lexer *lexer)
{
	static const struct {
		char text[4];
		int kind;
	} longer[] = { { "<<=", TOKEN_ASSIGN },	   { ">>=", TOKEN_ASSIGN },
		       { "+=", TOKEN_ASSIGN },	   { "-=", TOKEN_ASSIGN },
		       { "*=", TOKEN_ASSIGN },	   { "/=", TOKEN_ASSIGN },
		       { "%=", TOKEN_ASSIGN },	   { "&=", TOKEN_ASSIGN },
		       { "|=", TOKEN_ASSIGN },	   { "^=", TOKEN_ASSIGN },
		       { "++", TOKEN_STEP },	   { "--", TOKEN_STEP },
		       { "...", TOKEN_ELLIPSIS },  { "->", TOKEN_ARROW },
		       { "<<", TOKEN_SHIFT_LEFT }, { ">>", TOKEN_SHIFT_RIGHT },
		       { "<=", TOKEN_LESS_EQUAL }, { ">=", TOKEN_GREATER_EQUAL },
		       { "==", TOKEN_EQUAL },	   { "!=", TOKEN_NOT_EQUAL },
		       { "&&", TOKEN_AND },	   { "||", TOKEN_OR },
		       { "..", TOKEN_RANGE } };
	const char *at = lexer->text + lexer->offset;
	size_t left = lexer->size - lexer->offset;
	for (size_t i = 0; i < ARRAY_COUNT(longer); i++) {
		size_t length = strlen(longer[i].text);
		if (length <= left && !memcmp(at, longer[i].text, length)) {
			lexer->token.kind = longer[i].kind;
			lexer->offset += length;
			return;
		}
	}
	lexer->token.kind = (unsigned char)*at;
	lexer->offset++;
}

struct error *lexer_next(struct lexer *lexer)
{
	struct error *error = skip_blanks(lexer);
	if (error)
		return error;
	char c = lexer_peek_byte(lexer);
	if (lexer->offset >= lexer->size)
		return NULL;
	if (is_name_start(c))
		lex_name(lexer);
	else if (isdigit((unsigned char)c))
		error = lex_number(lexer);
	else if (c == '\'')
		error = lex_character(lexer);
	else if (c == '"')
		error = lex_string(lexer);
	else if (ascii_is_print(c))
		lex_punctuator(lexer);
	else
		error = lexer_error(lexer, "not a character of C");
	lexer->token.length = lexer->text + lexer->offset - lexer->token.text;
	return error;
}

struct error *lexer_init(struct lexer *lexer, const char *text, size_t size, bool dotted_names)
{
	*lexer = (struct lexer){
		.text = text, .size = size, .line = 1, .dotted_names = dotted_names
	};
	return lexer_next(lexer);
}

bool token_equals(const struct token *token, const char *name)
{
	return strlen(name) == token->length && !memcmp(token->text, name, token->length);
}

struct error *token_unexpected(const struct token *token, const char *wanted)
{
	if (token->kind == TOKEN_END)
		return error_create(ERROR_USAGE, "column %u: it ends where %s should be",
				    token->column, wanted);
	return error_create(ERROR_USAGE, "column %u: \"%.*s\" where %s should be", token->column,
			    (int)(token->length < 64 ? token->length : 64), token->text, wanted);
}
