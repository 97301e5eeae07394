// SPDX-License-Identifier: GPL-3.0-or-later
/* Parsing of C type names and declarators; their resolution is in ctype_resolve.c. */
#include "debugger/declare/ctype.h"

#include "base/array.h"
#include "debugger/target/object.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64
#define NODES_MAX 4096

void ctype_pool_deinit(struct ctype_pool *pool)
{
	while (pool->nodes) {
		struct ctype *next = pool->nodes->next;
		free(pool->nodes);
		pool->nodes = next;
	}
	pool->count = pool->depth = 0;
}

static struct error *node_create(struct ctype_pool *pool, enum ctype_kind kind,
				 struct ctype *target, const struct token *token,
				 struct ctype **ret)
{
	if (++pool->count > NODES_MAX)
		return error_create(ERROR_USAGE, "column %u: the type is too long", token->column);
	struct ctype *node = calloc(1, sizeof(*node));
	if (!node)
		return error_no_memory();
	node->kind = kind;
	node->target = target;
	node->column = token->column;
	node->next = pool->nodes;
	pool->nodes = node;
	*ret = node;
	return NULL;
}

static struct error *expect(struct lexer *lexer, int kind, const char *wanted)
{
	if (lexer->token.kind != kind)
		return token_unexpected(&lexer->token, wanted);
	return lexer_next(lexer);
}

/* --- specifiers ------------------------------------------------------------------------- */

/* Words that say nothing about the layout. */
static bool is_ignored(const struct token *token)
{
	static const char *const words[] = {
		"const",	"volatile",	   "restrict",	    "extern",
		"static",	"register",	   "inline",	    "__const",
		"__volatile__", "__restrict",	   "__percpu",	    "__user",
		"__rcu",	"__iomem",	   "__kernel",	    "__init",
		"__initdata",	"__initconst",	   "__refdata",	    "__read_mostly",
		"__used",	"__visible",	   "__weak",	    "__cacheline_aligned",
		"__aligned",	"__ro_after_init", "__extension__", "_Thread_local",
	};
	for (size_t i = 0; i < ARRAY_COUNT(words); i++)
		if (token_is(token, words[i]))
			return true;
	return false;
}

/* Counts of the words of an integer type, which C allows in any order. */
struct integer_words {
	int sign, unsigned_, char_, short_, int_, long_, bool_, wide, float_, double_, void_;
};

static int *integer_word(struct integer_words *words, const struct token *token)
{
	const struct {
		const char *name;
		int *count;
	} known[] = {
		{ "signed", &words->sign },	   { "__signed__", &words->sign },
		{ "unsigned", &words->unsigned_ }, { "char", &words->char_ },
		{ "short", &words->short_ },	   { "int", &words->int_ },
		{ "long", &words->long_ },	   { "_Bool", &words->bool_ },
		{ "__int128", &words->wide },	   { "float", &words->float_ },
		{ "double", &words->double_ },	   { "void", &words->void_ },
	};
	for (size_t i = 0; i < ARRAY_COUNT(known); i++)
		if (token_is(token, known[i].name))
			return known[i].count;
	return NULL;
}

static bool is_tag_keyword(const struct token *token)
{
	return token_is(token, "struct") || token_is(token, "union") || token_is(token, "enum");
}

bool ctype_is_keyword(const struct token *token)
{
	struct integer_words words;
	return token->kind == TOKEN_NAME &&
	       (is_tag_keyword(token) || token_is(token, "const") || token_is(token, "volatile") ||
		integer_word(&words, token));
}

static void set_integer(struct ctype *node, const char *name, uint32_t size, int encoding)
{
	node->kind = CTYPE_INTEGER;
	snprintf(node->name, sizeof(node->name), "%s", name);
	node->size = size;
	node->encoding = encoding;
}

static void set_float(struct ctype *node, const char *name)
{
	node->kind = CTYPE_FLOAT;
	snprintf(node->name, sizeof(node->name), "%s", name);
}

/* The words of integers, valid by count, in the compiler's spelling as BTF has it. */
static void set_integer_by_words(struct ctype *node, const struct integer_words *words)
{
	int sign = words->unsigned_ ? 0 : BTF_INT_SIGNED;
	if (words->bool_)
		set_integer(node, "_Bool", 1, BTF_INT_BOOL);
	else if (words->char_ && words->sign)
		set_integer(node, "signed char", 1, sign);
	else if (words->char_)
		set_integer(node, sign ? "char" : "unsigned char", 1, sign);
	else if (words->short_)
		set_integer(node, sign ? "short int" : "short unsigned int", 2, sign);
	else if (words->long_ == 2)
		set_integer(node, sign ? "long long int" : "long long unsigned int", 8, sign);
	else if (words->long_)
		set_integer(node, sign ? "long int" : "long unsigned int", 0, sign);
	else if (words->wide)
		set_integer(node, sign ? "__int128" : "__int128 unsigned", 16, sign);
	else
		set_integer(node, sign ? "int" : "unsigned int", 4, sign);
}

