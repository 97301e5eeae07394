// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/layout/layout.h"

#include "base/array.h"
#include "base/hash.h"
#include "debugger/infer/layout/layout_outline.h"
#include <stdlib.h>
#include <string.h>

/* Nesting of structs, unions and arrays that is followed: hostile BTF nests without end. */
#define DEPTH_MAX 24

/* --- building ------------------------------------------------------------------------------ */

uint32_t layout_hash(const char *name, size_t length)
{
	return hash_bytes(name, length) | 1;
}

static bool add_field(struct layout *layout, uint32_t type, uint32_t offset, uint32_t bit_size)
{
	if (!array_reserve(&layout->fields, &layout->field_capacity, layout->field_count + 1))
		return false;
	layout->fields[layout->field_count++] =
		(struct field){ .type = type, .offset = offset, .bit_size = bit_size };
	return true;
}

static bool add_members(struct layout *layout, const struct btf_type *type)
{
	struct btf_member member;
	for (uint32_t i = 0; btf_member(type, i, &member); i++)
		if (!add_field(layout, member.type, member.bit_offset / 8, member.bit_size))
			return false;
	return true;
}

/* Fields have the ids that are written there as yet. */
static void mark_referred(struct layout *layout, const struct layout_record *record,
			  const struct btf_type *type)
{
	for (uint32_t i = 0; i < record->field_count; i++) {
		uint32_t target = layout->fields[record->first_field + i].type;
		if (target < layout->end)
			layout->records[target].is_referred = true;
	}
	bool names = type->kind == BTF_TYPEDEF || type->kind == BTF_VAR ||
		     type->kind == BTF_TYPE_TAG;
	if (names && type->type < layout->end)
		layout->records[type->type].is_referred = true;
}

static bool lay_out(struct layout *layout, uint32_t id, const struct btf_type *type)
{
	struct layout_record *record = &layout->records[id];
	record->kind = (uint8_t)type->kind;
	record->encoding = type->int_encoding;
	record->name = *type->name ? layout_hash(type->name, strlen(type->name)) : 0;
	record->first_field = (uint32_t)layout->field_count;
	record->holders = HOLDER_NONE;
	record->resolved = type_resolve((struct type){ layout->btf, id }).id;
	bool good = true;
	struct btf_param param;
	if (type->kind == BTF_FUNC_PROTO) {
		good = add_field(layout, type->type, 0, 0);
		for (uint32_t i = 0; good && btf_param(type, i, &param); i++)
			good = add_field(layout, param.type, i + 1, 0);
	} else if (type->kind == BTF_STRUCT || type->kind == BTF_UNION)
		good = add_members(layout, type);
	else if (type->kind == BTF_ARRAY)
		good = add_field(layout, type->type, type->array_count, 0);
	else if (type->kind == BTF_PTR)
		good = add_field(layout, type->type, 0, 0);
	record->field_count = (uint32_t)layout->field_count - record->first_field;
	mark_referred(layout, record, type);
	return good;
}

/* Needs all records: sizes of arrays, resolved ids of fields, typedefs of anonymous types. */
static void complete(struct layout *layout, uint32_t id)
{
	struct layout_record *record = &layout->records[id];
	uint64_t size;
	if (type_size((struct type){ layout->btf, id }, &size) && size < UINT32_MAX)
		record->size = (uint32_t)size;
	for (uint32_t i = 0; i < record->field_count; i++) {
		struct field *field = &layout->fields[record->first_field + i];
		field->type = layout_resolve(layout, field->type);
	}
	if (record->kind == BTF_PTR) {
		struct layout_record *target =
			&layout->records[layout->fields[record->first_field].type];
		if (!target->pointer)
			target->pointer = id;
	}
	struct btf_type type;
	if (record->kind == BTF_TYPEDEF && btf_get(layout->btf, record->resolved, &type) &&
	    !*type.name && type.kind != BTF_PTR && type.kind != BTF_ARRAY &&
	    !layout->records[record->resolved].named)
		layout->records[record->resolved].named = id;
}

static uint32_t layout_pointer(struct layout *layout, uint32_t target)
{
	return layout->records[layout_resolve(layout, target)].pointer;
}

