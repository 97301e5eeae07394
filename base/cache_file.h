/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files in the user's cache folder: bytes under a key and of a dump, compressed, with a checksum.
 * Whatever is wrong with folder or file, there is just nothing in the cache: no command fails for
 * that.
 */
#ifndef BASE_CACHE_FILE_H
#define BASE_CACHE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct helper_link;

/* What the bytes depend on beside the dump, hashed. Compared whole; nothing rests on two never
 * being alike but that a result is not found. */
struct cache_key {
	uint64_t words[2];
};
void cache_key_init(struct cache_key *key);
/* The size counts too: "ab", "c" is not "a", "bc". */
void cache_key_add(struct cache_key *key, const void *data, size_t size);
/* This program: all its code, rules and tables. False: the linker gave it no build id. */
bool cache_key_add_program(struct cache_key *key);

/*
 * Which dump: device, inode, size and times of each of its files. As long as these are the same, so
 * is every byte that was read as evidence, and any change to a file, by whoever, changes its ctime,
 * which no program can set. Not hashed: there is nothing to collide with.
 */
struct cache_dump {
	uint8_t *bytes; /* owned */
	size_t size;
};
/*
 * False: they are not all regular files, or were changed so lately that their times might not show
 * the next change.
 */
bool cache_dump_init(struct cache_dump *dump, const char *const *paths, size_t count);
bool cache_dump_equal(const struct cache_dump *a, const struct cache_dump *b);
void cache_dump_deinit(struct cache_dump *dump);

/* Where results are: asked of the helper; or without one, a folder, for a dump. Borrowed. */
struct cache_place {
	struct helper_link *helper;
	int folder;
	const struct cache_dump *dump;
};

/* $XDG_CACHE_HOME/btfcrash or ~/.cache/btfcrash, see own_folder.h; -1. */
int cache_folder_open(bool create);
/* An open file of the user's own with results of this dump under this key; -1: none. */
int cache_file_find(const struct cache_place *place, const struct cache_key *key);
/* malloc()ed bytes that were written under this key, as they were; NULL: none. Closes the file. */
void *cache_file_read(int file, const struct cache_key *key, size_t *ret_size);
/* Replaces the file in one step. The oldest files of the folder give way when they are many. */
bool cache_file_write(const struct cache_place *place, const struct cache_key *key,
		      const void *data, size_t size);

#endif
