// SPDX-License-Identifier: GPL-3.0-or-later
#include "vmcore/avml.h"

#include "base/array.h"
#include "base/bytes.h"
#include "vmcore/lime.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define VERSION	      2
#define HEAD_SIZE     4u /* of a chunk: its type, and its size in 3 bytes */
#define CHECKSUM_SIZE 4u
#define END_SIZE      8u /* of a block: how many bytes its chunks took */
#define TYPE_PACKED   0x00
#define TYPE_PLAIN    0x01
#define TYPE_SKIPPED  0x80					   /* and above */
#define PACKED_MOST   (AVML_CHUNK_SIZE + AVML_CHUNK_SIZE / 6 + 32) /* of snappy_max_... */
#define RUN_MOST      1024u					   /* chunks that are one run */
#define POLYNOMIAL    0x82f63b78u

/* --- the checksum: CRC-32C, masked ------------------------------------------------- */

static void fill_checksums(uint32_t tables[8][256])
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t value = i;
		for (int bit = 0; bit < 8; bit++)
			value = value >> 1 ^ (value & 1 ? POLYNOMIAL : 0);
		tables[0][i] = value;
	}
	for (int table = 1; table < 8; table++)
		for (int i = 0; i < 256; i++) {
			uint32_t value = tables[table - 1][i];
			tables[table][i] = value >> 8 ^ tables[0][value & 0xff];
		}
}

static uint32_t checksum(uint32_t tables[8][256], const uint8_t *bytes, size_t size)
{
	uint32_t value = UINT32_MAX;
	for (; size >= 8; bytes += 8, size -= 8) {
		uint64_t word = load_u64(bytes, false) ^ value;
		value = 0;
		for (int i = 0; i < 8; i++)
			value ^= tables[7 - i][word >> 8 * i & 0xff];
	}
	for (; size; bytes++, size--)
		value = value >> 8 ^ tables[0][(value ^ *bytes) & 0xff];
	value = ~value;
	return (value >> 15 | value << 17) + 0xa282ead8u;
}

/* --- what lies where ---------------------------------------------------------------- */

static struct error *damaged(const struct avml *avml, uint64_t offset)
{
	return error_create(ERROR_FORMAT, "%s: the AVML block at offset %" PRIu64 " is damaged",
			    avml->file->path, offset);
}

/* The size that packed data begins with, 7 bits a byte; 0: it is too large, or none. */
static uint32_t unpacked_size(const uint8_t *bytes, size_t size)
{
	uint32_t value = 0;
	for (unsigned int i = 0; i < 3 && i < size; i++) {
		value |= (uint32_t)(bytes[i] & 0x7f) << 7 * i;
		if (!(bytes[i] & 0x80))
			return value <= AVML_CHUNK_SIZE ? value : 0;
	}
	return 0;
}

/* One of data, of `length` bytes from its checksum on, for the start of the memory in `room`. */
static struct error *add_chunk(struct avml *avml, struct file_window *window, bool is_packed,
			       uint64_t offset, uint32_t length, struct lime_header room,
			       uint32_t *ret_size)
{
	const uint8_t *start = NULL;
	uint32_t shown = length < CHECKSUM_SIZE + 3 ? length : CHECKSUM_SIZE + 3;
	if (length <= CHECKSUM_SIZE || length - CHECKSUM_SIZE > PACKED_MOST ||
	    !dump_file_has(avml->file, offset, length))
		return damaged(avml, offset);
	struct error *error = file_window_read(window, offset, shown, &start);
	if (error)
		return error;
	if (!file_may_have(avml->file, avml->count))
		return error_create(ERROR_FORMAT, "%s: %zu chunks are too many", avml->file->path,
				    avml->count);
	uint32_t packed = length - CHECKSUM_SIZE;
	uint32_t size = is_packed ? unpacked_size(start + CHECKSUM_SIZE, packed) : packed;
	if (!size || size > AVML_CHUNK_SIZE || size > room.size)
		return damaged(avml, offset);
	if (!array_reserve(&avml->chunks, &avml->capacity, avml->count + 1))
		return error_no_memory();
	avml->chunks[avml->count++] =
		(struct avml_chunk){ room.start, offset, size, packed, is_packed };
	*ret_size = size;
	return NULL;
}