/* `char *` and `const char *` become one: who holds the one may hold the other. */
static void join_pointers(struct layout *layout)
{
	for (uint32_t id = layout->first; id < layout->end; id++) {
		uint32_t target = layout->records[id].kind == BTF_PTR ? layout_target(layout, id)
								      : 0;
		if (target && !layout->records[target].pointer)
			layout->records[target].pointer = id;
	}
	for (uint32_t id = layout->first; id < layout->end; id++) {
		struct layout_record *record = &layout->records[id];
		const struct layout_record *resolved = &layout->records[record->resolved];
		if (resolved->kind == BTF_PTR)
			record->resolved =
				layout_pointer(layout, layout->fields[resolved->first_field].type);
	}
	for (size_t i = layout->first_field; i < layout->field_count; i++)
		layout->fields[i].type = layout_resolve(layout, layout->fields[i].type);
}

static bool same_fields(const struct layout *layout, const struct layout_record *a,
			const struct layout_record *b)
{
	if (a->kind != b->kind || a->field_count != b->field_count)
		return false;
	for (uint32_t i = 0; i < a->field_count; i++)
		if (layout->fields[a->first_field + i].type !=
		    layout->fields[b->first_field + i].type)
			return false;
	return true;
}

/* Prototypes that differ in the names of parameters only become one. */
static bool join_prototypes(struct layout *layout)
{
	struct hash_index index = { 0 };
	bool good = hash_index_init(&index, 32768);
	for (uint32_t id = 1; good && id < layout->end; id++) {
		struct layout_record *record = &layout->records[id];
		if (record->kind != BTF_FUNC_PROTO)
			continue;
		uint32_t hash = record->field_count, number;
		for (uint32_t i = 0; i < record->field_count; i++)
			hash = hash * 0x9e3779b1 + layout->fields[record->first_field + i].type;
		size_t position = hash_index_first(&index, hash);
		while ((number = hash_index_next(&index, hash, &position)) != HASH_NONE)
			if (same_fields(layout, record, &layout->records[number]))
				break;
		if (number != HASH_NONE)
			record->resolved = id < layout->first ? record->resolved : number;
		else
			good = hash_index_add(&index, hash, id);
	}
	hash_index_deinit(&index);
	for (uint32_t id = layout->first; id < layout->end; id++)
		layout->records[id].resolved = layout_resolve(layout, layout->records[id].resolved);
	for (size_t i = layout->first_field; i < layout->field_count; i++)
		layout->fields[i].type = layout_resolve(layout, layout->fields[i].type);
	return good;
}

/* Natural alignment, of compounds that of their members; remembered in the record. */
static uint32_t align(struct layout *layout, uint32_t id, int depth)
{
	struct layout_record *record = &layout->records[id];
	uint32_t best = 1;
	if (record->alignment || depth > DEPTH_MAX)
		return record->alignment ? record->alignment : 1;
	if (record->kind == BTF_ARRAY || layout_is_compound(layout, id)) {
		for (uint32_t i = 0; i < record->field_count; i++) {
			uint32_t type = layout->fields[record->first_field + i].type;
			uint32_t inner = align(layout, type, depth + 1);
			best = inner > best ? inner : best;
		}
	} else if (record->kind == BTF_PTR) {
		best = btf_pointer_size(layout->btf);
	} else if (record->size && record->size <= 16) {
		best = record->size & -record->size;
	}
	record->alignment = (uint16_t)best;
	return best;
}

static bool add_holder(struct layout *layout, uint32_t held, struct holder holder)
{
	if (!array_reserve(&layout->holders, &layout->holder_capacity, layout->holder_count + 1))
		return false;
	holder.next = layout->records[held].holders;
	layout->records[held].holders = (uint32_t)layout->holder_count;
	layout->records[held].held_by++;
	layout->holders[layout->holder_count++] = holder;
	return true;
}

