// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The file: magic, key (16 bytes), size, packed size (u32 each), checksum (u64) of all before it
 * and of the packed bytes; then these, by zlib. Little-endian. Nobody but the user may have written
 * it, and what is read is as long as it says and checked before it is unpacked.
 */
#include "debugger/infer/cache_file.h"

#include "base/bytes.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define MAGIC	     "BTFTYPE1"
#define HEADER_SIZE  40
#define AT_KEY	     8
#define AT_SIZE	     24
#define AT_PACKED    28
#define AT_CHECKSUM  32
#define SIZE_MAX_RAW (64u << 20) /* a kernel has 3 MiB */
#define FILES_MAX    32
#define ENDING	     ".types"

/* --- keys ---------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t word, uint64_t factor)
{
	hash = (hash ^ word) * factor;
	return hash ^ hash >> 29;
}

void cache_key_init(struct cache_key *key)
{
	*key = (struct cache_key){ { 0x243f6a8885a308d3u, 0x13198a2e03707344u } };
}

void cache_key_add(struct cache_key *key, const void *data, size_t size)
{
	static const uint64_t factors[2] = { 0xff51afd7ed558ccdu, 0x9fb21c651e98df25u };
	const uint8_t *at = data;
	uint64_t a = mix(key->words[0], size, factors[0]);
	uint64_t b = mix(key->words[1], size, factors[1]);
	for (; size; at += 8) {
		uint64_t word = 0;
		size_t part = size < 8 ? size : 8;
		memcpy(&word, at, part);
		a = mix(a, word, factors[0]);
		b = mix(b, word, factors[1]) + a;
		size -= part;
	}
	*key = (struct cache_key){ { a, b } };
}

/* --- where it is --------------------------------------------------------------------------- */

static bool make_folder(const char *path)
{
	return !mkdir(path, 0700) || errno == EEXIST;
}

bool cache_folder(bool create, char *buffer, size_t size)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"), *inner = "";
	/* The XDG rules: what is not absolute is not to be heeded. */
	if (!base || *base != '/') {
		base = home && *home == '/' ? home : NULL;
		inner = "/.cache";
	}
	if (!base || snprintf(buffer, size, "%s%s", base, inner) >= (int)size)
		return false;
	if (create && !make_folder(buffer))
		return false;
	if (snprintf(buffer, size, "%s%s/btfcrash", base, inner) >= (int)size)
		return false;
	return !create || make_folder(buffer);
}

bool cache_path(const char *folder, const struct cache_key *key, char *buffer, size_t size)
{
	return snprintf(buffer, size, "%s/%016llx%016llx" ENDING, folder,
			(unsigned long long)key->words[0],
			(unsigned long long)key->words[1]) < (int)size;
}

/* --- reading -------------------------------------------------------------------------------- */

/* A regular file of the user's own; -1: not. A FIFO must not block, a link not lead elsewhere. */
static int open_own(const char *path, size_t *ret_size)
{
	struct stat status;
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (file < 0)
		return -1;
	if (fstat(file, &status) || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
	    status.st_size < HEADER_SIZE || status.st_size > SIZE_MAX_RAW) {
		close(file);
		return -1;
	}
	*ret_size = (size_t)status.st_size;
	return file;
}

static bool read_whole(int file, uint8_t *buffer, size_t size)
{
	while (size) {
		ssize_t part = read(file, buffer, size);
		if (part < 0 && errno == EINTR)
			continue;
		if (part <= 0)
			return false;
		buffer += part;
		size -= (size_t)part;
	}
	return true;
}

static uint64_t checksum(const uint8_t *data, size_t size)
{
	struct cache_key sum;
	cache_key_init(&sum);
	cache_key_add(&sum, data, AT_CHECKSUM);
	cache_key_add(&sum, data + HEADER_SIZE, size - HEADER_SIZE);
	return sum.words[0] ^ sum.words[1];
}

