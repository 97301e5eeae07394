// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/known/name_uses.h"

#include "base/array.h"
#include <stdlib.h>
#include <string.h>

#define BUCKETS	   16384 /* a power of two */
#define ENDS_MAX   8	 /* words of a name that are looked at */
#define JOINED_MIN 64	 /* uses in a bucket, that are worth it */
#define KEYS_MAX   96	 /* types that one name has; the others are rare */
#define DEPTH	   3	 /* pointers to pointers */
/* A longer end of a name counts as much as so many uses of a shorter one. */
#define FAITH 2
#define ONE   ((uint64_t)1 << 32)

struct use {
	uint32_t name; /* hash */
	uint32_t type;
	uint32_t count;
};

struct name_uses {
	struct use *items;	 /* by the hash's bucket */
	uint32_t *totals, count; /* of each type; of all */
	uint32_t end;		 /* of types */
	uint32_t starts[BUCKETS + 1], ends[BUCKETS];
};

uint32_t name_uses_type(const struct layout *layout, uint32_t type)
{
	uint32_t target = type;
	for (int depth = 0; depth < DEPTH && target; depth++) {
		if (layout_is_compound(layout, target))
			return layout_has_name(layout, target) ? target : 0;
		target = layout_target(layout, target);
	}
	return type;
}

/* How many uses there are at the most. */
static size_t most_uses(const struct layout *layout)
{
	struct btf_type type;
	size_t most = 0;
	for (uint32_t id = layout->first; id < layout->end; id++)
		if ((layout_is_compound(layout, id) || layout_kind(layout, id) == BTF_FUNC_PROTO) &&
		    btf_get(layout->btf, id, &type))
			most += type.vlen;
	return most;
}

static void add_use(struct name_uses *uses, const struct layout *layout, const char *name,
		    uint32_t type)
{
	struct use use = { .type = name_uses_type(layout, layout_resolve(layout, type)),
			   .count = 1 };
	if (!*name || !layout_size(layout, use.type))
		return;
	use.name = layout_hash(name, strlen(name));
	uses->starts[use.name % BUCKETS + 1]++;
	uses->totals[use.type]++;
	uses->items[uses->count++] = use;
}

/* At most as many as were counted. */
static void add_uses(struct name_uses *uses, const struct layout *layout)
{
	struct btf_type type;
	struct btf_member member;
	struct btf_param param;
	for (uint32_t id = layout->first; id < uses->end; id++) {
		bool is_proto = layout_kind(layout, id) == BTF_FUNC_PROTO;
		if ((!is_proto && !layout_is_compound(layout, id)) ||
		    !btf_get(layout->btf, id, &type))
			continue;
		for (uint32_t i = 0; is_proto && btf_param(&type, i, &param); i++)
			add_use(uses, layout, param.name, param.type);
		for (uint32_t i = 0; !is_proto && btf_member(&type, i, &member); i++)
			if (!member.bit_size)
				add_use(uses, layout, member.name, member.type);
	}
}

/* Each goes to its bucket, where one is that goes to another. */
static void sort_uses(struct name_uses *uses)
{
	uint32_t *next = uses->ends;
	for (uint32_t i = 0; i < BUCKETS; i++)
		uses->starts[i + 1] += uses->starts[i];
	memcpy(next, uses->starts, BUCKETS * sizeof(*next));
	for (uint32_t i = 0; i < BUCKETS; i++)
		while (next[i] < uses->starts[i + 1]) {
			struct use use = uses->items[next[i]];
			uint32_t home = use.name % BUCKETS;
			uses->items[next[i]] = uses->items[next[home]];
			uses->items[next[home]++] = use;
		}
}

static int compare_uses(const void *left, const void *right)
{
	const struct use *a = left, *b = right;
	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	return a->type < b->type ? -1 : a->type > b->type;
}

/* Thousands are called "flags": they become one for each type. */
static void join_uses(struct name_uses *uses, uint32_t bucket)
{
	uint32_t start = uses->starts[bucket], end = uses->starts[bucket + 1], last = start;
	uses->ends[bucket] = end;
	if (end - start < JOINED_MIN)
		return;
	array_sort(&uses->items[start], end - start, sizeof(uses->items[0]), compare_uses);
	for (uint32_t i = start + 1; i < end; i++) {
		if (compare_uses(&uses->items[last], &uses->items[i]))
			uses->items[++last] = uses->items[i];
		else
			uses->items[last].count++;
	}
	uses->ends[bucket] = last + 1;
}

