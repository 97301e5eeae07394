// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/known/names_family.h"

#include "base/array.h"
#include <stdlib.h>
#include <string.h>

#define POINTS_MAX     14
#define MANY	       4
#define COMMONEST      6 /* bits */
#define RAREST	       16
#define RARITY_UNKNOWN 11 /* one of thousands */
#define LEAST	       2  /* of a family, from which on they say something */

/* How often a key came with a type; type 0: with any. Key 0: any name. */
struct lesson {
	uint32_t key, type, count;
};

struct families {
	struct lesson *items; /* by key and type, once settled */
	size_t count, capacity;
	uint8_t *rarity; /* by type: bits; NULL: nothing is known of any */
	uint32_t rarity_end;
};

struct error *families_create(struct families **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? NULL : error_no_memory();
}

void families_destroy(struct families *families)
{
	if (!families)
		return;
	free(families->items);
	free(families->rarity);
	free(families);
}

/* The ends of a name, alone and with what stands beside. */
#define KEYS 5
static size_t make_keys(const struct name_word *words, size_t count, uint32_t *ret)
{
	size_t keys = 0;
	if (!count)
		return 0;
	uint32_t first = words[0].hash, last = words[count - 1].hash + words[count - 1].is_plural;
	ret[keys++] = last * 3 + 1;
	ret[keys++] = first * 5 + 2;
	if (count > 1) {
		ret[keys++] = (words[count - 2].hash * 31 + last) * 7 + 3;
		ret[keys++] = (first * 31 + words[1].hash) * 11 + 4;
		ret[keys++] = (first * 31 + last) * 13 + 5;
	}
	for (size_t i = 0; i < keys; i++)
		ret[i] |= 1;
	return keys;
}

static bool add(struct families *families, uint32_t key, uint32_t type)
{
	if (!array_reserve(&families->items, &families->capacity, families->count + 1))
		return false;
	families->items[families->count++] = (struct lesson){ key, type, 1 };
	return true;
}

struct error *families_learn(struct families *families, const char *name, uint32_t type)
{
	struct name_word words[NAME_WORDS_MAX];
	uint32_t keys[KEYS + 1] = { 0 };
	size_t count = make_keys(words, name_words(name, words), keys + 1) + 1;
	for (size_t i = 0; i < count; i++)
		if (!add(families, keys[i], type) || !add(families, keys[i], 0))
			return error_no_memory();
	return NULL;
}

static int compare_lessons(const void *left, const void *right)
{
	const struct lesson *a = left, *b = right;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->type < b->type ? -1 : a->type > b->type;
}

/* How rare the types are among all that were learned. */
static void settle_rarity(struct families *families)
{
	size_t end = 0;
	while (end < families->count && !families->items[end].key)
		end++;
	free(families->rarity);
	families->rarity_end = end ? families->items[end - 1].type + 1 : 0;
	families->rarity = malloc(families->rarity_end + 1);
	if (!families->rarity)
		return;
	memset(families->rarity, RAREST, families->rarity_end);
	/* Type 0 is all of them. */
	for (size_t i = 1; i < end; i++) {
		int bits = COMMONEST;
		for (uint32_t ratio = families->items[0].count / families->items[i].count >> bits;
		     ratio > 1 && bits < RAREST; ratio /= 2)
			bits++;
		families->rarity[families->items[i].type] = (uint8_t)bits;
	}
}

int families_rarity(const struct families *families, uint32_t type)
{
	if (!families || !families->rarity)
		return RARITY_UNKNOWN;
	return type < families->rarity_end ? families->rarity[type] : RAREST;
}

void families_settle(struct families *families)
{
	size_t kept = 0;
	if (!families->count)
		return;
	array_sort(families->items, families->count, sizeof(*families->items), compare_lessons);
	for (size_t i = 1; i < families->count; i++) {
		if (!compare_lessons(&families->items[kept], &families->items[i]))
			families->items[kept].count += families->items[i].count;
		else
			families->items[++kept] = families->items[i];
	}
	families->count = kept + 1;
	settle_rarity(families);
}

static size_t first_of(const struct families *families, uint32_t key, uint32_t type)
{
	const struct lesson wanted = { .key = key, .type = type };
	return array_bound(families->count, i, compare_lessons(&families->items[i], &wanted) < 0);
}

static uint32_t times(const struct families *families, uint32_t key, uint32_t type)
{
	size_t at = first_of(families, key, type);
	if (at == families->count || families->items[at].key != key ||
	    families->items[at].type != type)
		return 0;
	return families->items[at].count;
}

/* How much likelier a type is under this key than under any, in bits. */
static int weigh(const struct families *families, const struct lesson *lesson, uint64_t all)
{
	uint64_t of_key = times(families, lesson->key, 0) + 2;
	uint64_t of_type = times(families, 0, lesson->type);
	int points = lesson->count > MANY ? 2 : 0;
	if (!of_type)
		return 0;
	for (uint64_t ratio = lesson->count * all / of_key / of_type; ratio > 1; ratio /= 2)
		points++;
	return points < POINTS_MAX ? points : POINTS_MAX;
}

size_t families_keep(struct kinship *kin, size_t count, size_t room, struct kinship found)
{
	for (size_t i = 0; i < count; i++) {
		if (kin[i].type != found.type)
			continue;
		kin[i].points = kin[i].points > found.points ? kin[i].points : found.points;
		return count;
	}
	if (found.points > 0 && count < room)
		kin[count++] = found;
	return count;
}

size_t families_kin(const struct families *families, const struct name_word *words, size_t count,
		    struct kinship *ret, size_t room)
{
	uint32_t keys[KEYS];
	size_t kept = 0, key_count = families ? make_keys(words, count, keys) : 0;
	uint64_t all = families ? times(families, 0, 0) : 0;
	for (size_t i = 0; i < key_count; i++) {
		for (size_t at = first_of(families, keys[i], 1);
		     at < families->count && families->items[at].key == keys[i]; at++) {
			const struct lesson *lesson = &families->items[at];
			if (lesson->count >= LEAST)
				kept = families_keep(
					ret, kept, room,
					(struct kinship){ lesson->type,
							  weigh(families, lesson, all) });
		}
	}
	return kept;
}
