// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/export/dwarf_codes.h"
#include "debugger/export/types_private.h"
#include <stdlib.h>
#include <string.h>

#define TAGS_MAX  64
#define BITS_MAX  64 /* of a bit-field */
#define DAMAGED	  "btfcrash_damaged"
#define ARRAY_MAX (1ull << 40) /* bytes of an array that anything could have */

/* --- references ---------------------------------------------------------------------------- */

static bool has_entry(enum btf_kind kind)
{
	return kind != BTF_VOID && kind < BTF_KIND_COUNT && kind != BTF_TYPE_TAG &&
	       kind != BTF_FUNC && kind != BTF_VAR && kind != BTF_DATASEC && kind != BTF_DECL_TAG;
}

/* Tags have no entry: what they are of stands in their place. 0: that has none, either. */
static uint32_t without_tags(const struct btf *btf, uint32_t id)
{
	struct btf_type record;
	for (int i = 0; i < TAGS_MAX && id && btf_get(btf, id, &record); i++) {
		if (record.kind != BTF_TYPE_TAG)
			return has_entry(record.kind) ? id : 0;
		id = record.type;
	}
	return 0;
}

static const struct exported_types *level_of(const struct exported_types *types, uint32_t id)
{
	while (types && id < types->start)
		types = types->base;
	return types && id < types->end ? types : NULL;
}

/* In the first pass most are not known: they are written as they will be, but for the number. */
struct dwarf_type exported_reference(const struct exported_types *types, uint32_t id)
{
	id = without_tags(types->btf, id);
	const struct exported_types *level = id ? level_of(types, id) : NULL;
	if (!level || (level->needed && !level->needed[id - level->start]))
		return exported_void;
	enum dwarf_where where = level == types ? DWARF_HERE : DWARF_ELSEWHERE;
	return (struct dwarf_type){ where, level->offsets[id - level->start] };
}

/* --- one type ------------------------------------------------------------------------------ */

struct writing {
	struct exported_types *types;
	struct dwarf *dwarf;
};

static void begin(struct writing *writing, enum dwarf_entry entry)
{
	dwarf_entry(writing->dwarf, entry, exported_void);
}

static void write_damaged(struct dwarf *dwarf)
{
	dwarf_entry(dwarf, DWARF_UNSPECIFIED, exported_void);
	dwarf_name(dwarf, DAMAGED);
}

/* C's names of characters are the only sign of them in BTF. */
static uint8_t encoding_of(const struct btf_type *record)
{
	bool is_char = record->size == 1 && strstr(record->name, "char");
	bool is_signed = btf_int_is_signed(record);
	if (record->int_encoding & BTF_INT_BOOL)
		return DW_ATE_boolean;
	if (is_char)
		return is_signed ? DW_ATE_signed_char : DW_ATE_unsigned_char;
	return is_signed ? DW_ATE_signed : DW_ATE_unsigned;
}

void exported_base_write(struct dwarf *dwarf, const struct btf_type *record)
{
	if (!record->size || record->size > 32) {
		write_damaged(dwarf);
		return;
	}
	dwarf_entry(dwarf, DWARF_BASE_TYPE, exported_void);
	dwarf_name(dwarf, record->name);
	dwarf_byte(dwarf, (uint8_t)record->size);
	dwarf_byte(dwarf, record->kind == BTF_FLOAT ? DW_ATE_float : encoding_of(record));
}

/*
 * BTF has one record for `[]` and `[0]`, DWARF two ways to write it: a flexible array has no bound.
 * Such a record gets an entry of either kind; the one with a bound is among the derived types.
 */
static void write_empty_array(struct writing *writing, const struct btf_type *record)
{
	struct type type = { record->btf, record->id };
	uint32_t offset;
	uint32_t here = dwarf_entry(writing->dwarf, DWARF_ARRAY,
				    exported_reference(writing->types, record->type));
	dwarf_entry(writing->dwarf, DWARF_SUBRANGE, exported_void);
	dwarf_number(writing->dwarf, 0);
	dwarf_end_children(writing->dwarf);
	if (!derived_type_find(writing->types, type, &offset))
		derived_type_add(writing->types, writing->dwarf, type, here);
}

/* C allows a flexible array at the end of a struct only, and not alone. */
static struct dwarf_type member_type(struct writing *writing, const struct btf_type *whole,
				     const struct btf_member *member, uint32_t number)
{
	struct dwarf_type type = exported_reference(writing->types, member->type);
	uint32_t id = without_tags(writing->types->btf, member->type);
	const struct exported_types *level = level_of(writing->types, id);
	struct btf_type record;
	bool is_flexible = whole->kind == BTF_STRUCT && number && number + 1 == whole->vlen;
	if (!is_flexible && level && btf_get(level->btf, id, &record) && record.kind == BTF_ARRAY &&
	    !record.array_count)
		(void)derived_type_find(level, (struct type){ record.btf, id }, &type.offset);
	return type;
}

/* A debugger multiplies the lengths of arrays of arrays. */
static bool array_is_sane(struct type type)
{
	uint64_t size;
	return type_size(type, &size) && size <= ARRAY_MAX;
}

