// SPDX-License-Identifier: GPL-3.0-or-later
/* The two questions that come by the million: are two types alike, and what lies at an offset. */
#include "base/array.h"
#include "debugger/infer/layout/layout.h"

#include <string.h>

/* Nesting of structs, unions and arrays that is followed: hostile BTF nests without end. */
#define DEPTH_MAX 24

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
