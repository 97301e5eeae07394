/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An index from names to numbers: the names stay where they are, the index keeps
 * 32 bits of hash and the number, so 150,000 names cost 4 MiB. Equal names
 * are all kept, found in the order they were added.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_NONE UINT32_MAX

struct hash_entry {
	uint32_t hash;
	uint32_t number;
	uint32_t next; /* entry of the same bucket, HASH_NONE: the last */
};

/* First and last entry: adding stays cheap however many names are equal, which hostile ones are. */
struct hash_bucket {
	uint32_t first, last;
};

struct hash_index {
	struct hash_entry *entries; /* in the order they were added */
	size_t count, capacity;
	struct hash_bucket *buckets;
	size_t bucket_count; /* a power of two */
};

uint32_t hash_bytes(const void *data, size_t size);
uint32_t hash_string(const char *string);
/* Of an address that a dump names, with the seed of the run: it cannot choose those that fall
 * together. */
uint32_t hash_address(uint64_t address);

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