void exported_array_write(struct dwarf *dwarf, const struct btf_type *record,
			  struct dwarf_type element)
{
	bool has_bound = record->array_count &&
			 array_is_sane((struct type){ record->btf, record->id });
	dwarf_entry(dwarf, DWARF_ARRAY, element);
	dwarf_entry(dwarf, has_bound ? DWARF_SUBRANGE : DWARF_OPEN_SUBRANGE, exported_void);
	if (has_bound)
		dwarf_number(dwarf, record->array_count);
	dwarf_end_children(dwarf);
}

static void write_member(struct writing *writing, const struct btf_member *member,
			 struct dwarf_type type)
{
	struct dwarf *dwarf = writing->dwarf;
	bool has_name = *member->name;
	if (member->bit_size > BITS_MAX)
		return;
	if (member->bit_size) {
		dwarf_entry(dwarf, has_name ? DWARF_BITS : DWARF_NO_BITS, type);
		if (has_name)
			dwarf_name(dwarf, member->name);
		dwarf_number(dwarf, member->bit_size);
		dwarf_number(dwarf, member->bit_offset);
		return;
	}
	dwarf_entry(dwarf, has_name ? DWARF_MEMBER : DWARF_NO_MEMBER, type);
	if (has_name)
		dwarf_name(dwarf, member->name);
	dwarf_number(dwarf, member->bit_offset / 8);
}

static void write_record(struct writing *writing, const struct btf_type *record)
{
	struct btf_member member;
	bool is_union = record->kind == BTF_UNION;
	if (*record->name) {
		begin(writing, is_union ? DWARF_UNION : DWARF_STRUCT);
		dwarf_name(writing->dwarf, record->name);
	} else {
		begin(writing, is_union ? DWARF_NO_UNION : DWARF_NO_STRUCT);
	}
	dwarf_number(writing->dwarf, record->size);
	for (uint32_t i = 0; btf_member(record, i, &member); i++)
		write_member(writing, &member, member_type(writing, record, &member, i));
	dwarf_end_children(writing->dwarf);
}

static void write_enumerators(struct writing *writing, const struct btf_type *record)
{
	struct btf_enumerator enumerator;
	bool is_signed = btf_enum_is_signed(record);
	uint64_t mask = record->size < 8 ? (1ull << (8 * record->size)) - 1 : UINT64_MAX;
	for (uint32_t i = 0; btf_enumerator(record, i, &enumerator); i++) {
		begin(writing, is_signed ? DWARF_SIGNED : DWARF_UNSIGNED);
		dwarf_name(writing->dwarf, enumerator.name);
		if (is_signed)
			dwarf_signed(writing->dwarf, enumerator.value);
		else
			dwarf_number(writing->dwarf, (uint64_t)enumerator.value & mask);
	}
	dwarf_end_children(writing->dwarf);
}

static void write_enum(struct writing *writing, const struct btf_type *record)
{
	bool has_name = *record->name;
	if (!record->size || record->size > 8) {
		write_damaged(writing->dwarf);
		return;
	}
	if (has_name && !record->vlen)
		begin(writing, DWARF_FWD_ENUM);
	else
		begin(writing, has_name ? DWARF_ENUM : DWARF_NO_ENUM);
	if (has_name)
		dwarf_name(writing->dwarf, record->name);
	dwarf_byte(writing->dwarf, (uint8_t)record->size);
	if (!has_name || record->vlen)
		write_enumerators(writing, record);
}

static void write_forward(struct writing *writing, bool is_union, const char *name)
{
	begin(writing, is_union ? DWARF_FWD_UNION : DWARF_FWD_STRUCT);
	dwarf_name(writing->dwarf, name);
}

/* `...` is a last parameter without a type. */
static void write_parameters(const struct exported_types *types, struct dwarf *dwarf,
			     const struct btf_type *prototype, bool is_elsewhere)
{
	struct btf_param param;
	for (uint32_t i = 0; btf_param(prototype, i, &param); i++) {
		struct dwarf_type type = exported_reference(types, param.type);
		bool has_name = *param.name;
		if (!param.type) {
			dwarf_entry(dwarf, DWARF_ELLIPSIS, exported_void);
			continue;
		}
		if (is_elsewhere && type.where == DWARF_HERE)
			type.where = DWARF_ELSEWHERE;
		dwarf_entry(dwarf, has_name ? DWARF_PARAMETER : DWARF_NO_PARAMETER, type);
		if (has_name)
			dwarf_name(dwarf, param.name);
	}
	dwarf_end_children(dwarf);
}