struct error *name_uses_create(const struct layout *layout, struct name_uses **ret)
{
	struct name_uses *uses = calloc(1, sizeof(*uses));
	if (!uses)
		return error_no_memory();
	uses->end = layout->end;
	uses->totals = calloc((size_t)uses->end + 1, sizeof(*uses->totals));
	uses->items = malloc((most_uses(layout) + 1) * sizeof(*uses->items));
	if (!uses->totals || !uses->items) {
		name_uses_destroy(uses);
		return error_no_memory();
	}
	add_uses(uses, layout);
	sort_uses(uses);
	for (uint32_t i = 0; i < BUCKETS; i++)
		join_uses(uses, i);
	*ret = uses;
	return NULL;
}

void name_uses_destroy(struct name_uses *uses)
{
	if (!uses)
		return;
	free(uses->items);
	free(uses->totals);
	free(uses);
}

/* A type with what is likely by the ends of the name that were looked at, of ONE. */
struct key {
	uint32_t type, count;
	uint64_t share;
};

struct keys {
	struct key items[KEYS_MAX];
	size_t count;
};

static void count_key(const struct name_uses *uses, struct keys *keys, const struct use *use)
{
	size_t i = 0;
	while (i < keys->count && keys->items[i].type != use->type)
		i++;
	if (i == KEYS_MAX)
		return;
	if (i == keys->count)
		keys->items[keys->count++] =
			(struct key){ .type = use->type,
				      .share = ONE * uses->totals[use->type] / uses->count };
	keys->items[i].count += use->count;
}

/* Of one end; those of the ends before it are what is likely as long as nothing is counted. */
static void learn_end(const struct name_uses *uses, struct keys *keys, const char *end,
		      size_t length)
{
	uint32_t hash = layout_hash(end, length), count = 0;
	const struct use *use = &uses->items[uses->starts[hash % BUCKETS]];
	for (; use < &uses->items[uses->ends[hash % BUCKETS]]; use++) {
		if (use->name != hash)
			continue;
		count_key(uses, keys, use);
		count += use->count;
	}
	for (size_t i = 0; count && i < keys->count; i++) {
		struct key *key = &keys->items[i];
		key->share = (ONE * key->count + FAITH * key->share) / (count + FAITH);
		key->count = 0;
	}
}

static int half_bits(uint64_t share, uint64_t usual)
{
	int bits = 0;
	/* As a square, of which each bit is half a bit. */
	uint64_t ratio = usual ? 256 * share / usual : 0;
	for (ratio = ratio > 1 << 20 ? (uint64_t)1 << 40 : ratio * ratio; ratio >> 17; ratio /= 2)
		bits++;
	return bits;
}

static int compare_keys(const void *left, const void *right)
{
	const struct key *a = left, *b = right;
	if (a->share != b->share)
		return a->share < b->share ? 1 : -1;
	return a->type < b->type ? -1 : a->type > b->type;
}

size_t name_uses_find(const struct name_uses *uses, const char *name, size_t length,
		      struct name_use ret[NAME_USES_MAX])
{
	struct keys keys = { .count = 0 };
	size_t ends = 0, found = 0;
	for (size_t i = length; i-- > 0 && ends < ENDS_MAX;)
		if (!i || name[i - 1] == '_') {
			learn_end(uses, &keys, name + i, length - i);
			ends++;
		}
	array_sort(keys.items, keys.count, sizeof(keys.items[0]), compare_keys);
	for (size_t i = 0; i < keys.count && found < NAME_USES_MAX; i++) {
		const struct key *key = &keys.items[i];
		uint64_t usual = ONE * uses->totals[key->type] / uses->count;
		int bits = half_bits(key->share, usual);
		if (bits)
			ret[found++] =
				(struct name_use){ key->type, bits, (int)(100 * key->share / ONE) };
	}
	return found;
}