/* The chunks of one block, whose stream starts at *offset, where its end is put. */
static struct error *read_block(struct avml *avml, struct file_window *window,
				const struct lime_header *header, uint64_t *offset)
{
	uint64_t done = 0, start = *offset, at = start;
	const uint8_t *bytes = NULL;
	if (header->size > UINT64_MAX - header->start)
		return damaged(avml, start);
	while (done < header->size) {
		struct error *error = file_window_read(window, at, HEAD_SIZE, &bytes);
		if (error)
			return error;
		uint32_t head = load_u32(bytes, false), length = head >> 8, size = 0;
		uint8_t type = (uint8_t)head;
		at += HEAD_SIZE;
		if (type == TYPE_PACKED || type == TYPE_PLAIN)
			error = add_chunk(avml, window, type == TYPE_PACKED, at, length,
					  (struct lime_header){ header->start + done,
								header->size - done },
					  &size);
		else if (type < TYPE_SKIPPED)
			error = damaged(avml, at);
		if (error)
			return error;
		done += size;
		at += length;
	}
	struct error *error = file_window_read(window, at, END_SIZE, &bytes);
	if (!error && load_u64(bytes, false) != at - start)
		error = damaged(avml, start);
	*offset = at + END_SIZE;
	return error;
}

static struct error *read_blocks(struct avml *avml)
{
	uint64_t at = 0;
	struct error *error = NULL;
	struct file_window window = { .file = avml->file };
	while (!error && at < avml->file->size) {
		struct lime_header header;
		error = lime_header_read(&window, at, AVML_MAGIC, VERSION, &header);
		at += LIME_HEADER_SIZE;
		if (!error)
			error = read_block(avml, &window, &header, &at);
	}
	avml->promised_size = avml->file->size;
	if (!error || error_is_fatal(error) || !avml->count ||
	    !file_may_have(avml->file, avml->count))
		return error;
	error_free(error);
	avml->promised_size = UINT64_MAX;
	return NULL;
}

