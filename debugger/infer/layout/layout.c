// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/layout/layout.h"

#include "base/array.h"
#include "debugger/infer/layout/layout_outline.h"
#include "debugger/infer/layout/layout_private.h"
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

struct layout_record *layout_change(struct layout *layout, uint32_t id)
{
	struct changes *changes = &layout->changes;
	if (id < layout->first) {
		if (array_reserve(&changes->ids, &changes->capacity, changes->count + 1))
			changes->ids[changes->count++] = id;
		else
			changes->failed = true;
	}
	return &layout->records[id];
}

static void refer(struct layout *layout, uint32_t id)
{
	if (id < layout->end && !layout->records[id].is_referred)
		layout_change(layout, id)->is_referred = true;
}

/* Fields have the ids that are written there as yet. */
static void mark_referred(struct layout *layout, const struct layout_record *record,
			  const struct btf_type *type)
{
	for (uint32_t i = 0; i < record->field_count; i++)
		refer(layout, layout->fields[record->first_field + i].type);
	if (type->kind == BTF_TYPEDEF || type->kind == BTF_VAR || type->kind == BTF_TYPE_TAG)
		refer(layout, type->type);
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
		uint32_t target = layout->fields[record->first_field].type;
		if (!layout->records[target].pointer)
			layout_change(layout, target)->pointer = id;
	}
	struct btf_type type;
	if (record->kind == BTF_TYPEDEF && btf_get(layout->btf, record->resolved, &type) &&
	    !*type.name && type.kind != BTF_PTR && type.kind != BTF_ARRAY &&
	    !layout->records[record->resolved].named)
		layout_change(layout, record->resolved)->named = id;
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
			layout_change(layout, target)->pointer = id;
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

