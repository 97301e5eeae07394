// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Look-up by name. Three names of four are functions', which are rarely asked for, so they have
 * an index of their own; and the first few questions are answered by scanning, which costs less
 * than an index does. Names are compared where they lie: BTF may share the tails of strings, so
 * equal names need not have equal offsets.
 *
 * Not base/hash.h: BTF full of one name would fill one run of its slots. Chains by id take any
 * number of equal names, in order, for 4 bytes a type.
 */
#include "btf/btf.h"

#include "base/hash.h"
#include "btf/level.h"
#include <stdlib.h>
#include <string.h>

/*
 * Scans before an index is built. Measured on Linux 6.12 (107,000 types): a scan for a missing
 * struct takes 0.35 ms, one that hits half of that, the index of types 1.3 ms; for functions
 * (47,000) 0.65 and 2.1 ms.
 */
#define SCANS_MAX 4

static bool kind_matches(enum btf_kind wanted, enum btf_kind kind)
{
	return kind == wanted || (wanted == BTF_ENUM && kind == BTF_ENUM64);
}

/* Records of a level from a blob, which is what is searched. */
static inline const uint8_t *record_at(const struct btf *btf, uint32_t id)
{
	return btf->types + btf->offsets[id - btf->start_id];
}

/* Where in a record the byte with its kind is. */
static inline size_t kind_offset(const struct btf *btf)
{
	return btf->big_endian ? 4 : 7;
}

static inline enum btf_kind record_kind(const uint8_t *record, size_t kind_offset)
{
	return (enum btf_kind)(record[kind_offset] & 0x7f);
}

static inline const char *record_name(const struct btf *btf, const uint8_t *record)
{
	uint32_t offset = level_u32(btf, record);
	if (offset >= btf->string_start && offset - btf->string_start < btf->string_size)
		return btf->strings + (offset - btf->string_start);
	return btf_string(btf, offset);
}

static inline bool record_is(const struct btf *btf, const uint8_t *record, enum btf_kind kind,
			     const char *name)
{
	if (!kind_matches(kind, record_kind(record, kind_offset(btf))))
		return false;
	const char *found = record_name(btf, record);
	return *found == *name && !strcmp(found, name);
}

/* --- the index ------------------------------------------------------------------ */

/*
 * The bits that an id of the level leaves free in a link hold as many of its name's hash: most
 * names that are asked for are no type's, and end there, before a record and its name are read.
 */
static uint32_t link_mask(const struct btf *btf)
{
	uint32_t bits = 1;
	while (bits < 31 && btf->end_id >> bits)
		bits++;
	return ((uint32_t)1 << bits) - 1;
}

/* From the last id down, so that each chain ascends. False: no memory, scanning goes on. */
static bool build_index(const struct btf *btf, struct name_index *index, bool functions)
{
	struct btf_lazy *lazy = btf->lazy;
	uint32_t count = btf->end_id - btf->start_id, size = 16;
	if (!lazy->next)
		lazy->next = calloc(count, sizeof(*lazy->next));
	/* Of a kernel's types half are functions, and an eighth has another name: most chains of
	 * those are empty, for most names that are asked for are no type's. */
	while (size < count / 2)
		size *= 2;
	uint32_t *heads = lazy->next ? calloc(size, sizeof(*heads)) : NULL;
	if (!heads)
		return false;
	size_t kind_at = kind_offset(btf);
	uint32_t ids = link_mask(btf);
	for (uint32_t id = btf->end_id; id-- > btf->start_id;) {
		const uint8_t *record = record_at(btf, id);
		if ((record_kind(record, kind_at) == BTF_FUNC) != functions)
			continue;
		const char *name = record_name(btf, record);
		if (!name[0])
			continue;
		uint32_t hash = hash_string(name), *head = &heads[hash & (size - 1)];
		lazy->next[id - btf->start_id] = *head;
		*head = (hash & ~ids) | id;
	}
	*index = (struct name_index){ .heads = heads, .mask = size - 1, .ids = ids };
	return true;
}

