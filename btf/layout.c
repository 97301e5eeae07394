// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What the offsets of members tell: holes, packing, forced alignment. The rules are those of
 * dwarves 1.24 (btf_loader.c, dwarves.c), odd ones too, as their results are compared.
 */
#include "btf/layout.h"

#include "base/array.h"
#include <stdlib.h>

/* Structs nested deeper count as having no alignment: no compiler's, and stacks end. */
#define DEPTH_MAX 256

/* Of a struct or union, by id. */
struct fact {
	uint32_t alignment; /* natural; 0: not known */
	uint32_t padding;
	bool is_open; /* being looked at further up: a type that contains itself */
	bool knows_holes, has_holes;
	bool knows_packing, is_packed;
};

struct btf_layouts {
	const struct btf *btf;
	struct fact *facts;
	uint32_t count;
	struct fact beyond; /* for ids that do not exist */
};

struct btf_layouts *btf_layouts_create(const struct btf *btf)
{
	struct btf_layouts *layouts = calloc(1, sizeof(*layouts));
	if (!layouts)
		return NULL;
	layouts->btf = btf;
	layouts->count = btf_end_id(btf);
	layouts->facts = calloc(layouts->count, sizeof(*layouts->facts));
	if (!layouts->facts) {
		free(layouts);
		return NULL;
	}
	return layouts;
}

void btf_layouts_destroy(struct btf_layouts *layouts)
{
	if (!layouts)
		return;
	free(layouts->facts);
	free(layouts);
}

void btf_layout_deinit(struct btf_record_layout *layout)
{
	free(layout->members);
	*layout = (struct btf_record_layout){ 0 };
}

static struct fact *fact_of(struct btf_layouts *layouts, uint32_t id)
{
	return id < layouts->count ? &layouts->facts[id] : &layouts->beyond;
}

/* --- natural alignment ------------------------------------------------------- */

static uint32_t alignment_of(struct btf_layouts *layouts, struct type type, int depth);

static uint32_t aggregate_alignment(struct btf_layouts *layouts, const struct btf_type *record,
				    int depth)
{
	struct fact *fact = fact_of(layouts, record->id);
	struct btf_member member;
	uint32_t most = 1;
	if (fact->alignment)
		return fact->alignment;
	if (fact->is_open || depth > DEPTH_MAX)
		return 1;
	fact->is_open = true;
	for (uint32_t i = 0; btf_member(record, i, &member); i++) {
		struct type type = { layouts->btf, member.type };
		uint32_t own = alignment_of(layouts, type, depth + 1);
		most = own > most ? own : most;
	}
	fact->is_open = false;
	return fact->alignment = most;
}

static uint32_t alignment_of(struct btf_layouts *layouts, struct type type, int depth)
{
	struct btf_type record = { 0 };
	if (depth > DEPTH_MAX || !type_get_resolved(type, &record))
		return 1;
	switch (record.kind) {
	case BTF_PTR:
		return btf_pointer_size(layouts->btf);
	case BTF_INT:
	case BTF_FLOAT:
	case BTF_ENUM:
	case BTF_ENUM64:
		return record.size ? record.size : 1;
	case BTF_ARRAY:
		return alignment_of(layouts, (struct type){ layouts->btf, record.type }, depth + 1);
	case BTF_STRUCT:
	case BTF_UNION:
		return aggregate_alignment(layouts, &record, depth);
	default:
		return 1;
	}
}

uint32_t btf_layout_natural_alignment(struct btf_layouts *layouts, struct type type)
{
	return alignment_of(layouts, type, 0);
}

/*
 * The alignment that put something at `offset` when it could have come at `earliest`; 0 when the
 * type's own explains it.
 */
static uint32_t forced_alignment(uint32_t offset, uint32_t natural, uint32_t earliest)
{
	uint32_t gap = offset > earliest ? offset - earliest : 0;
	if (!gap || offset % 2 || gap >> 31)
		return 0;
	uint32_t alignment = 1;
	while (alignment <= gap)
		alignment *= 2;
	if (alignment <= natural)
		return 0;
	/* Most likely what the source says, and a smaller one would do as well. */
	if (alignment < CACHE_LINE && offset % CACHE_LINE == 0)
		return CACHE_LINE;
	return alignment;
}

