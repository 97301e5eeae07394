// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * How many members a struct has, with those of the structs and unions in it. Everybody who walks
 * into them visits so many, so it is bounded here, once for all: of a kernel's structs none holds
 * 5,000, but a few hundred records of n members each, one in the other, are n^16. What walks over
 * all globals does so for each of them.
 */
#include "btf/level.h"

#include <stdlib.h>

#define MEMBERS_MAX 16384
#define TOTAL_MAX   (16u << 20) /* of all structs of a level; a kernel's have 300,000 */
#define UNDER_WAY   UINT32_MAX	/* or beyond the bounds: what holds itself is both */

static uint32_t count_struct(const struct nesting *nesting, const struct btf *btf, uint32_t id,
			     int depth);

/*
 * The struct or union that a type is, or that the elements of an array are; 0: neither. More
 * elements than can be counted are UINT64_MAX.
 */
static uint32_t find_struct(const struct btf *btf, uint32_t id, uint64_t *ret_elements)
{
	*ret_elements = 1;
	for (int steps = 0; steps < CHAIN_MAX; steps++) {
		struct btf_type type;
		id = type_resolve((struct type){ btf, id }).id;
		if (!btf_get(btf, id, &type))
			return 0;
		if (type.kind == BTF_STRUCT || type.kind == BTF_UNION) {
			/* Elements that take no room are as many as it says. */
			*ret_elements = type.size ? 1 : *ret_elements;
			return id;
		}
		if (type.kind != BTF_ARRAY)
			return 0;
		if (__builtin_mul_overflow(*ret_elements, type.array_count, ret_elements))
			*ret_elements = UINT64_MAX;
		id = type.type;
	}
	return 0;
}

/* Adds what a member counts; false: they become too many. */
static bool add_member(const struct nesting *nesting, const struct btf *btf, uint32_t type,
		       int depth, uint32_t *total)
{
	uint64_t elements;
	uint32_t id = find_struct(btf, type, &elements), count = 0;
	if (id)
		count = count_struct(nesting, btf, id, depth + 1);
	if (count == UNDER_WAY || (count && elements > MEMBERS_MAX / count) ||
	    *total + count * elements + 1 > MEMBERS_MAX)
		return false;
	*total += (uint32_t)(count * elements) + 1;
	return true;
}

static uint32_t count_struct(const struct nesting *nesting, const struct btf *btf, uint32_t id,
			     int depth)
{
	struct btf_type type;
	const struct btf *level = level_of(btf, id);
	uint32_t *known = level->nested + (id - level->start_id), total = 1;
	bool is_first = true;
	if (*known || depth > NESTING_MAX || !btf_get(level, id, &type))
		return *known ? *known : UNDER_WAY;
	*known = UNDER_WAY;
	for (uint32_t i = 0; i < type.vlen; i++) {
		const uint8_t *word = type.payload + (size_t)i * MEMBER_SIZE + 4;
		if (level->lazy->nested_total <= TOTAL_MAX &&
		    add_member(nesting, level, level_u32(level, word), depth, &total))
			continue;
		if (!nesting)
			return UNDER_WAY;
		nesting->drop(nesting->context, &type, word, is_first);
		is_first = false;
	}
	level->lazy->nested_total += total;
	return *known = total;
}

bool nesting_init(struct btf *btf)
{
	btf->lazy->nested_total = 0;
	free(btf->nested);
	btf->nested = calloc((size_t)btf->end_id - btf->start_id + 1, sizeof(*btf->nested));
	return btf->nested;
}

bool nesting_is_sane(const struct btf_type *type)
{
	return count_struct(NULL, type->btf, type->id, 0) != UNDER_WAY;
}

void nesting_mend(const struct nesting *nesting, const struct btf_type *type)
{
	count_struct(nesting, type->btf, type->id, 0);
}
