// SPDX-License-Identifier: GPL-3.0-or-later
/* What begins with a type: casts and sizeof, and whether "(" opens one. */
#include "debugger/eval/parse.h"

#include "debugger/declare/ctype.h"
#include "debugger/target/object.h"
#include <string.h>

/* --- is it a type? -------------------------------------------------------------------------- */

bool parse_is_typeof(const struct token *token)
{
	return token_is(token, "typeof") || token_is(token, "__typeof__") ||
	       token_is(token, "__typeof");
}

static bool copy_name(const struct token *token, char *buffer, size_t size)
{
	if (token->length >= size)
		return false;
	memcpy(buffer, token->text, token->length);
	buffer[token->length] = 0;
	return true;
}

static bool has_typedef(const struct btf *btf, const struct token *token)
{
	char name[CTYPE_NAME_SIZE];
	uint64_t cursor = 0;
	return btf && copy_name(token, name, sizeof(name)) &&
	       btf_find(btf, BTF_TYPEDEF, name, &cursor) != 0;
}

static bool has_typedef_in_modules(struct target *target, const struct token *token)
{
	const struct module *modules;
	size_t count = target_modules(target, &modules);
	for (size_t i = 0; i < count; i++)
		if (has_typedef(target_module_btf(target, &modules[i]), token))
			return true;
	return false;
}

/* A symbol of the kernel, or what is one of its own words here. */
static bool has_value(struct target *target, const struct token *token)
{
	char name[NODE_NAME_SIZE];
	struct symbol symbol;
	uint64_t cursor = 0;
	if (!copy_name(token, name, sizeof(name)))
		return false;
	return *name == '$' || symtab_find(target->symbols, NULL, name, &cursor, &symbol) ||
	       !strcmp(name, "current");
}

static bool has_enumerator(struct target *target, const struct token *token)
{
	char name[NODE_NAME_SIZE];
	struct btf_enumerator enumerator;
	uint32_t id;
	return target->btf && copy_name(token, name, sizeof(name)) &&
	       btf_find_enumerator(target->btf, name, &id, &enumerator);
}

/* What can begin an operand but cannot continue one: "(x) 1", "(x) y", "(x) ~y". */
static bool begins_operand_only(const struct token *token)
{
	return token->kind == TOKEN_NAME || token->kind == TOKEN_NUMBER ||
	       token->kind == TOKEN_STRING || token->kind == '(' || token->kind == '~' ||
	       token->kind == '!';
}

/* How the parentheses go on that a name stands first in. */
struct outlook {
	bool pointer; /* "(name *" */
	bool closes;  /* ")" follows */
	bool operand; /* and then what can only be cast */
};

static struct outlook look_ahead(const struct lexer *at)
{
	struct lexer ahead = *at;
	struct outlook outlook = { 0 };
	struct error *error = lexer_next(&ahead);
	while (!error && ahead.token.kind == '*') {
		outlook.pointer = true;
		error = lexer_next(&ahead);
	}
	outlook.closes = !error && ahead.token.kind == ')';
	if (outlook.closes)
		error = lexer_next(&ahead);
	outlook.operand = outlook.closes && !error && begins_operand_only(&ahead.token);
	error_free(error);
	return outlook;
}

/* "(name)" or "(name *)": a typedef's name, unless it is a variable's and reads like one. */
static bool is_type_name(struct parser *parser, const struct lexer *at)
{
	struct target *target = parser->target;
	struct outlook outlook = look_ahead(at);
	/* "name *)" is nothing else, whoever knows the name. */
	if (outlook.closes && outlook.pointer)
		return true;
	if (has_typedef(target->btf, &at->token))
		return !has_value(target, &at->token) || !outlook.closes || outlook.operand;
	if (!outlook.closes || has_value(target, &at->token) || has_enumerator(target, &at->token))
		return false;
	/* Nobody's name: what follows says that a type was meant, or a module has it. */
	return outlook.operand || has_typedef_in_modules(target, &at->token);
}

struct error *parse_opens_type(struct parser *parser, bool *ret)
{
	struct lexer ahead = parser->lexer;
	*ret = false;
	if (ahead.token.kind != '(')
		return NULL;
	TRY(lexer_next(&ahead));
	if (ahead.token.kind == TOKEN_NAME)
		*ret = ctype_is_keyword(&ahead.token) || parse_is_typeof(&ahead.token) ||
		       is_type_name(parser, &ahead);
	return NULL;
}

/* --- names of types ------------------------------------------------------------------------- */

