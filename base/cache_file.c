// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The file: magic, key (16 bytes), size, packed size, size of the dump's identity, 0 (u32 each),
 * checksum (u64) of all before and behind it; the identity, the packed bytes, by zlib.
 * Little-endian. Nobody but the user may have written it, and what is read is as long as it says
 * and checked before it is unpacked.
 */
#include "base/cache_file.h"

#include "base/bytes.h"
#include "base/helper.h"
#include "base/own_folder.h"
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#define MAGIC	     "BTFTYPE2"
#define HEADER_SIZE  48
#define AT_KEY	     8
#define AT_SIZE	     24
#define AT_PACKED    28
#define AT_DUMP	     32
#define AT_CHECKSUM  40
#define SIZE_MAX_RAW HELPER_CACHE_MAX /* a kernel has 3 MiB */
#define FILES_MAX    32
#define ENDING	     ".types"
#define NAME_SIZE    48

#define NEW	      ".new-"
#define WRITE_SECONDS 3600 /* that another process may still write a file */

/* What a process that was killed has left behind goes like any old file, but not before that. */
static bool is_being_written(const char *name, const struct stat *status)
{
	time_t age = time(NULL) - status->st_mtime;
	return !strncmp(name, NEW, strlen(NEW)) && age >= 0 && age < WRITE_SECONDS;
}

static const struct folder_limits limits = { .ending = ENDING,
					     .files = FILES_MAX,
					     .is_needed = is_being_written };

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

/* The build id that the linker gave this program: a hash of all its code, rules and tables. */
static int add_program(struct dl_phdr_info *info, size_t size, void *context)
{
	struct cache_key *key = context;
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		if (header->p_type != PT_NOTE)
			continue;
		const char *at = (const char *)(info->dlpi_addr + header->p_vaddr);
		const char *end = at + header->p_memsz;
		while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
			const ElfW(Nhdr) *note = (const void *)at;
			size_t name = (note->n_namesz + 3u) & ~3u;
			at += sizeof(*note);
			if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
			    !memcmp(at, "GNU", 4)) {
				cache_key_add(key, at + name, note->n_descsz);
				return 1;
			}
			at += name + ((note->n_descsz + 3u) & ~3u);
		}
	}
	return -1; /* the program comes first: no other object counts */
}

bool cache_key_add_program(struct cache_key *key)
{
	return dl_iterate_phdr(add_program, key) == 1;
}

/* --- where it is --------------------------------------------------------------------------- */

int cache_folder_open(bool create)
{
	return own_folder_open("XDG_CACHE_HOME", "/.cache", create);
}

static void name_file(const struct cache_place *place, const struct cache_key *key,
		      char name[NAME_SIZE])
{
	struct cache_key both = *key;
	cache_key_add(&both, place->dump->bytes, place->dump->size);
	snprintf(name, NAME_SIZE, "%016llx%016llx" ENDING, (unsigned long long)both.words[0],
		 (unsigned long long)both.words[1]);
}

/* --- reading -------------------------------------------------------------------------------- */

