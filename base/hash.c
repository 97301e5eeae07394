// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/hash.h"

#include "base/array.h"
#include "base/seed.h"
#include <stdlib.h>
#include <string.h>

uint32_t hash_bytes(const void *data, size_t size)
{
	const unsigned char *at = data;
	uint64_t hash = 0x9e3779b97f4a7c15u ^ size;
	for (; size >= 8; at += 8, size -= 8) {
		uint64_t word;
		memcpy(&word, at, 8);
		hash = (hash ^ word) * 0xff51afd7ed558ccdu;
		hash ^= hash >> 32;
	}
	uint64_t tail = 0;
	memcpy(&tail, at, size);
	hash = (hash ^ tail) * 0xc4ceb9fe1a85ec53u;
	return (uint32_t)(hash ^ (hash >> 32));
}

uint32_t hash_string(const char *string)
{
	return hash_bytes(string, strlen(string));
}

uint32_t hash_address(uint64_t address)
{
	const uint64_t words[] = { seed_of_run(), address };
	return hash_bytes(words, sizeof(words));
}

static void link_entry(struct hash_index *index, uint32_t entry)
{
	struct hash_bucket *bucket =
		&index->buckets[index->entries[entry].hash & (index->bucket_count - 1)];
	index->entries[entry].next = HASH_NONE;
	if (bucket->first == HASH_NONE)
		bucket->first = entry;
	else
		index->entries[bucket->last].next = entry;
	bucket->last = entry;
}

static bool grow_buckets(struct hash_index *index, size_t count)
{
	struct hash_bucket *buckets = realloc(index->buckets, count * sizeof(*buckets));
	if (!buckets)
		return false;
	memset(buckets, 0xff, count * sizeof(*buckets));
	index->buckets = buckets;
	index->bucket_count = count;
	for (size_t i = 0; i < index->count; i++)
		link_entry(index, (uint32_t)i);
	return true;
}

bool hash_index_init(struct hash_index *index, size_t expected)
{
	size_t buckets = 16;
	while (buckets < expected)
		buckets *= 2;
	*index = (struct hash_index){ 0 };
	if (array_reserve(&index->entries, &index->capacity, expected + 1) &&
	    grow_buckets(index, buckets))
		return true;
	hash_index_deinit(index);
	return false;
}

void hash_index_deinit(struct hash_index *index)
{
	free(index->entries);
	free(index->buckets);
	*index = (struct hash_index){ 0 };
}

bool hash_index_add(struct hash_index *index, uint32_t hash, uint32_t number)
{
	if (index->count >= index->bucket_count &&
	    !grow_buckets(index, index->bucket_count ? index->bucket_count * 2 : 16))
		return false;
	if (index->count >= HASH_NONE - 1 ||
	    !array_reserve(&index->entries, &index->capacity, index->count + 1))
		return false;
	index->entries[index->count] = (struct hash_entry){ .hash = hash, .number = number };
	link_entry(index, (uint32_t)index->count++);
	return true;
}

size_t hash_index_first(const struct hash_index *index, uint32_t hash)
{
	return index->bucket_count ? index->buckets[hash & (index->bucket_count - 1)].first
				   : HASH_NONE;
}

uint32_t hash_index_next(const struct hash_index *index, uint32_t hash, size_t *position)
{
	while (*position != HASH_NONE) {
		const struct hash_entry *entry = &index->entries[*position];
		*position = entry->next;
		if (entry->hash == hash)
			return entry->number;
	}
	return HASH_NONE;
}