/* --- places ------------------------------------------------------------------ */

static bool holds_bits(const struct btf_type *record)
{
	return record->kind == BTF_INT || record->kind == BTF_FLOAT || record->kind == BTF_ENUM ||
	       record->kind == BTF_ENUM64;
}

/* Takes *earliest for the end of the member before, and leaves that of this one. */
static void place_member(struct btf_layouts *layouts, const struct btf_member *member,
			 uint32_t *earliest, struct btf_layout_member *ret)
{
	struct btf_type resolved = { 0 };
	*ret = (struct btf_layout_member){
		.name = member->name,
		.type = { layouts->btf, member->type },
		.bit_offset = member->bit_offset,
		.bit_size = member->bit_size,
		.offset = member->bit_offset / 8,
	};
	if (!type_get_resolved(ret->type, &resolved) || !type_size(ret->type, &ret->size) ||
	    !ret->size)
		return;
	if (ret->bit_size && holds_bits(&resolved)) {
		uint32_t unit = (uint32_t)ret->size * 8;
		ret->offset = ret->bit_offset / unit * (unit / 8);
		ret->first_bit = ret->bit_offset % unit;
	}
	ret->alignment =
		forced_alignment(ret->offset, alignment_of(layouts, ret->type, 0), *earliest);
	*earliest = ret->offset + (uint32_t)ret->size;
}

/* --- holes ------------------------------------------------------------------- */

/* Where the walk over the members is, in bits. */
struct hole_walk {
	int64_t end; /* of what is taken */
	/* Of the unit that the bit-fields at hand share. */
	bool in_unit;
	int64_t unit_end, unit_size;
};

/* The hole before a member. */
static void find_hole(struct hole_walk *walk, const struct btf_layout_member *member,
		      int64_t *ret_bits, int64_t *ret_bytes)
{
	int64_t start = member->bit_offset;
	*ret_bits = *ret_bytes = 0;
	if (walk->in_unit) {
		int64_t end = start < walk->unit_end ? start : walk->unit_end;
		*ret_bits = end - walk->end;
		walk->end = end;
	}
	if (!member->bit_size) {
		*ret_bytes = start / 8 - walk->end / 8;
		return;
	}
	int64_t unit = (int64_t)member->offset * 8;
	if (walk->end < unit && unit <= start) {
		*ret_bytes = member->offset - walk->end / 8;
		walk->end = unit;
	}
	*ret_bits += start - walk->end;
}

static void pass_member(struct hole_walk *walk, const struct btf_layout_member *member)
{
	int64_t size = (int64_t)(member->size & UINT32_MAX) * 8;
	walk->end = member->bit_offset + (member->bit_size ? (int64_t)member->bit_size : size);
	walk->in_unit = member->bit_size;
	if (!member->bit_size) {
		walk->unit_size = 0;
		walk->unit_end = walk->end;
	} else if (walk->end > walk->unit_end || size > walk->unit_size) {
		walk->unit_size = size;
		walk->unit_end = (int64_t)member->offset * 8 + size;
		/* It began in the unit before. */
		if (walk->end > walk->unit_end)
			walk->unit_end += size;
	}
}

static uint64_t at_least_none(int64_t count)
{
	return count > 0 ? (uint64_t)count : 0;
}

static void find_holes(struct btf_record_layout *layout)
{
	struct hole_walk walk = { .unit_end = (int64_t)layout->size * 8 };
	int64_t bits, bytes, size = (int64_t)layout->size;
	for (uint32_t i = 0; i < layout->count; i++) {
		find_hole(&walk, &layout->members[i], &bits, &bytes);
		pass_member(&walk, &layout->members[i]);
		*(i ? &layout->members[i - 1].hole : &layout->hole) = at_least_none(bytes);
		*(i ? &layout->members[i - 1].bit_hole : &layout->bit_hole) =
			(uint32_t)at_least_none(bits);
		layout->hole_count += bytes > 0;
		layout->bit_hole_count += bits > 0;
	}
	if (walk.in_unit) {
		int64_t end = walk.unit_end < size * 8 ? walk.unit_end : size * 8;
		layout->bit_padding = (uint32_t)at_least_none(end - walk.end);
		walk.end = end;
	}
	layout->padding = at_least_none(size - walk.end / 8);
}

