// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/symbol_type.h"

#include "debugger/declare/declare.h"
#include "debugger/target/object.h"

struct error *symbol_type(struct target *target, const struct symbol *symbol, struct type *ret_type,
			  enum type_origin *ret_origin)
{
	struct typing typing;
	TRY(declared_symbol_type(target, symbol, ret_type, ret_origin));
	if (*ret_origin != ORIGIN_NONE || !target->btf || !target->memory || !target->arch)
		return NULL;
	struct error *error = infer_symbol(target, NULL, symbol, false, &typing);
	if (error) {
		/* Without its type, a variable is still shown as bytes. */
		bool is_fatal = error->kind == ERROR_NO_MEMORY || error->kind == ERROR_INTERRUPTED;
		if (is_fatal)
			return error;
		error_free(error);
		return NULL;
	}
	*ret_type = typing.type;
	*ret_origin = typing.origin;
	typing_deinit(&typing);
	return NULL;
}