/* Of `const struct key_type *const types[]`, too, and of names for what is const. */
static void mark_constants(struct layout *layout)
{
	for (uint32_t id = layout->first; id < layout->end; id++) {
		uint32_t type = layout->records[id].resolved;
		if (layout->records[id].kind != BTF_CONST)
			continue;
		for (int depth = 0; depth < DEPTH_MAX && layout_kind(layout, type) == BTF_ARRAY;
		     depth++)
			type = layout_target(layout, type);
		if (!layout->records[type].has_const)
			layout_change(layout, type)->has_const = true;
	}
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

static uint32_t hash_prototype(const struct layout *layout, const struct layout_record *record)
{
	uint32_t hash = record->field_count;
	for (uint32_t i = 0; i < record->field_count; i++)
		hash = hash * 0x9e3779b1 + layout->fields[record->first_field + i].type;
	return hash;
}

static uint32_t find_prototype(const struct layout *layout, const struct hash_index *index,
			       const struct layout_record *record, uint32_t hash)
{
	uint32_t number;
	size_t position = hash_index_first(index, hash);
	while ((number = hash_index_next(index, hash, &position)) != HASH_NONE)
		if (same_fields(layout, record, &layout->records[number]))
			break;
	return number;
}

/* Prototypes that differ in the names of parameters only become one if `joins`. */
static bool index_prototypes(struct layout *layout, bool joins)
{
	bool good = true;
	hash_index_deinit(&layout->prototypes);
	for (uint32_t id = layout->first; good && id < layout->end; id++) {
		struct layout_record *record = &layout->records[id];
		if (record->kind != BTF_FUNC_PROTO)
			continue;
		uint32_t hash = hash_prototype(layout, record), number = HASH_NONE;
		if (layout->base)
			number = find_prototype(layout, &layout->base->prototypes, record, hash);
		if (number == HASH_NONE)
			number = find_prototype(layout, &layout->prototypes, record, hash);
		if (number == HASH_NONE)
			good = hash_index_add(&layout->prototypes, hash, id);
		else if (joins)
			record->resolved = number;
	}
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
	struct layout_record *record = layout_change(layout, held);
	holder.next = record->holders;
	record->holders = (uint32_t)layout->holder_count;
	record->held_by++;
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

/* Those of the base may have holders of this level by now. */
static bool raise_holders(struct layout *layout)
{
	uint8_t *is_changed = calloc(layout->first / 8 + 1, 1);
	if (!is_changed)
		return false;
	for (size_t i = 0; i < layout->changes.count; i++)
		is_changed[layout->changes.ids[i] / 8] |= 1u << layout->changes.ids[i] % 8;
	for (size_t i = 0; i < layout->first_holder; i++) {
		uint32_t type = layout->holders[i].type;
		if (is_changed[type / 8] >> type % 8 & 1)
			layout->holders[i].upper = layout->records[type].holders;
	}
	free(is_changed);
	return true;
}

/* Lists grow at their front: the smallest holder comes first, who looks for room stops early. */
static bool index_all_holders(struct layout *layout)
{
	struct sized *compounds = NULL;
	size_t count = 0, capacity = 0;
	bool good = true;
	for (uint32_t id = layout->first; good && id < layout->end; id++) {
		if (!layout_is_compound(layout, id) || layout->records[id].resolved != id)
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
	for (size_t i = layout->first_holder; i < layout->holder_count; i++)
		layout->holders[i].upper = layout->records[layout->holders[i].type].holders;
	return !layout->first_holder || raise_holders(layout);
}

/* What the level below has laid out already. */
static bool copy_base(struct layout *layout, const struct layout *base)
{
	if (!array_reserve(&layout->records, &layout->record_capacity, base->end + 1) ||
	    !array_reserve(&layout->fields, &layout->field_capacity, base->field_count + 1) ||
	    !array_reserve(&layout->holders, &layout->holder_capacity, base->holder_count + 1))
		return false;
	memcpy(layout->records, base->records, base->end * sizeof(*base->records));
	memcpy(layout->fields, base->fields, base->field_count * sizeof(*base->fields));
	memcpy(layout->holders, base->holders, base->holder_count * sizeof(*base->holders));
	layout->base = base;
	layout->first_field = base->field_count;
	layout->first_holder = base->holder_count;
	layout->first = base->end;
	return true;
}

/* Back to what copy_base() made. */
static bool forget_own(struct layout *layout)
{
	for (size_t i = 0; i < layout->changes.count; i++)
		layout->records[layout->changes.ids[i]] =
			layout->base->records[layout->changes.ids[i]];
	bool good = !layout->changes.failed && raise_holders(layout);
	layout->changes.count = 0;
	return good;
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

static bool build(struct layout *layout)
{
	struct btf_type type;
	if (!array_reserve(&layout->records, &layout->record_capacity, layout->end + 1))
		return false;
	memset(layout->records + layout->first, 0,
	       (layout->end + 1 - layout->first) * sizeof(*layout->records));
	layout->field_count = layout->first_field;
	layout->holder_count = layout->first_holder;
	for (uint32_t id = layout->first; id < layout->end; id++)
		if (btf_get(layout->btf, id, &type) && !lay_out(layout, id, &type))
			return false;
	if (!layout_join_copies(layout))
		return false;
	for (uint32_t id = layout->first; id < layout->end; id++)
		complete(layout, id);
	/* Parameters may be pointers to functions: twice is deep enough. */
	for (int round = 0; round < 2; round++) {
		join_pointers(layout);
		if (!index_prototypes(layout, true))
			return false;
	}
	join_pointers(layout);
	/* As others find them. */
	if (!layout->base && !index_prototypes(layout, false))
		return false;
	mark_constants(layout);
	if (!index_all_holders(layout) || layout->changes.failed)
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

static struct layout *create(const struct layout *base)
{
	struct layout *layout = calloc(1, sizeof(*layout));
	if (!layout)
		return NULL;
	layout->first = 1;
	if (base ? copy_base(layout, base)
		 : array_reserve(&layout->records, &layout->record_capacity, 1)) {
		if (!base)
			*layout->records = (struct layout_record){ .holders = HOLDER_NONE };
		return layout;
	}
	layout_destroy(layout);
	return NULL;
}

struct error *layout_replace(const struct btf *btf, const struct layout *base,
			     struct layout **layout)
{
	struct layout *own = *layout;
	*layout = NULL;
	if (own && (own->base != base || !forget_own(own))) {
		layout_destroy(own);
		own = NULL;
	}
	if (!own)
		own = create(base);
	if (!own)
		return error_no_memory();
	own->btf = btf;
	own->end = btf_end_id(btf);
	struct error *error =
		build(own) ? outlines_create(own, base ? base->outlines : NULL, &own->outlines)
			   : error_no_memory();
	if (error)
		layout_destroy(own);
	else
		*layout = own;
	return error;
}

struct error *layout_create(const struct btf *btf, const struct layout *base, struct layout **ret)
{
	if (base && (btf_base(btf) != base->btf || base->end > btf_end_id(btf)))
		base = NULL;
	*ret = NULL;
	return layout_replace(btf, base, ret);
}

void layout_destroy(struct layout *layout)
{
	if (!layout)
		return;
	free(layout->records);
	free(layout->fields);
	free(layout->holders);
	free(layout->changes.ids);
	hash_index_deinit(&layout->prototypes);
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
		return layout->records[type.id].resolved;
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