static bool index_holders(struct layout *layout, uint32_t id)
{
	const struct layout_record *record = &layout->records[id];
	for (uint32_t i = 0; i < record->field_count; i++) {
		const struct field *field = &layout->fields[record->first_field + i];
		uint32_t held = field->type, count = 1;
		for (int depth = 0; layout_kind(layout, held) == BTF_ARRAY && depth < DEPTH_MAX;
		     depth++) {
			count = layout_array_count(layout, held);
			held = layout_target(layout, held);
		}
		enum btf_kind kind = layout_kind(layout, held);
		/* Integers and enums are members of nearly every struct: no use to list which. */
		if (field->bit_size || (kind != BTF_STRUCT && kind != BTF_UNION && kind != BTF_PTR))
			continue;
		if (!add_holder(layout, held,
				(struct holder){ .type = id,
						 .size = record->size,
						 .offset = field->offset,
						 .count = count }))
			return false;
	}
	return true;
}

/* Lists are walked by the million: each comes to lie in one piece. */
static bool sort_holders(struct layout *layout)
{
	struct holder *sorted = calloc(layout->holder_count + 1, sizeof(*sorted));
	uint32_t count = 0;
	if (!sorted)
		return false;
	for (uint32_t id = 0; id < layout->end; id++) {
		uint32_t from = layout->records[id].holders;
		if (layout->records[id].held_by)
			layout->records[id].holders = count;
		for (; from != HOLDER_NONE && layout->records[id].held_by;
		     from = layout->holders[from].next) {
			sorted[count] = layout->holders[from];
			sorted[count].next = count + 1;
			count++;
		}
		if (layout->records[id].held_by)
			sorted[count - 1].next = HOLDER_NONE;
	}
	free(layout->holders);
	layout->holders = sorted;
	layout->holder_capacity = layout->holder_count + 1;
	return true;
}

struct sized {
	uint32_t id, size;
};

/* Large ones first; of one size the lower ids, as without sorting. */
static int compare_sized(const void *left, const void *right)
{
	const struct sized *a = left, *b = right;
	if (a->size != b->size)
		return a->size < b->size ? 1 : -1;
	return a->id < b->id ? -1 : a->id > b->id;
}

/* Lists grow at their front: the smallest holder comes first, who looks for room stops early. */
static bool index_all_holders(struct layout *layout)
{
	struct sized *compounds = NULL;
	size_t count = 0, capacity = 0;
	bool good = true;
	layout->first_holder = layout->holder_count;
	for (uint32_t id = layout->first; good && id < layout->end; id++) {
		if (!layout_is_compound(layout, id))
			continue;
		good = array_reserve(&compounds, &capacity, count + 1);
		if (good)
			compounds[count++] = (struct sized){ id, layout->records[id].size };
	}
	array_sort(compounds, count, sizeof(*compounds), compare_sized);
	for (size_t i = 0; good && i < count; i++)
		good = index_holders(layout, compounds[i].id);
	free(compounds);
	if (!good || (!layout->first_holder && !sort_holders(layout)))
		return false;
	for (size_t i = 0; i < layout->holder_count; i++)
		layout->holders[i].upper = layout->records[layout->holders[i].type].holders;
	return true;
}

/* What the level below has laid out already. */
static bool copy_base(struct layout *layout, const struct layout *base)
{
	if (!array_reserve(&layout->fields, &layout->field_capacity, base->field_count + 1) ||
	    !array_reserve(&layout->holders, &layout->holder_capacity, base->holder_count + 1))
		return false;
	memcpy(layout->records, base->records, base->end * sizeof(*base->records));
	memcpy(layout->fields, base->fields, base->field_count * sizeof(*base->fields));
	memcpy(layout->holders, base->holders, base->holder_count * sizeof(*base->holders));
	layout->field_count = layout->first_field = base->field_count;
	layout->holder_count = base->holder_count;
	layout->first = base->end;
	return true;
}

static bool has_order(const struct layout *layout, uint32_t id)
{
	uint64_t end = 0;
	const struct field *field;
	for (uint32_t i = 0; (field = layout_field(layout, id, i)); i++) {
		if (field->offset < end)
			return false;
		end = (uint64_t)field->offset +
		      (field->bit_size ? 0 : layout_size(layout, field->type));
	}
	return layout_kind(layout, id) == BTF_STRUCT;
}