/* An operand of sizeof or typeof: nothing of it asks for several results. */
static struct error *parse_unevaluated(struct parser *parser, bool enclosed, struct node **ret)
{
	bool all_cpus = parser->tree.all_cpus;
	size_t slices = parser->tree.slice_count;
	TRY(enclosed ? parse_enclosed(parser, ')', "\")\"", ret) : parse_unary(parser, ret));
	parser->tree.all_cpus = all_cpus;
	parser->tree.slice_count = slices;
	if ((*ret)->kind == NODE_SLICE)
		(*ret)->is_whole = true;
	return NULL;
}

/* "(type)", from the opening parenthesis on. */
static struct error *parse_enclosed_type(struct parser *parser, struct type *ret)
{
	TRY(parse_advance(parser));
	TRY(parse_type_name(parser, ret));
	return parse_expect(parser, ')', "\")\"");
}

/* typeof(expression) or typeof(type). */
static struct error *parse_typeof(struct parser *parser, struct type *ret)
{
	struct token word = parser->lexer.token;
	struct evaluation evaluation = { .scope = parser->scope,
					 .target = parser->target,
					 .types_only = 1 };
	struct node *operand = NULL;
	struct value value;
	bool is_type;
	TRY(parse_advance(parser));
	if (parser->lexer.token.kind != '(')
		return parse_unexpected(parser, "\"(\"");
	TRY(parse_opens_type(parser, &is_type));
	if (is_type)
		return parse_enclosed_type(parser, ret);
	TRY(parse_unevaluated(parser, true, &operand));
	TRY(expression_walk(&evaluation, operand, &value));
	if (!value.type.btf)
		return error_create(ERROR_USAGE, "column %u: its type is not known", word.column);
	if (value.bit_size)
		return error_create(ERROR_USAGE, "column %u: typeof a bit-field", word.column);
	*ret = value.type;
	return NULL;
}

/* "[sizeof(long) * 2]": what stands in the brackets of a type. */
static struct error *parse_length(void *context, struct lexer *lexer, uint64_t *ret)
{
	struct parser *parser = context;
	struct evaluation evaluation = { .scope = parser->scope, .target = parser->target };
	struct node *node = NULL;
	struct value value;
	bool all_cpus = parser->tree.all_cpus;
	size_t slices = parser->tree.slice_count;
	uint32_t column = lexer->token.column;
	TRY(parse_conditional(parser, &node));
	TRY(expression_walk(&evaluation, node, &value));
	TRY(value_u64(&value, ret));
	if (parser->tree.all_cpus != all_cpus || parser->tree.slice_count != slices)
		return error_create(ERROR_USAGE, "column %u: a length is one number", column);
	if (value_is_signed(&value) && (int64_t)*ret < 0)
		return error_create(ERROR_USAGE, "column %u: a length is not negative", column);
	return NULL;
}

static struct error *parse_written_type(struct parser *parser, struct ctype_pool *pool,
					struct type *ret)
{
	struct ctype known = { .kind = CTYPE_KNOWN };
	struct ctype *ctype;
	if (parse_is_typeof(&parser->lexer.token)) {
		struct declarator declarator;
		TRY(parse_typeof(parser, &known.known));
		TRY(ctype_parse_declarator(&parser->lexer, pool, &known, false, &declarator));
		ctype = declarator.type;
	} else {
		TRY(ctype_parse_name(&parser->lexer, pool, &ctype));
	}
	return ctype_resolve_anywhere(parser->target, NULL, ctype, ret);
}

struct error *parse_type_name(struct parser *parser, struct type *ret)
{
	struct ctype_pool pool = { .keeps_qualifiers = true,
				   .evaluate = parse_length,
				   .context = parser };
	/* typeof(typeof(... */
	if (++parser->depth > PARSE_DEPTH_MAX)
		return parse_too_deep(parser);
	struct error *error = parse_written_type(parser, &pool, ret);
	ctype_pool_deinit(&pool);
	parser->depth--;
	return error;
}

/* --- casts and sizeof ------------------------------------------------------------------------ */

struct error *parse_cast(struct parser *parser, struct node **ret)
{
	struct node *node = NULL, *operand = NULL;
	TRY(node_create(parser, NODE_CAST, &parser->lexer.token, &node));
	TRY(parse_enclosed_type(parser, &node->type));
	TRY(parse_unary(parser, &operand));
	*ret = node;
	return node_adopt(node, 0, operand);
}

struct error *parse_sizeof(struct parser *parser, struct node **ret)
{
	struct node *node = NULL, *operand = NULL;
	bool is_type;
	TRY(node_create(parser, NODE_SIZEOF, &parser->lexer.token, &node));
	*ret = node;
	TRY(parse_advance(parser));
	TRY(parse_opens_type(parser, &is_type));
	if (is_type) {
		node->kind = NODE_SIZEOF_TYPE;
		return parse_enclosed_type(parser, &node->type);
	}
	TRY(parse_unevaluated(parser, false, &operand));
	return node_adopt(node, 0, operand);
}