/* A regular file that belongs to the user, not too large. */
static bool is_own(int file, size_t *ret_size)
{
	struct stat status;
	if (fstat(file, &status) || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
	    status.st_size < HEADER_SIZE || status.st_size > SIZE_MAX_RAW)
		return false;
	*ret_size = (size_t)status.st_size;
	return true;
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

static bool has_key(const uint8_t *header, const struct cache_key *key)
{
	return !memcmp(header, MAGIC, 8) && load_u64(header + AT_KEY, false) == key->words[0] &&
	       load_u64(header + AT_KEY + 8, false) == key->words[1];
}

/* Results of this dump, byte by byte: another one may hash to the same name. */
static bool is_of_dump(int file, size_t size, const struct cache_dump *dump,
		       const struct cache_key *key)
{
	uint8_t header[HEADER_SIZE];
	if (!read_whole(file, header, sizeof(header)) || !has_key(header, key) ||
	    load_u32(header + AT_DUMP, false) != dump->size || dump->size > size - HEADER_SIZE)
		return false;
	uint8_t *bytes = malloc(dump->size + 1);
	bool same = bytes && read_whole(file, bytes, dump->size) &&
		    !memcmp(bytes, dump->bytes, dump->size);
	free(bytes);
	return same && !lseek(file, 0, SEEK_SET);
}

int cache_file_find(const struct cache_place *place, const struct cache_key *key)
{
	struct message reply;
	char name[NAME_SIZE];
	size_t size;
	if (place->helper) {
		if (!helper_ask(place->helper, HELPER_CACHE_FIND, key, sizeof(*key), &reply))
			return -1;
		int given = reply.file;
		reply.file = -1;
		message_deinit(&reply);
		return given;
	}
	name_file(place, key, name);
	/* A FIFO must not block, a link not lead elsewhere. */
	int file = place->folder < 0 ? -1
				     : openat(place->folder, name,
					      O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (file >= 0 && is_own(file, &size) && is_of_dump(file, size, place->dump, key))
		return file;
	if (file >= 0)
		close(file);
	return -1;
}

/* Decompresses and checks the contents; NULL: they are damaged. */
static void *unpack(const uint8_t *data, size_t size, const struct cache_key *key, size_t *ret_size)
{
	uint32_t raw = load_u32(data + AT_SIZE, false);
	uint32_t packed = load_u32(data + AT_PACKED, false);
	uint32_t dump = load_u32(data + AT_DUMP, false);
	if (!has_key(data, key) || !raw || raw > SIZE_MAX_RAW ||
	    (uint64_t)packed + dump != size - HEADER_SIZE ||
	    load_u64(data + AT_CHECKSUM, false) != checksum(data, size))
		return NULL;
	uint8_t *unpacked = malloc(raw);
	uLongf length = raw;
	if (!unpacked || uncompress(unpacked, &length, data + HEADER_SIZE + dump, packed) ||
	    length != raw) {
		free(unpacked);
		return NULL;
	}
	*ret_size = raw;
	return unpacked;
}

void *cache_file_read(int file, const struct cache_key *key, size_t *ret_size)
{
	size_t size;
	void *unpacked = NULL;
	if (is_own(file, &size)) {
		uint8_t *data = malloc(size);
		if (data && read_whole(file, data, size))
			unpacked = unpack(data, size, key, ret_size);
		free(data);
	}
	close(file);
	return unpacked;
}

/* --- writing -------------------------------------------------------------------------------- */

static void store(uint8_t *to, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

static uint8_t *pack(const struct cache_dump *dump, const struct cache_key *key, const void *data,
		     size_t size, size_t *ret_size)
{
	uLongf length = compressBound(size);
	uint8_t *packed = calloc(1, HEADER_SIZE + dump->size + length);
	if (!packed)
		return NULL;
	if (compress2(packed + HEADER_SIZE + dump->size, &length, data, size, 3)) {
		free(packed);
		return NULL;
	}
	*ret_size = HEADER_SIZE + dump->size + length;
	memcpy(packed, MAGIC, 8);
	store(packed + AT_KEY, key->words[0], 8);
	store(packed + AT_KEY + 8, key->words[1], 8);
	store(packed + AT_SIZE, size, 4);
	store(packed + AT_PACKED, length, 4);
	store(packed + AT_DUMP, dump->size, 4);
	memcpy(packed + HEADER_SIZE, dump->bytes, dump->size);
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

/*
 * A new file of our own. A process' number is no name for it: other machines and containers, whose
 * home this may be too, have the same.
 */
static int create_file(int folder, char name[NAME_SIZE])
{
	uint64_t number;
	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -1;
	snprintf(name, NAME_SIZE, NEW "%016llx" ENDING, (unsigned long long)number);
	return openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static bool send_to_helper(struct helper_link *helper, const struct cache_key *key,
			   const void *data, size_t size)
{
	uint8_t *message = malloc(sizeof(*key) + size);
	if (!message)
		return false;
	memcpy(message, key, sizeof(*key));
	memcpy(message + sizeof(*key), data, size);
	bool kept = helper_tell(helper, HELPER_CACHE_KEEP, message, sizeof(*key) + size);
	free(message);
	return kept;
}

bool cache_file_write(const struct cache_place *place, const struct cache_key *key,
		      const void *data, size_t size)
{
	char name[NAME_SIZE], temporary[NAME_SIZE];
	size_t packed_size;
	if (!size || size > SIZE_MAX_RAW)
		return false;
	if (place->helper)
		return send_to_helper(place->helper, key, data, size);
	uint8_t *packed = place->folder < 0 ? NULL
					    : pack(place->dump, key, data, size, &packed_size);
	if (!packed)
		return false;
	name_file(place, key, name);
	int file = create_file(place->folder, temporary);
	bool good = file >= 0 && write_whole(file, packed, packed_size);
	free(packed);
	if (file < 0)
		return false;
	good &= !close(file);
	if (!good || renameat(place->folder, temporary, place->folder, name)) {
		(void)unlinkat(place->folder, temporary, 0);
		return false;
	}
	own_folder_prune(place->folder, &limits, name);
	return true;
}