static bool build(struct layout *layout, const struct layout *base)
{
	struct btf_type type;
	layout->first = 1;
	layout->records[0].holders = HOLDER_NONE;
	if (base && !copy_base(layout, base))
		return false;
	for (uint32_t id = layout->first; id < layout->end; id++)
		if (btf_get(layout->btf, id, &type) && !lay_out(layout, id, &type))
			return false;
	for (uint32_t id = layout->first; id < layout->end; id++)
		complete(layout, id);
	/* Parameters may be pointers to functions: twice is deep enough. */
	for (int round = 0; round < 2; round++) {
		join_pointers(layout);
		if (!join_prototypes(layout))
			return false;
	}
	join_pointers(layout);
	if (!index_all_holders(layout))
		return false;
	for (uint32_t id = layout->first; id < layout->end; id++)
		align(layout, layout->records[id].resolved, 0);
	for (uint32_t id = layout->first; id < layout->end; id++)
		layout->records[id].is_ordered = has_order(layout, id);
	layout->list_head = layout_find(layout, BTF_STRUCT, "list_head");
	layout->hlist_node = layout_find(layout, BTF_STRUCT, "hlist_node");
	layout->raw_spinlock = layout_find(layout, BTF_STRUCT, "raw_spinlock");
	layout->rwlock = layout_find(layout, BTF_STRUCT, "qrwlock");
	layout->character = layout_find(layout, BTF_INT, "char");
	layout->cpumask = layout_find(layout, BTF_STRUCT, "cpumask");
	layout->spinlock = layout_find(layout, BTF_STRUCT, "spinlock");
	return true;
}

struct error *layout_create(const struct btf *btf, const struct layout *base, struct layout **ret)
{
	struct layout *layout = calloc(1, sizeof(*layout));
	if (!layout)
		return error_no_memory();
	layout->btf = btf;
	layout->end = btf_end_id(btf);
	if (base && (btf_base(btf) != base->btf || base->end > layout->end))
		base = NULL;
	layout->records = calloc((size_t)layout->end + 1, sizeof(*layout->records));
	if (!layout->records || !build(layout, base)) {
		layout_destroy(layout);
		return error_no_memory();
	}
	struct error *error =
		outlines_create(layout, base ? base->outlines : NULL, &layout->outlines);
	if (error) {
		layout_destroy(layout);
		return error;
	}
	*ret = layout;
	return NULL;
}

void layout_destroy(struct layout *layout)
{
	if (!layout)
		return;
	free(layout->records);
	free(layout->fields);
	free(layout->holders);
	outlines_destroy(layout->outlines);
	free(layout);
}

/* --- looking up ---------------------------------------------------------------------------- */

uint32_t layout_shown(const struct layout *layout, uint32_t id)
{
	return id < layout->end && layout->records[id].named ? layout->records[id].named : id;
}

bool layout_has_name(const struct layout *layout, uint32_t id)
{
	return id < layout->end && (layout->records[id].named || layout->records[id].name);
}

bool layout_is_declared(const struct layout *layout, uint32_t id)
{
	return layout_has_name(layout, id) ||
	       (layout_is_compound(layout, id) && !layout->records[id].is_referred);
}

/* The ids of modules, and those of scratch levels, begin with the same number. */
static bool is_of_view(const struct layout *layout, struct type type)
{
	const struct btf *level = type.btf, *view = layout->btf;
	while (level && type.id < btf_start_id(level))
		level = btf_base(level);
	while (view && view != level)
		view = btf_base(view);
	return view && type.id < layout->end;
}

uint32_t layout_id(const struct layout *layout, struct type type)
{
	if (!type.btf)
		return 0;
	if (is_of_view(layout, type))
		return layout->records[type.id].resolved;
	struct type target;
	type = type_resolve(type);
	if (is_of_view(layout, type))
		return type.id;
	if (!type_is_pointer(type) || !type_target(type, &target))
		return 0;
	uint32_t id = layout_id(layout, target);
	/* Of void, too: it has no id. */
	return id || !type_resolve(target).id ? layout->records[id].pointer : 0;
}