/* False: not a type of C. */
static bool type_from_words(const struct integer_words *words, struct ctype *node)
{
	int kinds = !!words->char_ + !!words->short_ + !!words->long_ + !!words->bool_ +
		    !!words->wide + !!words->float_ + !!words->double_ + !!words->void_;
	bool plain = !words->sign && !words->unsigned_ && !words->int_;
	if (words->sign + words->unsigned_ > 1 || words->int_ > 1 || words->long_ > 2)
		return false;
	if (words->double_ && words->long_ == 1 && kinds == 2) {
		set_float(node, "long double");
		return plain;
	}
	if (kinds > 1)
		return false;
	if (words->void_) {
		node->kind = CTYPE_VOID;
		return plain;
	}
	if (words->float_ || words->double_) {
		set_float(node, words->float_ ? "float" : "double");
		return plain;
	}
	set_integer_by_words(node, words);
	return plain || !(words->bool_ || (words->int_ && (words->char_ || words->wide)));
}

/* "struct x" or a typedef's name, from the current token on. */
static struct error *parse_named(struct lexer *lexer, struct ctype *node)
{
	char tag[8] = "";
	if (is_tag_keyword(&lexer->token)) {
		snprintf(tag, sizeof(tag), "%.*s ", (int)lexer->token.length, lexer->token.text);
		TRY(lexer_next(lexer));
		if (lexer->token.kind != TOKEN_NAME)
			return token_unexpected(&lexer->token, "a tag");
	}
	const struct token *token = &lexer->token;
	if (token->length + sizeof(tag) > sizeof(node->name))
		return error_create(ERROR_USAGE, "column %u: the name is too long", token->column);
	node->kind = CTYPE_NAMED;
	snprintf(node->name, sizeof(node->name), "%s%.*s", tag, (int)token->length, token->text);
	return lexer_next(lexer);
}

/* __attribute__((...)): up to its closing parenthesis. */
static struct error *skip_parentheses(struct lexer *lexer)
{
	int depth = 0;
	do {
		if (lexer->token.kind == TOKEN_END)
			return token_unexpected(&lexer->token, "\")\"");
		depth += lexer->token.kind == '(';
		depth -= lexer->token.kind == ')';
		TRY(lexer_next(lexer));
	} while (depth > 0);
	return NULL;
}

/* Takes words and attributes that do not matter here; notes in `node` (NULL: nowhere) those that
 * qualify it. */
static struct error *skip_ignored(struct lexer *lexer, struct ctype *node)
{
	for (;;) {
		if (lexer->token.kind != TOKEN_NAME)
			return NULL;
		bool attribute = token_is(&lexer->token, "__attribute__");
		if (!attribute && !is_ignored(&lexer->token))
			return NULL;
		attribute |= token_is(&lexer->token, "__aligned");
		if (node &&
		    (token_is(&lexer->token, "const") || token_is(&lexer->token, "__const")))
			node->is_const = true;
		if (node && (token_is(&lexer->token, "volatile") ||
			     token_is(&lexer->token, "__volatile__")))
			node->is_volatile = true;
		TRY(lexer_next(lexer));
		if (attribute && lexer->token.kind == '(')
			TRY(skip_parentheses(lexer));
	}
}

struct error *ctype_parse_specifiers(struct lexer *lexer, struct ctype_pool *pool,
				     struct ctype **ret)
{
	struct ctype *node;
	TRY(node_create(pool, CTYPE_VOID, NULL, &lexer->token, &node));
	struct integer_words words = { 0 };
	bool has_words = false, has_name = false;
	for (;;) {
		TRY(skip_ignored(lexer, pool->keeps_qualifiers ? node : NULL));
		int *word = integer_word(&words, &lexer->token);
		if (lexer->token.kind != TOKEN_NAME || (has_name && !word) || (has_words && !word))
			break;
		if (word) {
			++*word;
			has_words = true;
			TRY(lexer_next(lexer));
		} else {
			TRY(parse_named(lexer, node));
			has_name = true;
		}
		if (has_name && has_words)
			return error_create(ERROR_USAGE, "column %u: two types in one declaration",
					    node->column);
	}
	if (!has_name && !has_words)
		return token_unexpected(&lexer->token, "a type");
	if (has_words && !type_from_words(&words, node))
		return error_create(ERROR_USAGE, "column %u: no type of C has these words",
				    node->column);
	*ret = node;
	return NULL;
}