/* --- look-up --------------------------------------------------------------------- */

struct query {
	enum btf_kind kind;
	const char *name;
	uint32_t hash;
};

static uint32_t scan(const struct btf *btf, const struct query *query, uint32_t from)
{
	for (uint32_t id = from; id < btf->end_id; id++)
		if (record_is(btf, record_at(btf, id), query->kind, query->name))
			return id;
	return 0;
}

/* The first id above `after` (0, or one that was found) in this level; 0: none. */
static uint32_t find_in_level(const struct btf *btf, const struct query *query, uint32_t after)
{
	bool functions = query->kind == BTF_FUNC;
	struct name_index *index = functions ? &btf->lazy->functions : &btf->lazy->types;
	if (!index->heads && (index->scans++ < SCANS_MAX || !build_index(btf, index, functions)))
		return scan(btf, query, after ? after + 1 : btf->start_id);
	uint32_t link = after ? btf->lazy->next[after - btf->start_id]
			      : index->heads[query->hash & index->mask];
	for (uint32_t id; (id = link & index->ids); link = btf->lazy->next[id - btf->start_id])
		if (!((link ^ query->hash) & ~index->ids) &&
		    record_is(btf, record_at(btf, id), query->kind, query->name))
			return id;
	return 0;
}

uint32_t btf_find(const struct btf *btf, enum btf_kind kind, const char *name, uint64_t *cursor)
{
	/* The cursor is the id found last: its level is the one to go on with. */
	uint32_t after = (uint32_t)*cursor;
	struct query query = { kind, name, hash_string(name) };
	if (!name[0] || after >= btf->end_id)
		return 0;
	/* Derived types have no names to be found by. */
	if (btf->arena)
		btf = btf->base;
	while (after && after < btf->start_id)
		btf = btf->base;
	for (; btf; btf = btf->base, after = 0) {
		uint32_t id = find_in_level(btf, &query, after);
		if (id) {
			*cursor = id;
			return id;
		}
	}
	return 0;
}

/* --- enumerators ------------------------------------------------------------------ */

/* Calls `visit` for each enumerator of a level, in order, until it says false. */
static void for_each_enumerator(const struct btf *btf,
				bool (*visit)(void *context, uint32_t id, uint32_t index,
					      const struct btf_enumerator *enumerator),
				void *context)
{
	for (uint32_t id = btf->start_id; id < btf->end_id; id++) {
		enum btf_kind kind = record_kind(record_at(btf, id), kind_offset(btf));
		struct btf_type type;
		struct btf_enumerator found;
		if ((kind != BTF_ENUM && kind != BTF_ENUM64) || !btf_get(btf, id, &type))
			continue;
		for (uint32_t i = 0; btf_enumerator(&type, i, &found); i++)
			if (!visit(context, id, i, &found))
				return;
	}
}

static bool count_enumerator(void *context, uint32_t id, uint32_t index,
			     const struct btf_enumerator *enumerator)
{
	(void)id;
	(void)index;
	(void)enumerator;
	return ++*(uint32_t *)context < UINT32_MAX / 4;
}

struct filling {
	struct enumerator_index *index;
	uint32_t used, count;
	uint32_t *tails; /* of the chains: the first of equal names is found first */
};

static bool add_enumerator(void *context, uint32_t id, uint32_t index,
			   const struct btf_enumerator *enumerator)
{
	struct filling *filling = context;
	struct enumerator_index *into = filling->index;
	uint32_t slot = hash_string(enumerator->name) & into->mask;
	if (filling->used == filling->count)
		return false;
	uint32_t number = ++filling->used;
	into->items[number] = (struct enumerator_item){ id, index, 0 };
	if (filling->tails[slot])
		into->items[filling->tails[slot]].next = number;
	else
		into->heads[slot] = number;
	filling->tails[slot] = number;
	return true;
}