static void write_modifier(struct writing *writing, const struct btf_type *record)
{
	struct dwarf_type type = exported_reference(writing->types, record->type);
	switch (record->kind) {
	case BTF_PTR:
		dwarf_entry(writing->dwarf, DWARF_POINTER, type);
		dwarf_byte(writing->dwarf, EXPORTED_POINTER_SIZE);
		break;
	case BTF_TYPEDEF:
		dwarf_entry(writing->dwarf, DWARF_TYPEDEF, type);
		dwarf_name(writing->dwarf, record->name);
		break;
	case BTF_CONST:
		dwarf_entry(writing->dwarf, DWARF_CONST, type);
		break;
	case BTF_VOLATILE:
		dwarf_entry(writing->dwarf, DWARF_VOLATILE, type);
		break;
	default:
		dwarf_entry(writing->dwarf, DWARF_RESTRICT, type);
		break;
	}
}

static void write_sound(struct writing *writing, const struct btf_type *record)
{
	switch (record->kind) {
	case BTF_INT:
	case BTF_FLOAT:
		exported_base_write(writing->dwarf, record);
		break;
	case BTF_ARRAY:
		exported_array_write(writing->dwarf, record,
				     exported_reference(writing->types, record->type));
		if (!record->array_count)
			write_empty_array(writing, record);
		break;
	case BTF_STRUCT:
	case BTF_UNION:
		write_record(writing, record);
		break;
	case BTF_ENUM:
	case BTF_ENUM64:
		write_enum(writing, record);
		break;
	case BTF_FWD:
		write_forward(writing, record->kind_flag, record->name);
		break;
	case BTF_FUNC_PROTO:
		dwarf_entry(writing->dwarf, DWARF_PROTOTYPE,
			    exported_reference(writing->types, record->type));
		write_parameters(writing->types, writing->dwarf, record, false);
		break;
	default:
		write_modifier(writing, record);
		break;
	}
}

/* --- a level ------------------------------------------------------------------------------- */

static void write_all(struct writing *writing)
{
	struct exported_types *types = writing->types;
	struct btf_type record;
	for (uint32_t id = types->start; id < types->end; id++) {
		uint32_t i = id - types->start;
		if (!btf_get(types->btf, id, &record) || !has_entry(record.kind) ||
		    (types->needed && !types->needed[i]))
			continue;
		types->offsets[i] = (uint32_t)writing->dwarf->info.size;
		if (types->needed && types->needed[i] == NEEDED_NAME && *record.name &&
		    (record.kind == BTF_STRUCT || record.kind == BTF_UNION))
			write_forward(writing, record.kind == BTF_UNION, record.name);
		else if (types->chain[i] && types->nesting[i])
			write_sound(writing, &record);
		else
			write_damaged(writing->dwarf);
	}
}

/* Twice: the first time tells where each type is. All lengths are the same the second time. */
static struct error *write_level(struct exported_types types, const char *name, struct dwarf *dwarf,
				 struct exported_types *ret)
{
	types.start = btf_start_id(types.btf);
	types.end = btf_end_id(types.btf);
	size_t count = types.end - types.start + 1;
	types.offsets = calloc(count, sizeof(*types.offsets));
	types.chain = calloc(count, 1);
	types.nesting = calloc(count, 1);
	if (!types.offsets || !types.chain || !types.nesting) {
		exported_types_deinit(&types);
		return error_no_memory();
	}
	struct writing writing = { &types, dwarf };
	exported_types_measure(&types, false);
	exported_types_measure(&types, true);
	dwarf_unit_begin(dwarf, name);
	write_all(&writing);
	dwarf_unit_drop(dwarf);
	dwarf_unit_begin(dwarf, name);
	write_all(&writing);
	*ret = types;
	return NULL;
}

struct error *exported_types_write(const struct btf *btf, const struct exported_types *base,
				   const char *name, struct dwarf *dwarf,
				   struct exported_types *ret)
{
	return write_level((struct exported_types){ .btf = btf, .base = base }, name, dwarf, ret);
}

struct error *exported_types_write_needed(const struct btf *btf, const uint8_t *needed,
					  const char *name, struct dwarf *dwarf,
					  struct exported_types *ret)
{
	return write_level((struct exported_types){ .btf = btf, .needed = needed }, name, dwarf,
			   ret);
}

void exported_types_deinit(struct exported_types *types)
{
	free(types->offsets);
	free(types->chain);
	free(types->nesting);
	free(types->derived);
	hash_index_deinit(&types->derived_index);
	*types = (struct exported_types){ 0 };
}

/* --- seen from outside --------------------------------------------------------------------- */

/* The level whose BTF holds a record; NULL: none that is written, as of derived types. */
const struct exported_types *exported_holder(const struct exported_types *types,
					     const struct btf *btf)
{
	while (types && types->btf != btf)
		types = types->base;
	return types;
}

bool exported_type_elsewhere(const struct exported_types *types, struct type type,
			     struct dwarf_type *ret)
{
	struct btf_type record;
	if (!type.id) {
		*ret = exported_void;
		return true;
	}
	if (!type_get(type, &record) || !exported_holder(types, record.btf))
		return false;
	*ret = exported_reference(types, record.id);
	if (ret->where == DWARF_HERE)
		ret->where = DWARF_ELSEWHERE;
	return true;
}

void exported_parameters(const struct exported_types *types, struct dwarf *dwarf,
			 const struct btf_type *prototype)
{
	write_parameters(types, dwarf, prototype, true);
}
