// SPDX-License-Identifier: GPL-3.0-or-later
#include "vmcore/flattened_kept.h"

#include "base/array.h"
#include "base/cache_file.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define KEPT_MIN   1024 /* extents; fewer are read in no time */
#define NUMBER_MAX 10	/* bytes of one */

/* --- as bytes -------------------------------------------------------------------------------- */

/* Seven bits a byte, the low ones first. */
static size_t put(uint8_t *to, uint64_t value)
{
	size_t size = 0;
	for (; value >= 0x80; value >>= 7)
		to[size++] = (uint8_t)(value | 0x80);
	to[size++] = (uint8_t)value;
	return size;
}

struct packed {
	const uint8_t *bytes;
	size_t size;
	bool bad;
};

static uint64_t take(struct packed *packed)
{
	uint64_t value = 0;
	for (unsigned int shift = 0; shift < 63 && packed->size; shift += 7) {
		uint8_t byte = *packed->bytes++;
		packed->size--;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	packed->bad = true;
	return 0;
}

/* Positions go on behind the last one or jump; signs in the lowest bit. */
static uint64_t fold(uint64_t to, uint64_t from)
{
	return to >= from ? (to - from) << 1 : (from - to) << 1 | 1;
}

static uint64_t unfold(uint64_t folded, uint64_t from)
{
	return folded & 1 ? from - (folded >> 1) : from + (folded >> 1);
}

uint8_t *flattened_pack(const struct dump_file *file, size_t *ret_size)
{
	uint64_t end = 0, position = 0;
	uint8_t *bytes = calloc(file->extent_count + 1, 3 * NUMBER_MAX);
	if (!bytes)
		return NULL;
	size_t size = put(bytes, file->cut);
	for (size_t i = 0; i < file->extent_count; i++) {
		const struct extent *extent = &file->extents[i];
		size += put(bytes + size, extent->offset - end);
		size += put(bytes + size, extent->size);
		size += put(bytes + size, fold(extent->position, position));
		end = extent->offset + extent->size;
		position = extent->position + extent->size;
	}
	*ret_size = size;
	return bytes;
}

/* The next one, in the place of the last. No number has more than 63 bits: no sum runs over. */
static bool take_extent(const struct dump_file *file, struct packed *packed, struct extent *extent)
{
	uint64_t gap = take(packed), size = take(packed), jump = take(packed);
	uint64_t position = unfold(jump, extent->position + extent->size);
	uint64_t offset = extent->offset + extent->size;
	if (packed->bad || !size || gap > INT64_MAX / 2 - offset || size > file->stream_size ||
	    position < FLATTENED_HEADER_SIZE || position > file->stream_size - size)
		return false;
	*extent = (struct extent){ offset + gap, size, position };
	return offset + gap <= INT64_MAX / 2 - size;
}

bool flattened_unpack(struct dump_file *file, const uint8_t *bytes, size_t size)
{
	struct packed packed = { bytes, size, false };
	struct extent *extents = NULL, last = { 0, 0, 0 };
	size_t count = 0, capacity = 0;
	uint64_t cut = take(&packed);
	bool good = !packed.bad && cut <= 1 && packed.size;
	while (good && packed.size) {
		good = take_extent(file, &packed, &last) &&
		       array_reserve(&extents, &capacity, count + 1);
		if (good)
			extents[count++] = last;
	}
	if (!good) {
		free(extents);
		return false;
	}
	file->extents = extents;
	file->extent_count = count;
	file->cut = cut;
	return true;
}

/* --- between starts -------------------------------------------------------------------------- */

/* A dump may be several files: which one this is. */
static bool key_of(const struct dump_file *file, struct cache_key *ret)
{
	struct stat status;
	if (fstat(file->fd, &status))
		return false;
	const uint64_t which[] = { status.st_dev, status.st_ino, file->stream_size };
	cache_key_init(ret);
	cache_key_add(ret, "flattened", 9);
	cache_key_add(ret, which, sizeof(which));
	return cache_key_add_program(ret);
}

bool flattened_take(struct dump_file *file, struct helper_link *helper)
{
	const struct cache_place place = { helper, -1, NULL };
	struct cache_key key;
	size_t size;
	if (!helper || !key_of(file, &key))
		return false;
	int kept = cache_file_find(&place, &key);
	uint8_t *bytes = kept < 0 ? NULL : cache_file_read(kept, &key, &size);
	bool taken = bytes && flattened_unpack(file, bytes, size);
	free(bytes);
	return taken;
}

void flattened_keep(const struct dump_file *file, struct helper_link *helper)
{
	const struct cache_place place = { helper, -1, NULL };
	struct cache_key key;
	size_t size;
	if (!helper || file->extent_count < KEPT_MIN || !key_of(file, &key))
		return;
	uint8_t *bytes = flattened_pack(file, &size);
	/* What cannot be kept is read again next time. */
	if (bytes)
		(void)cache_file_write(&place, &key, bytes, size);
	free(bytes);
}