/* False: no memory, scanning goes on. */
static bool build_enumerators(const struct btf *btf)
{
	struct enumerator_index *index = &btf->lazy->enumerators;
	struct filling filling = { .index = index };
	uint32_t size = 16;
	for_each_enumerator(btf, count_enumerator, &filling.count);
	while (size < filling.count)
		size *= 2;
	index->mask = size - 1;
	index->items = calloc((size_t)filling.count + 1, sizeof(*index->items));
	index->heads = calloc(size, sizeof(*index->heads));
	filling.tails = calloc(size, sizeof(*filling.tails));
	bool is_built = index->items && index->heads && filling.tails;
	if (is_built) {
		for_each_enumerator(btf, add_enumerator, &filling);
	} else {
		free(index->items);
		free(index->heads);
		index->items = NULL;
		index->heads = NULL;
	}
	free(filling.tails);
	return is_built;
}

struct wanted {
	const char *name;
	uint32_t id;
	struct btf_enumerator found;
};

static bool is_other_enumerator(void *context, uint32_t id, uint32_t index,
				const struct btf_enumerator *enumerator)
{
	struct wanted *wanted = context;
	(void)index;
	if (strcmp(enumerator->name, wanted->name))
		return true;
	wanted->id = id;
	wanted->found = *enumerator;
	return false;
}

static void find_enumerator(const struct btf *btf, struct wanted *wanted)
{
	struct enumerator_index *index = &btf->lazy->enumerators;
	if (!index->heads && (index->scans++ < SCANS_MAX || !build_enumerators(btf))) {
		for_each_enumerator(btf, is_other_enumerator, wanted);
		return;
	}
	uint32_t number = index->heads[hash_string(wanted->name) & index->mask];
	for (; number; number = index->items[number].next) {
		const struct enumerator_item *item = &index->items[number];
		struct btf_type type;
		struct btf_enumerator found;
		if (btf_get(btf, item->id, &type) && btf_enumerator(&type, item->index, &found) &&
		    !is_other_enumerator(wanted, item->id, item->index, &found))
			return;
	}
}

bool btf_find_enumerator(const struct btf *btf, const char *name, uint32_t *ret_id,
			 struct btf_enumerator *ret)
{
	struct wanted wanted = { .name = name };
	for (btf = btf->arena ? btf->base : btf; btf && !wanted.id; btf = btf->base)
		find_enumerator(btf, &wanted);
	if (wanted.id) {
		*ret_id = wanted.id;
		*ret = wanted.found;
	}
	return wanted.id;
}

bool btf_find_definition(const struct btf *btf, const struct btf_type *forward, struct type *ret)
{
	uint64_t cursor = 0;
	uint32_t id =
		btf_find(btf, forward->kind_flag ? BTF_UNION : BTF_STRUCT, forward->name, &cursor);
	if (id)
		*ret = (struct type){ btf, id };
	return id != 0;
}

/* --- all of them -------------------------------------------------------------------- */

void btf_make_indexes(const struct btf *btf)
{
	for (; btf; btf = btf->base) {
		if (btf->arena)
			continue;
		if (!btf->lazy->types.heads && build_index(btf, &btf->lazy->types, false))
			btf->lazy->types.scans = SCANS_MAX;
		if (!btf->lazy->functions.heads && build_index(btf, &btf->lazy->functions, true))
			btf->lazy->functions.scans = SCANS_MAX;
		if (!btf->lazy->enumerators.heads && build_enumerators(btf))
			btf->lazy->enumerators.scans = SCANS_MAX;
		btf_pointer_size(btf);
	}
}

void name_indexes_deinit(struct btf_lazy *lazy)
{
	free(lazy->types.heads);
	free(lazy->functions.heads);
	free(lazy->enumerators.items);
	free(lazy->enumerators.heads);
	free(lazy->next);
}
