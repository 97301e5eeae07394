// SPDX-License-Identifier: GPL-3.0-or-later
/* Type names as text; declarations live in declarations.c. */
#include "debugger/declare/declare.h"

#include "debugger/declare/ctype.h"
#include "debugger/target/object.h"
#include <string.h>

static struct error *parse_name(struct lexer *lexer, bool whole, struct ctype_pool *pool,
				struct ctype **ret)
{
	TRY(ctype_parse_name(lexer, pool, ret));
	if (whole && lexer->token.kind != TOKEN_END)
		return token_unexpected(&lexer->token, "the end of the type");
	return NULL;
}

struct error *declare_parse_type(struct target *target, const struct btf *near, const char *text,
				 size_t *ret_length, struct type *ret)
{
	struct lexer lexer;
	struct ctype_pool pool = { 0 };
	struct ctype *ctype = NULL;
	TRY(lexer_init(&lexer, text, strlen(text), false));
	struct error *error = parse_name(&lexer, !ret_length, &pool, &ctype);
	if (!error)
		error = ctype_resolve_anywhere(target, near, ctype, ret);
	if (!error && ret_length)
		*ret_length = lexer.token.text - text;
	ctype_pool_deinit(&pool);
	return error;
}

bool declare_is_type(struct target *target, const struct btf *near, const char *text,
		     struct type *ret)
{
	struct lexer lexer;
	struct ctype_pool pool = { 0 };
	struct ctype *ctype = NULL;
	struct error *error = lexer_init(&lexer, text, strlen(text), false);
	if (!error)
		error = parse_name(&lexer, true, &pool, &ctype);
	if (!error)
		error = ctype_resolve(target, near, ctype, 0, ret);
	ctype_pool_deinit(&pool);
	error_free(error);
	return !error;
}
