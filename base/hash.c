// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/hash.h"

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

static bool hash_index_resize(struct hash_index *index, size_t size)
{
	struct hash_index bigger = { .slots = malloc(size * sizeof(*bigger.slots)), .size = size };
	if (!bigger.slots)
		return false;
	memset(bigger.slots, 0xff, size * sizeof(*bigger.slots));
	/* Equal hashes keep their order only if a run is copied from its start: begin at a gap. */
	size_t gap = 0;
	while (gap < index->size && index->slots[gap].number != HASH_NONE)
		gap++;
	for (size_t i = 0; i < index->size; i++) {
		const struct hash_slot *slot = &index->slots[(gap + i) & (index->size - 1)];
		if (slot->number != HASH_NONE)
			hash_index_add(&bigger, slot->hash, slot->number);
	}
	free(index->slots);
	*index = bigger;
	return true;
}

bool hash_index_init(struct hash_index *index, size_t expected)
{
	size_t size = 16;
	while (size / 4 * 3 < expected)
		size *= 2;
	*index = (struct hash_index){ 0 };
	return hash_index_resize(index, size);
}

void hash_index_deinit(struct hash_index *index)
{
	free(index->slots);
	*index = (struct hash_index){ 0 };
}

bool hash_index_add(struct hash_index *index, uint32_t hash, uint32_t number)
{
	if (index->count + 1 > index->size / 4 * 3 &&
	    !hash_index_resize(index, index->size ? index->size * 2 : 16))
		return false;
	size_t at = hash & (index->size - 1);
	while (index->slots[at].number != HASH_NONE)
		at = (at + 1) & (index->size - 1);
	index->slots[at] = (struct hash_slot){ .hash = hash, .number = number };
	index->count++;
	return true;
}

size_t hash_index_first(const struct hash_index *index, uint32_t hash)
{
	return index->size ? hash & (index->size - 1) : 0;
}

uint32_t hash_index_next(const struct hash_index *index, uint32_t hash, size_t *position)
{
	if (!index->size)
		return HASH_NONE;
	while (index->slots[*position].number != HASH_NONE) {
		const struct hash_slot *slot = &index->slots[*position];
		*position = (*position + 1) & (index->size - 1);
		if (slot->hash == hash)
			return slot->number;
	}
	return HASH_NONE;
}