struct error *btf_layout_find(struct btf_layouts *layouts, const struct btf_type *record,
			      struct btf_record_layout *ret)
{
	struct btf_record_layout layout = { .size = record->size };
	struct btf_member member;
	uint32_t earliest = 0;
	layout.members = calloc(record->vlen ? record->vlen : 1, sizeof(*layout.members));
	if (!layout.members)
		return error_no_memory();
	for (; btf_member(record, layout.count, &member); layout.count++)
		place_member(layouts, &member, &earliest, &layout.members[layout.count]);
	layout.alignment =
		forced_alignment(record->size, aggregate_alignment(layouts, record, 0), earliest);
	if (record->kind == BTF_STRUCT)
		find_holes(&layout);
	struct fact *fact = fact_of(layouts, record->id);
	fact->padding = (uint32_t)layout.padding;
	fact->has_holes = layout.hole_count;
	fact->knows_holes = true;
	*ret = layout;
	return NULL;
}

uint64_t btf_layout_padding(struct btf_layouts *layouts, struct type type)
{
	struct btf_type record = { 0 };
	struct btf_record_layout layout;
	if (!type_get(type, &record) || record.kind != BTF_STRUCT)
		return 0;
	struct fact *fact = fact_of(layouts, record.id);
	if (!fact->knows_holes) {
		struct error *error = btf_layout_find(layouts, &record, &layout);
		if (error)
			error_free(error);
		else
			btf_layout_deinit(&layout);
	}
	return fact->padding;
}

/* --- packing ----------------------------------------------------------------- */

static void note_packed(struct btf_layouts *layouts, const struct btf_type *record)
{
	struct fact *fact = fact_of(layouts, record->id);
	fact->is_packed = fact->knows_packing = true;
}

/* Structs that lie where their members could not, had they not been packed. */
static void note_misplaced(struct btf_layouts *layouts, const struct btf_record_layout *layout)
{
	struct btf_type inner = { 0 };
	for (uint32_t i = 0; i < layout->count; i++) {
		const struct btf_layout_member *member = &layout->members[i];
		if (type_get_resolved(member->type, &inner) && inner.kind == BTF_STRUCT &&
		    member->offset % aggregate_alignment(layouts, &inner, 0))
			note_packed(layouts, &inner);
	}
}

static bool must_be_packed(struct btf_layouts *layouts, const struct btf_record_layout *layout)
{
	uint32_t most = 1;
	for (uint32_t i = 0; i < layout->count; i++) {
		uint32_t own = alignment_of(layouts, layout->members[i].type, 0);
		if (layout->members[i].offset % own)
			return true;
		most = own > most ? own : most;
	}
	return layout->size % most;
}

bool btf_layout_is_packed(struct btf_layouts *layouts, const struct btf_type *record)
{
	struct fact *fact = fact_of(layouts, record->id);
	struct btf_record_layout layout;
	if (record->kind != BTF_STRUCT)
		return false;
	if (fact->knows_packing)
		return fact->is_packed;
	struct error *error = btf_layout_find(layouts, record, &layout);
	if (error) {
		error_free(error);
		return false;
	}
	if (layout.padding || layout.hole_count) {
		note_misplaced(layouts, &layout);
		fact->is_packed = false;
	} else {
		fact->is_packed = must_be_packed(layouts, &layout);
	}
	fact->knows_packing = true;
	btf_layout_deinit(&layout);
	return fact->is_packed;
}

void btf_layout_note_union(struct btf_layouts *layouts, const struct btf_type *record)
{
	struct fact *fact = fact_of(layouts, record->id);
	struct btf_member member;
	struct btf_type inner = { 0 };
	if (fact->knows_packing)
		return;
	for (uint32_t i = 0; btf_member(record, i, &member); i++) {
		struct type type = { layouts->btf, member.type };
		if (type_get_resolved(type, &inner) && inner.kind == BTF_STRUCT &&
		    record->size % aggregate_alignment(layouts, &inner, 0))
			note_packed(layouts, &inner);
	}
	fact->knows_packing = true;
}
