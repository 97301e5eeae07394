/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An index from names to numbers: the names stay where they are, the index keeps
 * 32 bits of hash and the number, so 150,000 names cost 2 MiB. Equal names
 * are all kept, found in the order they were added.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_slot {
	uint32_t hash;
	uint32_t number; /* HASH_NONE: the slot is free */
};

#define HASH_NONE UINT32_MAX

struct hash_index {
	struct hash_slot *slots;
	size_t count;
	size_t size; /* of slots, a power of two */
};

uint32_t hash_bytes(const void *data, size_t size);
uint32_t hash_string(const char *string);

/* Zeroed storage is an empty index; `expected` names can be added without growing. False: no
 * memory. */
bool hash_index_init(struct hash_index *index, size_t expected);
void hash_index_deinit(struct hash_index *index);
/* `number` must not be HASH_NONE. False: no memory. */
bool hash_index_add(struct hash_index *index, uint32_t hash, uint32_t number);

/*
 * Walks the numbers that were added with this hash:
 *	size_t position = hash_index_first(index, hash);
 *	for (uint32_t n; (n = hash_index_next(index, hash, &position)) != HASH_NONE;) ...
 * The caller compares the names.
 */
size_t hash_index_first(const struct hash_index *index, uint32_t hash);
uint32_t hash_index_next(const struct hash_index *index, uint32_t hash, size_t *position);

#endif
