// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/whattype/shapes.h"

#include "base/array.h"
#include "btf/member_path.h"
#include "debugger/target/object.h"
#include <stdlib.h>

#define SLOTS_MAX    4096 /* pointers of one type */
#define ELEMENTS_MAX 256  /* of an array within a type */
#define DEPTH_MAX    16
#define VISITS_MAX   (1u << 18) /* members and elements of one type */

struct type shapes_lowest(struct type type)
{
	type = type_resolve(type);
	while (type.btf && type.id < btf_start_id(type.btf) && btf_base(type.btf))
		type.btf = btf_base(type.btf);
	return type;
}

static uint32_t type_hash(struct type type)
{
	uint64_t key[2] = { (uintptr_t)type.btf, type.id };
	return hash_bytes(key, sizeof(key));
}

static bool has_tag(struct type type)
{
	struct btf_type record;
	return type_get(type, &record) && *record.name;
}

struct error *shapes_find(struct shapes *shapes, struct type type, uint32_t *ret)
{
	uint64_t size;
	struct type shown = type_unqualified(type);
	type = shapes_lowest(type);
	*ret = SHAPE_NONE;
	if (!type.btf)
		return NULL;
	uint32_t hash = type_hash(type), number;
	size_t position = hash_index_first(&shapes->index, hash);
	while ((number = hash_index_next(&shapes->index, hash, &position)) != HASH_NONE)
		if (shapes->all[number].type.btf == type.btf &&
		    shapes->all[number].type.id == type.id) {
			*ret = number;
			return NULL;
		}
	if (!type_size(type, &size) || !size || size > UINT32_MAX)
		return NULL;
	if (!array_reserve(&shapes->all, &shapes->capacity, shapes->count + 1) ||
	    !hash_index_add(&shapes->index, hash, (uint32_t)shapes->count))
		return error_no_memory();
	*ret = (uint32_t)shapes->count;
	shapes->all[shapes->count++] = (struct shape){ .type = type,
						       .shown = has_tag(type) ? type : shown,
						       .size = (uint32_t)size,
						       .least = (uint32_t)member_least_size(type),
						       .alignment = type_alignment(type) };
	return NULL;
}

static struct error *add_slots(struct shapes *shapes, struct type type, uint64_t offset, int depth);

static bool is_compound(enum btf_kind kind)
{
	return kind == BTF_STRUCT || kind == BTF_UNION;
}

static struct error *add_pointer(struct shapes *shapes, const struct btf_type *pointer,
				 uint64_t offset)
{
	struct btf_type target;
	struct type type = { pointer->btf, pointer->type };
	uint32_t shape;
	if (!type_get_resolved(type, &target) || !is_compound(target.kind) ||
	    shapes->slot_count - shapes->laying >= SLOTS_MAX)
		return NULL;
	TRY(shapes_find(shapes, type, &shape));
	if (shape == SHAPE_NONE)
		return NULL;
	if (!array_reserve(&shapes->slots, &shapes->slot_capacity, shapes->slot_count + 1))
		return error_no_memory();
	shapes->slots[shapes->slot_count++] = (struct slot){ (uint32_t)offset, shape };
	return NULL;
}

static struct error *add_elements(struct shapes *shapes, const struct btf_type *array,
				  uint64_t offset, int depth)
{
	struct type element = { array->btf, array->type };
	struct btf_type record;
	uint64_t size;
	if (!type_get_resolved(element, &record) || !type_size(element, &size))
		return NULL;
	if (!is_compound(record.kind) && record.kind != BTF_PTR && record.kind != BTF_ARRAY)
		return NULL;
	/* Elements that take no room hold nothing, and nothing bounds how many they are. */
	for (uint32_t i = 0; size && i < array->array_count && i < ELEMENTS_MAX; i++)
		TRY(add_slots(shapes, element, offset + i * size, depth + 1));
	return NULL;
}

/* Unions are left out: which member is in use is not known. */
static struct error *add_slots(struct shapes *shapes, struct type type, uint64_t offset, int depth)
{
	struct btf_type record;
	struct btf_member member;
	if (depth > DEPTH_MAX || offset + 8 > SHAPE_BYTES || !shapes->visits ||
	    !type_get_resolved(type, &record))
		return NULL;
	shapes->visits--;
	switch (record.kind) {
	case BTF_PTR:
		return add_pointer(shapes, &record, offset);
	case BTF_ARRAY:
		return add_elements(shapes, &record, offset, depth);
	case BTF_STRUCT:
		for (uint32_t i = 0; btf_member(&record, i, &member); i++)
			if (!member.bit_size)
				TRY(add_slots(shapes, (struct type){ record.btf, member.type },
					      offset + member.bit_offset / 8, depth + 1));
		return NULL;
	default:
		return NULL;
	}
}

struct error *shapes_lay_out(struct shapes *shapes, uint32_t number)
{
	if (shapes->all[number].is_laid_out)
		return NULL;
	shapes->laying = shapes->slot_count;
	shapes->visits = VISITS_MAX;
	shapes->all[number].is_laid_out = true;
	TRY(add_slots(shapes, shapes->all[number].type, 0, 0));
	shapes->all[number].first = (uint32_t)shapes->laying;
	shapes->all[number].count = (uint32_t)(shapes->slot_count - shapes->laying);
	return NULL;
}

void shapes_deinit(struct shapes *shapes)
{
	free(shapes->all);
	free(shapes->slots);
	hash_index_deinit(&shapes->index);
}