/* The bytes in it; NULL: it is not what was written. */
static void *unpack(const uint8_t *data, size_t size, const struct cache_key *key, size_t *ret_size)
{
	uint32_t raw = load_u32(data + AT_SIZE, false);
	if (memcmp(data, MAGIC, 8) || load_u64(data + AT_KEY, false) != key->words[0] ||
	    load_u64(data + AT_KEY + 8, false) != key->words[1] || !raw || raw > SIZE_MAX_RAW ||
	    load_u32(data + AT_PACKED, false) != size - HEADER_SIZE ||
	    load_u64(data + AT_CHECKSUM, false) != checksum(data, size))
		return NULL;
	uint8_t *unpacked = malloc(raw);
	uLongf length = raw;
	if (!unpacked || uncompress(unpacked, &length, data + HEADER_SIZE, size - HEADER_SIZE) ||
	    length != raw) {
		free(unpacked);
		return NULL;
	}
	*ret_size = raw;
	return unpacked;
}

void *cache_file_read(const char *path, const struct cache_key *key, size_t *ret_size)
{
	size_t size;
	void *unpacked = NULL;
	int file = open_own(path, &size);
	if (file < 0)
		return NULL;
	uint8_t *data = malloc(size);
	if (data && read_whole(file, data, size))
		unpacked = unpack(data, size, key, ret_size);
	free(data);
	close(file);
	return unpacked;
}

/* --- writing -------------------------------------------------------------------------------- */

static void store(uint8_t *to, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

static uint8_t *pack(const struct cache_key *key, const void *data, size_t size, size_t *ret_size)
{
	uLongf length = compressBound(size);
	uint8_t *packed = malloc(HEADER_SIZE + length);
	if (!packed)
		return NULL;
	if (compress2(packed + HEADER_SIZE, &length, data, size, 3)) {
		free(packed);
		return NULL;
	}
	*ret_size = HEADER_SIZE + length;
	memcpy(packed, MAGIC, 8);
	store(packed + AT_KEY, key->words[0], 8);
	store(packed + AT_KEY + 8, key->words[1], 8);
	store(packed + AT_SIZE, size, 4);
	store(packed + AT_PACKED, length, 4);
	store(packed + AT_CHECKSUM, checksum(packed, *ret_size), 8);
	return packed;
}

static bool write_whole(int file, const uint8_t *data, size_t size)
{
	while (size) {
		ssize_t part = write(file, data, size);
		if (part < 0 && errno == EINTR)
			continue;
		if (part <= 0)
			return false;
		data += part;
		size -= (size_t)part;
	}
	return true;
}

static bool has_ending(const char *name)
{
	size_t length = strlen(name), tail = strlen(ENDING);
	return length > tail && !strcmp(name + length - tail, ENDING);
}

/* Removes the oldest file of the cache if there are more than enough. */
static void prune(const char *folder)
{
	char path[CACHE_PATH_SIZE], oldest[CACHE_PATH_SIZE] = "";
	struct stat status;
	time_t when = 0;
	size_t count = 0;
	struct dirent *entry;
	DIR *listing = opendir(folder);
	while (listing && (entry = readdir(listing))) {
		if (!has_ending(entry->d_name) ||
		    snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) >=
			    (int)sizeof(path) ||
		    lstat(path, &status))
			continue;
		count++;
		if (*oldest && status.st_mtime >= when)
			continue;
		when = status.st_mtime;
		memcpy(oldest, path, sizeof(oldest));
	}
	if (listing)
		closedir(listing);
	if (count > FILES_MAX)
		(void)unlink(oldest);
}

bool cache_file_write(const char *folder, const struct cache_key *key, const void *data,
		      size_t size)
{
	char path[CACHE_PATH_SIZE], temporary[CACHE_PATH_SIZE];
	size_t packed_size;
	if (!size || size > SIZE_MAX_RAW || !cache_path(folder, key, path, sizeof(path)) ||
	    snprintf(temporary, sizeof(temporary), "%s/.new-XXXXXX", folder) >=
		    (int)sizeof(temporary))
		return false;
	uint8_t *packed = pack(key, data, size, &packed_size);
	/* Made with 0600. */
	int file = packed ? mkostemp(temporary, O_CLOEXEC) : -1;
	bool good = file >= 0 && write_whole(file, packed, packed_size);
	free(packed);
	if (file < 0)
		return false;
	good &= !close(file);
	if (!good || rename(temporary, path)) {
		(void)unlink(temporary);
		return false;
	}
	prune(folder);
	return true;
}
