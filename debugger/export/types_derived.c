// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Types that have more entries than BTF has records. A derived type is in the scratch level of
 * whoever asked for it: one and the same may be of the kernel's and of a module's, by the order of
 * questions, and is written once.
 */
#include "base/array.h"
#include "debugger/export/dwarf_codes.h"
#include "debugger/export/types_private.h"

#define DERIVED_MAX 16 /* types that BTF does not spell out, within each other */

/* Of how the type is derived, and from which that BTF does spell out. */
static uint32_t hash_type(const struct exported_types *types, struct type type)
{
	struct btf_type record;
	uint32_t hash = 0;
	for (int depth = 0; depth < DERIVED_MAX && type_get(type, &record); depth++) {
		uint32_t words[] = { hash, record.kind, record.array_count, record.id };
		bool is_derived = !exported_holder(types, record.btf);
		if (is_derived)
			words[3] = 0;
		hash = hash_bytes(words, sizeof(words));
		if (!is_derived)
			break;
		type = (struct type){ record.btf, record.type };
	}
	return hash;
}

bool derived_type_find(const struct exported_types *types, struct type type, uint32_t *ret)
{
	uint32_t hash = hash_type(types, type);
	size_t position = hash_index_first(&types->derived_index, hash);
	for (uint32_t i;
	     (i = hash_index_next(&types->derived_index, hash, &position)) != HASH_NONE;) {
		const struct derived_type *derived = &types->derived[i];
		if (type_equal(derived->type, type)) {
			*ret = derived->offset;
			return true;
		}
	}
	return false;
}

bool derived_type_add(struct exported_types *types, struct dwarf *dwarf, struct type type,
		      uint32_t offset)
{
	uint32_t number = (uint32_t)types->derived_count;
	if (!array_reserve(&types->derived, &types->derived_capacity, types->derived_count + 1) ||
	    !hash_index_add(&types->derived_index, hash_type(types, type), number)) {
		dwarf->failed = true;
		return false;
	}
	types->derived[types->derived_count++] = (struct derived_type){ type, offset };
	return true;
}

static bool type_within(struct exported_types *types, struct dwarf *dwarf, struct type type,
			int depth, struct dwarf_type *ret);

static bool write_derived_prototype(struct exported_types *types, struct dwarf *dwarf,
				    const struct btf_type *record, struct dwarf_type result,
				    int depth, uint32_t *ret)
{
	struct dwarf_type params[16];
	struct btf_param param;
	uint32_t count = 0;
	for (; btf_param(record, count, &param); count++) {
		struct type type = { record->btf, param.type };
		if (count >= ARRAY_COUNT(params) || !param.type ||
		    !type_within(types, dwarf, type, depth + 1, &params[count]))
			return false;
	}
	*ret = dwarf_entry(dwarf, DWARF_PROTOTYPE, result);
	for (uint32_t i = 0; i < count; i++)
		dwarf_entry(dwarf, DWARF_NO_PARAMETER, params[i]);
	dwarf_end_children(dwarf);
	return true;
}

static bool write_derived(struct exported_types *types, struct dwarf *dwarf,
			  const struct btf_type *record, int depth, uint32_t *ret)
{
	struct dwarf_type target;
	if (record->kind == BTF_INT) {
		*ret = (uint32_t)dwarf->info.size;
		exported_base_write(dwarf, record);
		return true;
	}
	if (!type_within(types, dwarf, (struct type){ record->btf, record->type }, depth + 1,
			 &target))
		return false;
	switch (record->kind) {
	case BTF_PTR:
		*ret = dwarf_entry(dwarf, DWARF_POINTER, target);
		dwarf_byte(dwarf, EXPORTED_POINTER_SIZE);
		return true;
	case BTF_CONST:
		*ret = dwarf_entry(dwarf, DWARF_CONST, target);
		return true;
	case BTF_VOLATILE:
		*ret = dwarf_entry(dwarf, DWARF_VOLATILE, target);
		return true;
	case BTF_RESTRICT:
		*ret = dwarf_entry(dwarf, DWARF_RESTRICT, target);
		return true;
	case BTF_ARRAY:
		*ret = (uint32_t)dwarf->info.size;
		exported_array_write(dwarf, record, target);
		return true;
	case BTF_FUNC_PROTO:
		return write_derived_prototype(types, dwarf, record, target, depth, ret);
	default:
		return false;
	}
}

static bool type_within(struct exported_types *types, struct dwarf *dwarf, struct type type,
			int depth, struct dwarf_type *ret)
{
	struct btf_type record;
	uint32_t offset;
	if (!type.id) {
		*ret = exported_void;
		return true;
	}
	if (!type.btf || depth > DERIVED_MAX || !type_get(type, &record))
		return false;
	if (exported_holder(types, record.btf)) {
		*ret = exported_reference(types, record.id);
		return ret->where != DWARF_VOID;
	}
	struct type held = { record.btf, record.id };
	if (!derived_type_find(types, held, &offset) &&
	    (!write_derived(types, dwarf, &record, depth, &offset) ||
	     !derived_type_add(types, dwarf, held, offset)))
		return false;
	*ret = (struct dwarf_type){ DWARF_HERE, offset };
	return true;
}

bool exported_type(struct exported_types *types, struct dwarf *dwarf, struct type type,
		   struct dwarf_type *ret)
{
	return type.id && type_within(types, dwarf, type, 0, ret);
}