/* --- array bounds ------------------------------------------------------------------------- */

static struct error *parse_constant(struct lexer *lexer, int level, uint32_t depth, uint64_t *ret);

static struct error *parse_constant_primary(struct lexer *lexer, uint32_t depth, uint64_t *ret)
{
	if (depth > DEPTH_MAX)
		return error_create(ERROR_USAGE, "column %u: nested too deep", lexer->token.column);
	if (lexer->token.kind == '(') {
		TRY(lexer_next(lexer));
		TRY(parse_constant(lexer, 0, depth + 1, ret));
		return expect(lexer, ')', "\")\"");
	}
	if (lexer->token.kind != TOKEN_NUMBER)
		return token_unexpected(&lexer->token, "a number");
	*ret = lexer->token.number;
	return lexer_next(lexer);
}

static int constant_level(int operation)
{
	switch (operation) {
	case TOKEN_SHIFT_LEFT:
	case TOKEN_SHIFT_RIGHT:
		return 1;
	case '+':
	case '-':
		return 2;
	case '*':
	case '/':
		return 3;
	}
	return 0;
}

static struct error *constant_apply(const struct token *operation, uint64_t right, uint64_t *left)
{
	switch (operation->kind) {
	case TOKEN_SHIFT_LEFT:
		*left = right < 64 ? *left << right : 0;
		return NULL;
	case TOKEN_SHIFT_RIGHT:
		*left = right < 64 ? *left >> right : 0;
		return NULL;
	case '+':
		*left += right;
		return NULL;
	case '-':
		*left -= right;
		return NULL;
	case '*':
		*left *= right;
		return NULL;
	}
	if (!right)
		return error_create(ERROR_USAGE, "column %u: division by zero", operation->column);
	*left /= right;
	return NULL;
}

/* Left-associative operators above `level`. */
static struct error *parse_constant(struct lexer *lexer, int level, uint32_t depth, uint64_t *ret)
{
	uint64_t left;
	TRY(parse_constant_primary(lexer, depth, &left));
	for (int own; (own = constant_level(lexer->token.kind)) > level;) {
		struct token operation = lexer->token;
		uint64_t right;
		TRY(lexer_next(lexer));
		TRY(parse_constant(lexer, own, depth + 1, &right));
		TRY(constant_apply(&operation, right, &left));
	}
	*ret = left;
	return NULL;
}

/* --- declarators ---------------------------------------------------------------------------- */

static struct error *parse_array(struct lexer *lexer, const struct ctype_pool *pool,
				 struct ctype *array)
{
	TRY(lexer_next(lexer));
	if (lexer->token.kind == ']') {
		array->is_open = true;
		return lexer_next(lexer);
	}
	uint64_t count;
	TRY(pool->evaluate ? pool->evaluate(pool->context, lexer, &count)
			   : parse_constant(lexer, 0, 0, &count));
	if (count > UINT32_MAX)
		return error_create(ERROR_USAGE, "column %u: no array has so many elements",
				    array->column);
	array->size = count;
	return expect(lexer, ']', "\"]\"");
}

static struct error *parse_declarator_part(struct lexer *lexer, struct ctype_pool *pool,
					   struct ctype *base, bool named, struct declarator *ret);

static struct error *parse_param(struct lexer *lexer, struct ctype_pool *pool, struct ctype **ret)
{
	struct ctype *base;
	TRY(ctype_parse_specifiers(lexer, pool, &base));
	struct declarator declarator = { 0 };
	TRY(parse_declarator_part(lexer, pool, base, false, &declarator));
	*ret = declarator.type;
	/* An array or a function as a parameter is a pointer. */
	if ((*ret)->kind == CTYPE_ARRAY)
		(*ret)->kind = CTYPE_POINTER;
	else if ((*ret)->kind == CTYPE_FUNCTION)
		return node_create(pool, CTYPE_POINTER, *ret, &lexer->token, ret);
	return NULL;
}

