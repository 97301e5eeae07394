// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/address_map.h"

#include "base/seed.h"
#include <stdbool.h>

#define CAPACITY_FIRST 64
#define KEPT_MAX       CAPACITY_FIRST /* what is cleared is zeroed: not all that was ever needed */

static bool grow(struct address_map *map, size_t size)
{
	struct address_map grown = { .count = map->count,
				     .capacity = map->capacity ? map->capacity * 2
							       : CAPACITY_FIRST };
	if (map->count * 2 < map->capacity)
		return true;
	grown.factor = seed_of_run() | 1;
	grown.shift = 64 - (unsigned int)__builtin_ctzll(grown.capacity);
	grown.entries = calloc(grown.capacity, size);
	if (!grown.entries)
		return false;
	for (size_t i = 0; i < map->capacity; i++) {
		const uint8_t *entry = map->entries + i * size;
		uint64_t address;
		memcpy(&address, entry, sizeof(address));
		if (address)
			memcpy(address_map_slot(&grown, size, address), entry, size);
	}
	free(map->entries);
	*map = grown;
	return true;
}

void *address_map_add(struct address_map *map, size_t size, uint64_t address)
{
	void *entry = address_map_find(map, size, address);
	if (entry || !address || !grow(map, size))
		return entry;
	entry = address_map_slot(map, size, address);
	memcpy(entry, &address, sizeof(address));
	map->count++;
	return entry;
}

void address_map_clear(struct address_map *map, size_t size)
{
	if (map->capacity > KEPT_MAX)
		address_map_deinit(map);
	else if (map->count)
		memset(map->entries, 0, map->capacity * size);
	map->count = 0;
}
