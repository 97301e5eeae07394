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
	/* Without its type, a variable is still shown as bytes. */
	if (error)
		return error_only_fatal(error);
	*ret_type = typing.type;
	*ret_origin = typing.origin;
	typing_deinit(&typing);
	return NULL;
}

enum confidence origin_confidence(enum type_origin origin)
{
	switch (origin) {
	case ORIGIN_NONE:
		return CONFIDENCE_UNKNOWN;
	case ORIGIN_GUESSED:
		return CONFIDENCE_GUESS;
	case ORIGIN_INFERRED:
	case ORIGIN_DECLARED:
		return CONFIDENCE_INFERRED;
	default:
		return CONFIDENCE_CERTAIN;
	}
}

enum type_origin confidence_origin(enum confidence confidence)
{
	static const enum type_origin origins[] = {
		[CONFIDENCE_UNKNOWN] = ORIGIN_NONE,
		[CONFIDENCE_GUESS] = ORIGIN_GUESSED,
		[CONFIDENCE_INFERRED] = ORIGIN_INFERRED,
		[CONFIDENCE_CERTAIN] = ORIGIN_CERTAIN,
	};
	return origins[confidence];
}

const char *origin_remark(enum type_origin origin)
{
	bool is_plain = origin == ORIGIN_NONE || origin == ORIGIN_KERNEL ||
			origin == ORIGIN_MODULE || origin == ORIGIN_CERTAIN ||
			origin == ORIGIN_CAST;
	return is_plain ? NULL : type_origin_name(origin);
}

const char *origin_data_name(enum type_origin origin)
{
	bool is_inferred = origin == ORIGIN_CERTAIN || origin == ORIGIN_GUESSED;
	return type_origin_name(is_inferred ? ORIGIN_INFERRED : origin);
}

const char *origin_confidence_name(enum type_origin origin)
{
	return origin == ORIGIN_CAST ? NULL : confidence_name(origin_confidence(origin));
}
