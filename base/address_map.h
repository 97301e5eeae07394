/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is remembered of addresses: entries of one size, each a struct that begins with its address
 * as uint64_t. The address 0 is never there. A zeroed map is empty; pointers to entries hold until
 * the next one is added. Threads may look up at once while none adds.
 */
#ifndef BASE_ADDRESS_MAP_H
#define BASE_ADDRESS_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct address_map {
	uint8_t *entries;	/* open addressing, never more than half full */
	size_t count, capacity; /* capacity: a power of two */
	/* The highest bits of address * factor say where it belongs: a random odd factor, so that
	 * nobody can choose addresses that all belong to one place. */
	uint64_t factor;
	unsigned int shift;
};

/* The entry of an address, or the free one where it belongs; capacity must not be 0. */
static inline void *address_map_slot(const struct address_map *map, size_t size, uint64_t address)
{
	size_t mask = map->capacity - 1;
	size_t at = (size_t)(address * map->factor >> map->shift);
	for (;; at = (at + 1) & mask) {
		uint8_t *entry = map->entries + at * size;
		uint64_t found;
		memcpy(&found, entry, sizeof(found));
		if (!found || found == address)
			return entry;
	}
}

/* Inline, as some ask by the million: `size` of the entries is known where it is called. NULL: it
 * is not there. */
static inline void *address_map_find(const struct address_map *map, size_t size, uint64_t address)
{
	uint64_t found;
	if (!map->count || !address)
		return NULL;
	void *entry = address_map_slot(map, size, address);
	memcpy(&found, entry, sizeof(found));
	return found ? entry : NULL;
}

/* The entry of an address, made if need be: with the address, all else zeroed. NULL: no memory, or
 * the address is 0. */
void *address_map_add(struct address_map *map, size_t size, uint64_t address);
/* Leaves it empty, ready for about as many as most have. */
void address_map_clear(struct address_map *map, size_t size);
/* Leaves it empty, without. */
static inline void address_map_deinit(struct address_map *map)
{
	free(map->entries);
	*map = (struct address_map){ .entries = NULL };
}

#endif