uint32_t layout_find(const struct layout *layout, enum btf_kind kind, const char *name)
{
	uint64_t cursor = 0;
	return layout_resolve(layout, btf_find(layout->btf, kind, name, &cursor));
}

/* --- comparing ----------------------------------------------------------------------------- */

static bool is_scalar(enum btf_kind kind)
{
	return kind == BTF_INT || kind == BTF_ENUM || kind == BTF_ENUM64;
}

static enum likeness compare_integers(const struct layout_record *a, const struct layout_record *b)
{
	if (a->size != b->size || a->kind != b->kind)
		return a->size == b->size ? LIKE_WEAKLY : LIKE_NOT;
	if (a->kind != BTF_INT)
		return LIKE_WEAKLY;
	/* `long` and `long long`, `char` and `signed char`: the same to the machine. */
	return (a->encoding & (BTF_INT_SIGNED | BTF_INT_BOOL)) ==
			       (b->encoding & (BTF_INT_SIGNED | BTF_INT_BOOL))
		       ? LIKE_EXACTLY
		       : LIKE_WEAKLY;
}

static bool same_name(const struct layout *layout, uint32_t a, uint32_t b)
{
	struct btf_type first, second;
	if (!layout->records[a].name || layout->records[a].name != layout->records[b].name)
		return false;
	return btf_get(layout->btf, a, &first) && btf_get(layout->btf, b, &second) &&
	       !strcmp(first.name, second.name);
}

static enum likeness compare_named(const struct layout *layout, uint32_t a, uint32_t b)
{
	const struct layout_record *one = &layout->records[a], *other = &layout->records[b];
	if (one->kind == BTF_FWD || other->kind == BTF_FWD)
		return same_name(layout, a, b) ? LIKE_EXACTLY : LIKE_NOT;
	if (one->size == other->size && one->kind == other->kind && same_name(layout, a, b))
		return LIKE_EXACTLY;
	/* raw_spinlock_t is all that spinlock_t holds without debugging. */
	if ((a == layout->spinlock && b == layout->raw_spinlock) ||
	    (b == layout->spinlock && a == layout->raw_spinlock))
		return LIKE_WEAKLY;
	return LIKE_NOT;
}

static enum likeness compare_deep(const struct layout *layout, uint32_t a, uint32_t b, int depth)
{
	if (a == b)
		return LIKE_EXACTLY;
	if (a >= layout->end || b >= layout->end || depth > DEPTH_MAX)
		return LIKE_NOT;
	const struct layout_record *one = &layout->records[a], *other = &layout->records[b];
	if (is_scalar(one->kind) && is_scalar(other->kind))
		return compare_integers(one, other);
	bool tagged = one->kind == BTF_FWD || other->kind == BTF_FWD ||
		      (layout_is_compound(layout, a) && layout_is_compound(layout, b));
	if (tagged)
		return compare_named(layout, a, b);
	if (one->kind != other->kind)
		return LIKE_NOT;
	if (one->kind == BTF_PTR) {
		uint32_t to = layout_target(layout, a), to_other = layout_target(layout, b);
		if (!to || !to_other)
			return LIKE_WEAKLY;
		return compare_deep(layout, to, to_other, depth + 1);
	}
	if (one->kind == BTF_ARRAY)
		return layout_array_count(layout, a) == layout_array_count(layout, b)
			       ? compare_deep(layout, layout_target(layout, a),
					      layout_target(layout, b), depth + 1)
			       : LIKE_NOT;
	if (one->kind == BTF_FUNC_PROTO)
		return layout_resolve(layout, a) == layout_resolve(layout, b) ? LIKE_EXACTLY
									      : LIKE_NOT;
	return LIKE_NOT;
}

enum likeness layout_compare(const struct layout *layout, uint32_t a, uint32_t b)
{
	return compare_deep(layout, a, b, 0);
}

/* --- by offset ------------------------------------------------------------------------------ */

/* Into the element that holds the offset; false: past the end. A count of 0 is open-ended. */
static bool enter_array(const struct layout *layout, uint32_t *id, uint32_t *offset)
{
	uint32_t element = layout_target(layout, *id), size = layout_size(layout, element);
	uint32_t count = layout_array_count(layout, *id);
	if (!size || (count && *offset / size >= count))
		return false;
	*id = element;
	*offset %= size;
	return true;
}