static int compare_chunks(const void *left, const void *right)
{
	const struct avml_chunk *a = left, *b = right;
	if (a->physical != b->physical)
		return a->physical < b->physical ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Of chunks that overlap, as no tool writes them, the first one counts. */
static void sort_chunks(struct avml *avml)
{
	size_t kept = 0;
	if (avml->count)
		array_sort(avml->chunks, avml->count, sizeof(*avml->chunks), compare_chunks);
	for (size_t i = 0; i < avml->count; i++) {
		const struct avml_chunk *last = kept ? &avml->chunks[kept - 1] : NULL;
		if (!last || avml->chunks[i].physical - last->physical >= last->size)
			avml->chunks[kept++] = avml->chunks[i];
	}
	avml->count = kept;
}

struct error *avml_open(const struct dump_file *file, struct avml **ret)
{
	struct avml *avml = calloc(1, sizeof(*avml));
	if (!avml)
		return error_no_memory();
	avml->file = file;
	avml->packed = malloc(PACKED_MOST + CHECKSUM_SIZE);
	avml->cached = malloc((size_t)AVML_CACHE_COUNT * AVML_CHUNK_SIZE);
	for (unsigned int i = 0; i < AVML_CACHE_COUNT; i++)
		avml->cached_chunks[i] = SIZE_MAX;
	struct error *error = avml->packed && avml->cached ? read_blocks(avml) : error_no_memory();
	if (!error && !avml->count)
		error = error_create(ERROR_TRUNCATED, "%s: an AVML file without memory in it",
				     file->path);
	if (error) {
		avml_close(avml);
		return error;
	}
	sort_chunks(avml);
	fill_checksums(avml->checksums);
	*ret = avml;
	return NULL;
}

void avml_close(struct avml *avml)
{
	if (!avml)
		return;
	decompressor_deinit(&avml->decompressor);
	free(avml->packed);
	free(avml->cached);
	free(avml->chunks);
	free(avml);
}

/* --- reading ------------------------------------------------------------------------- */

static struct error *unpack(struct avml *avml, const struct avml_chunk *chunk, uint8_t *to)
{
	struct error *error = dump_file_read(avml->file, chunk->offset, avml->packed,
					     chunk->packed_size + CHECKSUM_SIZE);
	if (!error)
		error = decompress(&avml->decompressor, chunk->is_packed ? COMPRESSION_SNAPPY : 0,
				   avml->packed + CHECKSUM_SIZE, chunk->packed_size, to,
				   chunk->size);
	if (!error && checksum(avml->checksums, to, chunk->size) != load_u32(avml->packed, false))
		error = error_create(ERROR_DAMAGED, "its checksum is wrong");
	if (error && error->kind != ERROR_NO_MEMORY)
		error->address = chunk->physical;
	return error_prefix(error, "the AVML chunk at physical address 0x%" PRIx64,
			    chunk->physical);
}

static struct error *get_chunk(struct avml *avml, size_t index, const uint8_t **ret)
{
	for (unsigned int i = 0; i < AVML_CACHE_COUNT; i++)
		if (avml->cached_chunks[i] == index) {
			*ret = avml->cached + (size_t)i * AVML_CHUNK_SIZE;
			return NULL;
		}
	unsigned int slot = avml->next;
	uint8_t *to = avml->cached + (size_t)slot * AVML_CHUNK_SIZE;
	avml->cached_chunks[slot] = SIZE_MAX;
	struct error *error = unpack(avml, &avml->chunks[index], to);
	if (error)
		return error;
	avml->cached_chunks[slot] = index;
	avml->next = (slot + 1) % AVML_CACHE_COUNT;
	*ret = to;
	return NULL;
}

/* The chunk that holds `physical`, or the first one above; `count`: none. */
static size_t find_chunk(const struct avml *avml, uint64_t physical)
{
	const struct avml_chunk *chunks = avml->chunks;
	return array_bound(avml->count, i,
			   chunks[i].physical <= physical &&
				   physical - chunks[i].physical >= chunks[i].size);
}

struct error *avml_read(struct avml *avml, uint64_t physical, void *buffer, size_t size)
{
	uint8_t *to = buffer;
	while (size) {
		const uint8_t *bytes = NULL;
		size_t index = find_chunk(avml, physical);
		if (index == avml->count || avml->chunks[index].physical > physical)
			return error_create_at(ERROR_EXCLUDED, physical,
					       "physical address 0x%" PRIx64
					       " is not in the dump (no memory, or in 16 MiB of "
					       "zeros, which AVML leaves out)",
					       physical);
		struct error *error = get_chunk(avml, index, &bytes);
		if (error) {
			if (error->kind != ERROR_NO_MEMORY)
				error->address = physical;
			return error;
		}
		size_t skip = (size_t)(physical - avml->chunks[index].physical);
		size_t rest = avml->chunks[index].size - skip;
		size_t part = rest < size ? rest : size;
		memcpy(to, bytes + skip, part);
		to += part;
		physical += part;
		size -= part;
	}
	return NULL;
}

bool avml_next(const struct avml *avml, uint64_t physical, uint64_t *ret_start, uint64_t *ret_size)
{
	size_t index = find_chunk(avml, physical);
	if (index == avml->count)
		return false;
	const struct avml_chunk *chunk = &avml->chunks[index];
	*ret_start = chunk->physical > physical ? chunk->physical : physical;
	uint64_t end = chunk->physical + chunk->size;
	/* Those that follow, too: who searches wants large pieces, but not all of them counted. */
	for (size_t most = index + RUN_MOST;
	     ++index < most && index < avml->count && avml->chunks[index].physical == end;)
		end += avml->chunks[index].size;
	*ret_size = end - *ret_start;
	return true;
}
