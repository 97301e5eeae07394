// SPDX-License-Identifier: GPL-3.0-or-later
#include "btf/member_path.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX  24
#define VISITS_MAX 4096 /* of members, in unions of unions */

static void append_name(struct member_place *place, const char *name)
{
	size_t length = strlen(place->path);
	if (*name)
		snprintf(place->path + length, sizeof(place->path) - length, "%s%s",
			 length ? "." : "", name);
}

/* Does the member cover the byte? A bit-field covers every byte it has a bit in. */
static bool covers(const struct btf_type *record, const struct btf_member *member, uint64_t offset)
{
	uint64_t start = member->bit_offset / 8, size;
	if (offset < start)
		return false;
	if (member->bit_size)
		return offset < (member->bit_offset + (uint64_t)member->bit_size + 7) / 8;
	return type_size((struct type){ record->btf, member->type }, &size) &&
	       offset - start < size;
}

/* One step into a struct or union; false: padding. */
static bool enter_member(struct member_place *place, const struct btf_type *record, uint64_t *rest)
{
	struct btf_member member;
	for (uint32_t i = 0; btf_member(record, i, &member); i++) {
		if (!covers(record, &member, *rest))
			continue;
		append_name(place, member.name);
		place->in_union |= record->kind == BTF_UNION && record->vlen > 1;
		place->type = (struct type){ record->btf, member.type };
		place->start += member.bit_offset / 8;
		*rest -= member.bit_offset / 8;
		return true;
	}
	return false;
}

static bool enter_element(struct member_place *place, const struct btf_type *record, uint64_t *rest)
{
	struct type element = { record->btf, record->type };
	uint64_t size;
	if (!type_size(element, &size) || !size)
		return false;
	size_t length = strlen(place->path);
	snprintf(place->path + length, sizeof(place->path) - length, "[%" PRIu64 "]", *rest / size);
	place->type = element;
	place->start += *rest / size * size;
	*rest %= size;
	return true;
}

/* `whole`: no further than to the first struct or union that begins there and has a name of its
 * own, of its member or element. */
static void walk(struct type type, uint64_t offset, bool whole, struct member_place *ret)
{
	struct btf_type record;
	size_t length = 0;
	*ret = (struct member_place){ .type = type };
	for (int depth = 0; depth < DEPTH_MAX && type_get_resolved(ret->type, &record); depth++) {
		bool entered, is_compound = record.kind == BTF_STRUCT || record.kind == BTF_UNION;
		if (whole && is_compound && !offset && strlen(ret->path) > length)
			return;
		length = strlen(ret->path);
		if (is_compound)
			entered = enter_member(ret, &record, &offset);
		else if (record.kind == BTF_ARRAY)
			entered = enter_element(ret, &record, &offset);
		else
			return;
		if (!entered) {
			ret->is_padding = true;
			return;
		}
	}
}

void member_path_at(struct type type, uint64_t offset, struct member_place *ret)
{
	walk(type, offset, false, ret);
}

void member_path_whole_at(struct type type, uint64_t offset, struct member_place *ret)
{
	walk(type, offset, true, ret);
}

/* --- by type ------------------------------------------------------------------------------- */

static bool is_at(struct type type, uint64_t offset, struct type wanted, unsigned int *visits)
{
	struct btf_type record;
	struct btf_member member;
	uint64_t size;
	if (++*visits > VISITS_MAX || !type_get_resolved(type, &record))
		return false;
	if (!offset && type_equal(type_resolve(type), wanted))
		return true;
	if (record.kind == BTF_ARRAY) {
		struct type element = { record.btf, record.type };
		return type_size(element, &size) && size &&
		       is_at(element, offset % size, wanted, visits);
	}
	if (record.kind != BTF_STRUCT && record.kind != BTF_UNION)
		return false;
	for (uint32_t i = 0; btf_member(&record, i, &member); i++) {
		struct type inner = { record.btf, member.type };
		uint64_t start = member.bit_offset / 8;
		if (!member.bit_size && covers(&record, &member, offset) &&
		    is_at(inner, offset - start, wanted, visits))
			return true;
	}
	return false;
}

bool member_is_at(struct type type, uint64_t offset, struct type wanted)
{
	unsigned int visits = 0;
	return is_at(type, offset, type_resolve(wanted), &visits);
}

/* The member at the very end, however deep; returns its offset, bytes. */
static uint64_t last_member(struct type type, struct type *ret)
{
	struct btf_type record;
	struct btf_member member;
	uint64_t start = 0;
	for (int depth = 0; depth < DEPTH_MAX && type_get_resolved(type, &record); depth++) {
		if (record.kind != BTF_STRUCT || !record.vlen ||
		    !btf_member(&record, record.vlen - 1, &member))
			break;
		type = (struct type){ record.btf, member.type };
		start += member.bit_offset / 8;
	}
	*ret = type;
	return start;
}

uint64_t member_least_size(struct type type)
{
	struct type last;
	struct btf_type record;
	uint64_t start = last_member(type, &last), size;
	/* What it ends in is no buffer. */
	bool is_buffer = type_get_resolved(last, &record) &&
			 (record.kind == BTF_ARRAY || record.kind == BTF_UNION);
	return is_buffer || !type_size(last, &size) ? start : start + size;
}

bool member_is_open_ended(struct type type)
{
	struct type last;
	struct btf_type record;
	last_member(type, &last);
	return type_get_resolved(last, &record) && record.kind == BTF_ARRAY && !record.array_count;
}
