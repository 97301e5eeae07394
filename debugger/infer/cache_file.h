/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A file in the user's cache folder: bytes under a key, compressed, with a checksum. Whatever is
 * wrong with folder or file, there is just nothing in the cache: no command fails for that.
 */
#ifndef DEBUGGER_INFER_CACHE_FILE_H
#define DEBUGGER_INFER_CACHE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CACHE_PATH_SIZE 4096

/* What the bytes depend on, hashed. Not against those who want two alike: who can write the
 * folder's files is the user. */
struct cache_key {
	uint64_t words[2];
};
void cache_key_init(struct cache_key *key);
/* The size counts too: "ab", "c" is not "a", "bc". */
void cache_key_add(struct cache_key *key, const void *data, size_t size);

/*
 * $XDG_CACHE_HOME/btfcrash or ~/.cache/btfcrash, made if it is not there and `create`; false:
 * none. `size`: of the buffer.
 */
bool cache_folder(bool create, char *buffer, size_t size);
/* The file of a key in a folder. */
bool cache_path(const char *folder, const struct cache_key *key, char *buffer, size_t size);
/* malloc()ed bytes that were written under this key, as they were; NULL: none. */
void *cache_file_read(const char *path, const struct cache_key *key, size_t *ret_size);
/* Replaces the file in one step. The oldest files of the folder give way when they are many. */
bool cache_file_write(const char *folder, const struct cache_key *key, const void *data,
		      size_t size);

#endif