static struct error *parse_params(struct lexer *lexer, struct ctype_pool *pool,
				  struct ctype *function)
{
	TRY(lexer_next(lexer));
	while (lexer->token.kind != ')') {
		if (lexer->token.kind == TOKEN_ELLIPSIS) {
			function->varargs = true;
			TRY(lexer_next(lexer));
			break;
		}
		if (function->param_count == CTYPE_PARAMS_MAX)
			return error_create(ERROR_USAGE, "column %u: more than %d parameters",
					    lexer->token.column, CTYPE_PARAMS_MAX);
		TRY(parse_param(lexer, pool, &function->params[function->param_count++]));
		if (lexer->token.kind == ',')
			TRY(lexer_next(lexer));
		else if (lexer->token.kind != ')')
			return token_unexpected(&lexer->token, "\",\" or \")\"");
	}
	if (function->param_count == 1 && function->params[0]->kind == CTYPE_VOID)
		function->param_count = 0;
	return expect(lexer, ')', "\")\"");
}

/* [3][4], (int, long): what stands behind binds first, the leftmost outermost. */
static struct error *parse_suffixes(struct lexer *lexer, struct ctype_pool *pool,
				    struct ctype *base, struct ctype **ret)
{
	struct ctype *first = NULL, **link = &first;
	for (int kind; (kind = lexer->token.kind) == '[' || kind == '(';) {
		struct ctype *node = NULL;
		TRY(node_create(pool, kind == '[' ? CTYPE_ARRAY : CTYPE_FUNCTION, NULL,
				&lexer->token, &node));
		TRY(kind == '[' ? parse_array(lexer, pool, node) : parse_params(lexer, pool, node));
		*link = node;
		link = &node->target;
	}
	*link = base;
	*ret = first;
	return NULL;
}

/* Whether "(" opens a nested declarator rather than parameters. */
static struct error *opens_group(const struct lexer *lexer, bool named, bool *ret)
{
	struct lexer ahead = *lexer;
	TRY(lexer_next(&ahead));
	const struct token *token = &ahead.token;
	*ret = token->kind == '*' || token->kind == '(' || token->kind == '[' ||
	       (named && token->kind == TOKEN_NAME && !ctype_is_keyword(token));
	return NULL;
}

static struct error *parse_group(struct lexer *lexer, struct ctype_pool *pool, struct ctype *base,
				 bool named, struct declarator *ret)
{
	struct ctype *group;
	TRY(node_create(pool, CTYPE_GROUP, base, &lexer->token, &group));
	TRY(lexer_next(lexer));
	TRY(parse_declarator_part(lexer, pool, group, named, ret));
	TRY(expect(lexer, ')', "\")\""));
	return parse_suffixes(lexer, pool, base, &group->target);
}

/* With `named`, a name must come; without, it may (parameters) and is recorded. */
static struct error *parse_declarator_part(struct lexer *lexer, struct ctype_pool *pool,
					   struct ctype *base, bool named, struct declarator *ret)
{
	if (++pool->depth > DEPTH_MAX)
		return error_create(ERROR_USAGE, "column %u: nested too deep", lexer->token.column);
	TRY(skip_ignored(lexer, NULL));
	while (lexer->token.kind == '*') {
		TRY(node_create(pool, CTYPE_POINTER, base, &lexer->token, &base));
		TRY(lexer_next(lexer));
		TRY(skip_ignored(lexer, pool->keeps_qualifiers ? base : NULL));
	}
	bool group = false;
	if (lexer->token.kind == '(')
		TRY(opens_group(lexer, named, &group));
	if (group) {
		TRY(parse_group(lexer, pool, base, named, ret));
	} else {
		if (lexer->token.kind == TOKEN_NAME) {
			ret->name = lexer->token.text;
			ret->name_length = lexer->token.length;
			TRY(lexer_next(lexer));
		} else if (named) {
			return token_unexpected(&lexer->token, "a name");
		}
		TRY(parse_suffixes(lexer, pool, base, &ret->type));
	}
	pool->depth--;
	return skip_ignored(lexer, NULL);
}

struct error *ctype_parse_declarator(struct lexer *lexer, struct ctype_pool *pool,
				     struct ctype *base, bool named, struct declarator *ret)
{
	struct declarator declarator = { 0 };
	uint32_t column = lexer->token.column;
	TRY(parse_declarator_part(lexer, pool, base, named, &declarator));
	if (!named && declarator.name)
		return error_create(ERROR_USAGE, "column %u: a name in the midst of a type",
				    column);
	*ret = declarator;
	return NULL;
}

struct error *ctype_parse_name(struct lexer *lexer, struct ctype_pool *pool, struct ctype **ret)
{
	struct ctype *base;
	struct declarator declarator;
	TRY(ctype_parse_specifiers(lexer, pool, &base));
	TRY(ctype_parse_declarator(lexer, pool, base, false, &declarator));
	*ret = declarator.type;
	return NULL;
}
