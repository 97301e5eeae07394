// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * How deep types go, so that what goes deeper, or in a circle, is left out. Depths are found by
 * going over all types again until nothing changes: hostile BTF costs ROUNDS_MAX times its length,
 * and no recursion.
 */
#include "debugger/export/types_private.h"

#define ROUNDS_MAX 64

struct depths {
	struct exported_types *types;
	bool by_value;
	uint8_t deepest; /* of what was asked for, + 1 */
	bool ready;
};

static void ask(struct depths *depths, uint32_t id)
{
	const struct exported_types *level = depths->types;
	while (level && id < level->start && level->base)
		level = level->base;
	if (!id)
		return;
	uint8_t depth = 0;
	if (id >= level->start && id < level->end)
		depth = (depths->by_value ? level->nesting : level->chain)[id - level->start];
	depths->ready &= depth && depth <= EXPORT_DEPTH_MAX;
	if (depth > depths->deepest)
		depths->deepest = depth;
}

static void ask_members(struct depths *depths, const struct btf_type *record)
{
	struct btf_member member;
	for (uint32_t i = 0; depths->ready && btf_member(record, i, &member); i++)
		ask(depths, member.type);
}

static void ask_parameters(struct depths *depths, const struct btf_type *record)
{
	struct btf_param param;
	ask(depths, record->type);
	for (uint32_t i = 0; depths->ready && btf_param(record, i, &param); i++)
		ask(depths, param.type);
}

static uint8_t depth_of(struct exported_types *types, const struct btf_type *record, bool by_value)
{
	struct depths depths = { .types = types, .by_value = by_value, .ready = true };
	switch (record->kind) {
	case BTF_TYPEDEF:
	case BTF_VOLATILE:
	case BTF_CONST:
	case BTF_RESTRICT:
	case BTF_TYPE_TAG:
	case BTF_ARRAY:
		ask(&depths, record->type);
		break;
	case BTF_PTR:
		if (!by_value)
			ask(&depths, record->type);
		break;
	case BTF_FUNC_PROTO:
		if (!by_value)
			ask_parameters(&depths, record);
		break;
	case BTF_STRUCT:
	case BTF_UNION:
		if (by_value)
			ask_members(&depths, record);
		break;
	default:
		break;
	}
	return depths.ready ? (uint8_t)(depths.deepest + 1) : 0;
}

void exported_types_measure(struct exported_types *types, bool by_value)
{
	uint8_t *depth = by_value ? types->nesting : types->chain;
	bool changed = true;
	struct btf_type record;
	for (int round = 0; changed && round < ROUNDS_MAX; round++) {
		changed = false;
		for (uint32_t id = types->start; id < types->end; id++) {
			uint8_t *known = &depth[id - types->start];
			if (*known || !btf_get(types->btf, id, &record))
				continue;
			*known = depth_of(types, &record, by_value);
			changed |= *known != 0;
		}
	}
}
