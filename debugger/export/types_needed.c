// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What the file of a module needs of the kernel's types. Pointers would lead to nearly all of them:
 * a struct behind one is an incomplete type, which debuggers complete by its name from the file of
 * the kernel.
 */
#include "base/array.h"
#include "debugger/export/types.h"
#include <stdlib.h>

#define DERIVED_MAX 16 /* types that BTF does not spell out, within each other */

static void need(struct needed_types *needed, struct type type, enum needed how, int depth);

static void need_members(struct needed_types *needed, const struct btf_type *record, int depth)
{
	struct btf_member member;
	for (uint32_t i = 0; btf_member(record, i, &member); i++)
		need(needed, (struct type){ record->btf, member.type }, NEEDED_WHOLE, depth);
}

static void need_parameters(struct needed_types *needed, const struct btf_type *record, int depth)
{
	struct btf_param param;
	need(needed, (struct type){ record->btf, record->type }, NEEDED_NAME, depth);
	for (uint32_t i = 0; btf_param(record, i, &param); i++)
		need(needed, (struct type){ record->btf, param.type }, NEEDED_NAME, depth);
}

/* What an entry of the record refers to. */
static void need_parts(struct needed_types *needed, const struct btf_type *record, enum needed how,
		       int depth)
{
	struct type target = { record->btf, record->type };
	switch (record->kind) {
	case BTF_PTR:
		need(needed, target, NEEDED_NAME, depth);
		break;
	case BTF_TYPEDEF:
	case BTF_VOLATILE:
	case BTF_CONST:
	case BTF_RESTRICT:
	case BTF_TYPE_TAG:
		need(needed, target, how, depth);
		break;
	case BTF_ARRAY:
	case BTF_FUNC:
		need(needed, target, NEEDED_WHOLE, depth);
		break;
	case BTF_STRUCT:
	case BTF_UNION:
		if (how == NEEDED_WHOLE)
			need_members(needed, record, depth);
		break;
	case BTF_FUNC_PROTO:
		need_parameters(needed, record, depth);
		break;
	default:
		break;
	}
}

static void need(struct needed_types *needed, struct type type, enum needed how, int depth)
{
	struct btf_type record;
	if (!type.id || !type.btf || depth > DERIVED_MAX || !type_get(type, &record))
		return;
	/* All of the level are written. */
	if (record.btf == needed->level)
		return;
	if (record.btf != needed->base) {
		need_parts(needed, &record, how, depth + 1);
		return;
	}
	if (!*record.name && (record.kind == BTF_STRUCT || record.kind == BTF_UNION))
		how = NEEDED_WHOLE;
	uint8_t *known = &needed->how[record.id - btf_start_id(needed->base)];
	if (*known >= how)
		return;
	*known = (uint8_t)how;
	if (!array_reserve(&needed->stack, &needed->stack_capacity, needed->stack_count + 1))
		needed->failed = true;
	else
		needed->stack[needed->stack_count++] = record.id;
}

/* Each type comes here twice at most. */
static void need_all_parts(struct needed_types *needed)
{
	struct btf_type record;
	while (needed->stack_count) {
		uint32_t id = needed->stack[--needed->stack_count];
		if (btf_get(needed->base, id, &record))
			need_parts(needed, &record,
				   (enum needed)needed->how[id - btf_start_id(needed->base)], 0);
	}
}

struct error *needed_types_init(struct needed_types *needed, const struct btf *base,
				const struct btf *level)
{
	struct btf_type record;
	*needed = (struct needed_types){ .base = base, .level = level };
	needed->how = calloc((size_t)btf_end_id(base) - btf_start_id(base) + 1, 1);
	if (!needed->how)
		return error_no_memory();
	for (uint32_t id = btf_start_id(level); id < btf_end_id(level); id++)
		if (btf_get(level, id, &record))
			need_parts(needed, &record, NEEDED_WHOLE, 0);
	need_all_parts(needed);
	return needed->failed ? error_no_memory() : NULL;
}

void needed_types_deinit(struct needed_types *needed)
{
	free(needed->how);
	free(needed->stack);
	*needed = (struct needed_types){ 0 };
}

void needed_types_add(struct needed_types *needed, struct type type)
{
	need(needed, type, NEEDED_WHOLE, 0);
	need_all_parts(needed);
}