static bool field_covers(const struct layout *layout, const struct field *field, uint32_t offset)
{
	if (offset < field->offset)
		return false;
	uint32_t size = layout_size(layout, field->type);
	/* A flexible array lies behind the end. */
	return offset - field->offset < size || (!size && offset == field->offset);
}

/* The members from which on one may cover the offset: all, where they are in no order. */
static uint32_t first_that_covers(const struct layout *layout, uint32_t id, uint32_t offset)
{
	const struct layout_record *record = &layout->records[id];
	const struct field *fields = &layout->fields[record->first_field];
	if (!record->is_ordered)
		return 0;
	/* The last that begins before it, and those that begin there. */
	uint32_t first = array_bound(record->field_count, i, fields[i].offset < offset);
	return first ? first - 1 : 0;
}

static enum likeness match_deep(const struct layout *layout, uint32_t id, uint32_t offset,
				uint32_t wanted, int depth)
{
	enum likeness best = LIKE_NOT;
	for (; depth < DEPTH_MAX; depth++) {
		if (!offset) {
			enum likeness whole = layout_compare(layout, id, wanted);
			best = whole > best ? whole : best;
		}
		if (best == LIKE_EXACTLY)
			return best;
		if (layout_kind(layout, id) == BTF_ARRAY) {
			if (!enter_array(layout, &id, &offset))
				return best;
			continue;
		}
		const struct field *field;
		if (!layout_is_compound(layout, id))
			return best;
		for (uint32_t i = first_that_covers(layout, id, offset);
		     (field = layout_field(layout, id, i)); i++) {
			if (layout->records[id].is_ordered && field->offset > offset)
				break;
			if (!field_covers(layout, field, offset) || field->bit_size)
				continue;
			enum likeness inner = match_deep(layout, field->type,
							 offset - field->offset, wanted, depth + 1);
			if (inner > best)
				best = inner;
		}
		return best;
	}
	return best;
}

enum likeness layout_match(const struct layout *layout, uint32_t id, uint32_t offset,
			   uint32_t wanted)
{
	return match_deep(layout, id, offset, wanted, 0);
}

uint32_t layout_scalar_at(const struct layout *layout, uint32_t id, uint32_t offset,
			  uint32_t *ret_offset)
{
	uint32_t start = 0;
	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		if (layout_kind(layout, id) == BTF_ARRAY) {
			uint32_t before = offset;
			if (!enter_array(layout, &id, &offset))
				return 0;
			start += before - offset;
			continue;
		}
		if (!layout_is_compound(layout, id)) {
			*ret_offset = start;
			return offset < layout_size(layout, id) ? id : 0;
		}
		const struct field *field;
		uint32_t i = 0;
		while ((field = layout_field(layout, id, i)) &&
		       !field_covers(layout, field, offset))
			i++;
		if (!field || field->bit_size)
			return 0;
		id = field->type;
		offset -= field->offset;
		start += field->offset;
	}
	return 0;
}

static bool access_deep(const struct layout *layout, uint32_t id, uint32_t offset, uint32_t size,
			int depth)
{
	for (; depth < DEPTH_MAX; depth++) {
		if (layout_kind(layout, id) == BTF_ARRAY) {
			if (!enter_array(layout, &id, &offset))
				return false;
			continue;
		}
		const struct field *field;
		if (!layout_is_compound(layout, id))
			return !offset && layout_size(layout, id) == size;
		for (uint32_t i = 0; (field = layout_field(layout, id, i)); i++) {
			/* Bit-fields are read in whatever unit the compiler likes. */
			if (field->bit_size
				    ? offset <= field->offset && field->offset < offset + size
				    : field_covers(layout, field, offset) &&
					      access_deep(layout, field->type,
							  offset - field->offset, size, depth + 1))
				return true;
		}
		return false;
	}
	return false;
}

bool layout_access_fits(const struct layout *layout, uint32_t id, uint32_t offset, uint32_t size)
{
	return access_deep(layout, id, offset, size, 0);
}
