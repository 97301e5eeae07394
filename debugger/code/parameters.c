// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/code/parameters.h"

bool parameters_begin(struct parameters *parameters, const struct lowering *lowering,
		      struct type prototype)
{
	uint64_t size;
	*parameters = (struct parameters){ .lowering = lowering };
	struct btf_type *function = &parameters->function;
	if (!prototype.btf || !type_get_resolved(prototype, function) ||
	    function->kind != BTF_FUNC_PROTO)
		return false;
	/* A large result takes the first register for its address. */
	if (function->type && type_size((struct type){ function->btf, function->type }, &size) &&
	    size > 16)
		parameters->used = 1;
	return true;
}

bool parameters_next(struct parameters *parameters, struct parameter *ret)
{
	const struct lowering *lowering = parameters->lowering;
	struct btf_param param;
	uint64_t size;
	if (!btf_param(&parameters->function, parameters->next++, &param))
		return false;
	*ret = (struct parameter){ .name = param.name,
				   .type = { parameters->function.btf, param.type },
				   .first = parameters->used,
				   .reg = LOWER_NONE };
	if (!param.type || !type_size(ret->type, &size)) {
		parameters->takes_more = true;
		return false;
	}
	unsigned int count = size <= 8 ? 1 : size <= 16 ? 2 : 0;
	if (!count || parameters->used + count > lowering->argument_count)
		return true;
	ret->count = count;
	if (count == 1)
		ret->reg = lowering->arguments[parameters->used];
	parameters->used += count;
	return true;
}
