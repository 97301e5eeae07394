// SPDX-License-Identifier: GPL-3.0-or-later
#include "vmcore/diskdump.h"

#include "base/array.h"
#include "base/bytes.h"
#include "vmcore/diskdump_header.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DESCRIPTOR_SIZE	 24
#define DESCRIPTOR_BATCH 128
#define RANK_BITS	 4096
#define AHEAD_SIZE	 (512u << 10) /* bytes; a page at the least, twice the largest */

struct descriptor {
	uint64_t offset; /* of the page's data in the file */
	uint32_t size, flags;
};

static uint64_t count_bits(const uint8_t *bytes, uint64_t size)
{
	uint64_t count = 0;
	for (; size >= 8; bytes += 8, size -= 8)
		count += (unsigned int)__builtin_popcountll(load_u64(bytes, false));
	for (; size; size--)
		count += (unsigned int)__builtin_popcount(*bytes++);
	return count;
}

static bool is_dumped(const struct diskdump_part *part, uint64_t page)
{
	uint64_t bit = page - part->first;
	return part->dumped[bit / 8] >> (bit % 8) & 1;
}

/* Dumped pages of this file before `page`: the number of its descriptor. */
static uint64_t rank(const struct diskdump_part *part, uint64_t page)
{
	uint64_t bit = page - part->first, block = bit / RANK_BITS;
	const uint8_t *from = part->dumped + block * (RANK_BITS / 8);
	uint64_t count = part->ranks[block] + count_bits(from, bit % RANK_BITS / 8);
	if (bit % 8)
		count += (unsigned int)__builtin_popcount(part->dumped[bit / 8] &
							  ((1u << bit % 8) - 1));
	return count;
}

/* Loads the part's share of the second bitmap and counts it. */
static struct error *load_bitmap(struct diskdump_part *part)
{
	part->first = part->start & ~(uint64_t)7;
	uint64_t bits = part->end - part->first;
	uint64_t size = (bits + 7) / 8, blocks = bits / RANK_BITS + 1;
	part->dumped = malloc(size + 1);
	part->ranks = malloc(blocks * sizeof(*part->ranks));
	if (!part->dumped || !part->ranks)
		return error_no_memory();
	struct error *error = dump_file_read(part->file, part->dumped_offset + part->first / 8,
					     part->dumped, size);
	if (error)
		return error;
	/* Bits that belong to other files or to no page at all would spoil the ranks. */
	if (part->start % 8)
		part->dumped[0] &= (uint8_t)(0xff << part->start % 8);
	if (bits % 8)
		part->dumped[size - 1] &= (uint8_t)(0xff >> (8 - bits % 8));
	uint64_t count = 0;
	for (uint64_t block = 0; block < blocks; block++) {
		uint64_t from = block * (RANK_BITS / 8), left = size - from;
		part->ranks[block] = count;
		if (from < size)
			count += count_bits(part->dumped + from,
					    left < RANK_BITS / 8 ? left : RANK_BITS / 8);
	}
	part->descriptor_count = count;
	return NULL;
}

/* Reads up to DESCRIPTOR_BATCH descriptors; those past a cut are left out of *ret_count. */
static struct error *read_descriptors(const struct diskdump *dump, const struct diskdump_part *part,
				      uint64_t number, struct descriptor *ret, size_t *ret_count)
{
	uint8_t raw[DESCRIPTOR_BATCH * DESCRIPTOR_SIZE];
	size_t count = *ret_count;
	uint64_t offset = part->descriptor_offset + number * DESCRIPTOR_SIZE;
	while (count && !dump_file_has(part->file, offset, count * DESCRIPTOR_SIZE))
		count--;
	*ret_count = count;
	if (!count)
		return NULL;
	struct error *error = dump_file_read(part->file, offset, raw, count * DESCRIPTOR_SIZE);
	if (error)
		return error;
	for (size_t i = 0; i < count; i++) {
		const uint8_t *at = raw + i * DESCRIPTOR_SIZE;
		ret[i] = (struct descriptor){ load_u64(at, dump->big_endian),
					      load_u32(at + 8, dump->big_endian),
					      load_u32(at + 12, dump->big_endian) };
	}
	return NULL;
}

/* --- opening ---------------------------------------------------------------- */

/* The data of the last pages says where the file should end. */
static struct error *check_end(struct diskdump *dump, struct diskdump_part *part)
{
	struct descriptor batch[DESCRIPTOR_BATCH];
	size_t count = part->descriptor_count < DESCRIPTOR_BATCH ? (size_t)part->descriptor_count
								 : DESCRIPTOR_BATCH;
	size_t got = count;
	struct error *error =
		read_descriptors(dump, part, part->descriptor_count - count, batch, &got);
	if (error)
		return error;
	uint64_t end = part->descriptor_offset + part->descriptor_count * DESCRIPTOR_SIZE;
	for (size_t i = 0; i < got; i++) {
		if (!dump_file_has(part->file, batch[i].offset, batch[i].size))
			dump->cut = true;
		if (batch[i].offset < UINT64_MAX - UINT32_MAX &&
		    batch[i].offset + batch[i].size > end)
			end = batch[i].offset + batch[i].size;
	}
	if (got < count || part->file->cut)
		dump->cut = true;
	dump->promised_size += end;
	return NULL;
}

static struct error *count_ram(struct diskdump *dump, const struct diskdump_part *part)
{
	uint8_t chunk[16384];
	uint64_t left = (dump->page_count + 7) / 8, offset = part->bitmap_offset;
	while (left) {
		size_t size = left < sizeof(chunk) ? (size_t)left : sizeof(chunk);
		struct error *error = dump_file_read(part->file, offset, chunk, size);
		if (error)
			return error;
		if (size == left && dump->page_count % 8)
			chunk[size - 1] &= (uint8_t)(0xff >> (8 - dump->page_count % 8));
		dump->ram_pages += count_bits(chunk, size);
		offset += size;
		left -= size;
	}
	return NULL;
}

/* A block of the file, or NULL when it is cut off or absurd: its notes are then not there. */
static struct error *read_block(const struct dump_file *file, uint64_t offset, uint64_t size,
				uint8_t **ret)
{
	if (!size || size > NOTES_SIZE_LIMIT || !dump_file_has(file, offset, size))
		return NULL;
	uint8_t *block = malloc(size);
	if (!block)
		return error_no_memory();
	struct error *error = dump_file_read(file, offset, block, size);
	if (error)
		free(block);
	else
		*ret = block;
	return error;
}

static struct error *load_notes(struct diskdump *dump, const struct dump_file *file,
				const struct diskdump_header *header)
{
	struct error *error =
		read_block(file, header->note_offset, header->note_size, &dump->note_bytes);
	if (!error && dump->note_bytes) {
		struct bytes bytes = { dump->note_bytes, header->note_size, dump->big_endian };
		error = notes_parse(&dump->notes, &bytes);
	}
	if (!error)
		error = read_block(file, header->info_offset, header->info_size, &dump->info_bytes);
	if (dump->info_bytes)
		dump->info_size = header->info_size;
	return error;
}

static void take_header(struct diskdump *dump, const struct diskdump_header *header)
{
	dump->page_size = header->page_size;
	dump->word_size = header->word_size;
	dump->big_endian = header->big_endian;
	dump->version = header->version;
	dump->status = header->status;
	dump->dump_level = header->dump_level;
	dump->time = header->time;
	memcpy(dump->machine, header->machine, sizeof(dump->machine));
	dump->page_count = header->page_count;
}

static struct error *add_part(struct diskdump *dump, struct dump_file *file, size_t index)
{
	struct diskdump_header header;
	struct error *error = diskdump_header_read(file, &header);
	if (error)
		return error;
	if (!index) {
		take_header(dump, &header);
		error = load_notes(dump, file, &header);
	} else if (header.page_size != dump->page_size || header.page_count != dump->page_count ||
		   header.word_size != dump->word_size || header.time != dump->time ||
		   header.big_endian != dump->big_endian ||
		   memcmp(header.machine, dump->machine, sizeof(header.machine))) {
		error = error_create(ERROR_FORMAT, "%s: not of the same dump as %s", file->path,
				     dump->parts[0].file->path);
	}
	dump->status |= header.status & DISKDUMP_INCOMPLETE;
	/* makedumpfile --split makes more files than pages need: some are empty. */
	bool empty = header.start >= header.end;
	dump->parts[dump->part_count++] = (struct diskdump_part){
		.file = file,
		.start = empty ? 0 : header.start,
		.end = empty ? 0 : header.end,
		.bitmap_offset = header.bitmap_offset,
		.dumped_offset = header.dumped_offset,
		.bitmap_bits = header.bitmap_bits,
		.descriptor_offset = header.descriptor_offset,
	};
	return error;
}

static int compare_parts(const void *left, const void *right)
{
	const struct diskdump_part *a = left, *b = right;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end < b->end ? -1 : a->end > b->end;
}

/* Sorts the parts; two that claim the same page are two copies of one, or of two dumps. */
static struct error *order_parts(struct diskdump *dump)
{
	array_sort(dump->parts, dump->part_count, sizeof(*dump->parts), compare_parts);
	uint64_t end = 0;
	for (size_t i = 0; i < dump->part_count; i++) {
		const struct diskdump_part *part = &dump->parts[i];
		if (part->start == part->end)
			continue;
		if (i && part->start < end)
			return error_create(ERROR_FORMAT,
					    "%s: holds the same pages as another file; give each "
					    "file of a split dump once",
					    part->file->path);
		if (part->start > end)
			dump->parts_missing = true;
		end = part->end;
	}
	if (end < dump->page_count)
		dump->parts_missing = true;
	return NULL;
}

static struct error *open_parts(struct diskdump *dump, struct dump_file *files, size_t count)
{
	struct error *error = NULL;
	for (size_t i = 0; !error && i < count; i++)
		error = add_part(dump, &files[i], i);
	if (!error)
		error = count_ram(dump, &dump->parts[0]);
	if (!error)
		error = order_parts(dump);
	for (size_t i = 0; !error && i < count; i++) {
		error = load_bitmap(&dump->parts[i]);
		if (!error)
			error = check_end(dump, &dump->parts[i]);
	}
	if (error)
		return error;
	dump->ahead = malloc(AHEAD_SIZE);
	dump->page = malloc(dump->page_size);
	return dump->ahead && dump->page ? NULL : error_no_memory();
}

struct error *diskdump_open(struct dump_file *files, size_t count, struct diskdump **ret)
{
	struct diskdump *dump = calloc(1, sizeof(*dump));
	if (!dump)
		return error_no_memory();
	dump->parts = calloc(count, sizeof(*dump->parts));
	struct error *error = dump->parts ? open_parts(dump, files, count) : error_no_memory();
	if (error) {
		diskdump_close(dump);
		return error;
	}
	*ret = dump;
	return NULL;
}

void diskdump_close(struct diskdump *dump)
{
	if (!dump)
		return;
	for (size_t i = 0; i < dump->part_count; i++) {
		free(dump->parts[i].dumped);
		free(dump->parts[i].ranks);
	}
	notes_deinit(&dump->notes);
	decompressor_deinit(&dump->decompressor);
	free(dump->note_bytes);
	free(dump->info_bytes);
	free(dump->ahead);
	free(dump->page);
	free(dump->parts);
	free(dump);
}

struct error *diskdump_share(const struct diskdump *dump, struct diskdump **ret)
{
	struct diskdump *shared = malloc(sizeof(*shared));
	if (!shared)
		return error_no_memory();
	*shared = *dump;
	shared->decompressor = (struct decompressor){ 0 };
	shared->ahead_file = NULL;
	shared->ahead = malloc(AHEAD_SIZE);
	shared->page = malloc(dump->page_size);
	if (!shared->ahead || !shared->page) {
		diskdump_unshare(shared);
		return error_no_memory();
	}
	*ret = shared;
	return NULL;
}

void diskdump_unshare(struct diskdump *shared)
{
	if (!shared)
		return;
	decompressor_deinit(&shared->decompressor);
	free(shared->ahead);
	free(shared->page);
	free(shared);
}

bool diskdump_is_compressed(const struct diskdump *dump)
{
	return dump->status &
	       (COMPRESSION_ZLIB | COMPRESSION_LZO | COMPRESSION_SNAPPY | COMPRESSION_ZSTD);
}

/* --- looking up pages --------------------------------------------------------- */

/* The part that holds the page, NULL: its file was not given. */
static const struct diskdump_part *find_part(const struct diskdump *dump, uint64_t page)
{
	size_t first = array_bound(dump->part_count, i, dump->parts[i].end <= page);
	if (first < dump->part_count && dump->parts[first].start <= page)
		return &dump->parts[first];
	return NULL;
}

/* The first bitmap is only asked when the second has already said no. */
static bool is_ram(const struct diskdump *dump, uint64_t page)
{
	uint8_t byte = 0;
	const struct diskdump_part *part = &dump->parts[0];
	struct error *error = dump_file_read(part->file, part->bitmap_offset + page / 8, &byte, 1);
	bool ram = !error && byte >> (page % 8) & 1;
	error_free(error);
	return ram;
}

/* Why the page is not in the dump. */
static struct error *missing(const struct diskdump *dump, const struct diskdump_part *part,
			     uint64_t physical)
{
	uint64_t page = physical / dump->page_size;
	if (page >= dump->page_count || !is_ram(dump, page))
		return error_create_at(ERROR_FAULT, physical,
				       "there is no memory at physical address 0x%" PRIx64,
				       physical);
	if (!part)
		return error_create_at(ERROR_TRUNCATED, physical,
				       "physical address 0x%" PRIx64
				       " is in a file of this split dump that was not given",
				       physical);
	return error_create_at(ERROR_EXCLUDED, physical,
			       "the page at physical address 0x%" PRIx64
			       " was left out of the dump by its filter",
			       physical);
}

/* --- reading ------------------------------------------------------------------ */

/* Lets dump->ahead hold the data of batch[0], and of those after it that follow in the file. */
static struct error *read_ahead(struct diskdump *dump, const struct dump_file *file,
				const struct descriptor *batch, size_t count)
{
	uint64_t offset = batch[0].offset, end = offset + batch[0].size;
	if (file == dump->ahead_file && offset >= dump->ahead_offset &&
	    end <= dump->ahead_offset + dump->ahead_size)
		return NULL;
	for (size_t i = 1; i < count && batch[i].offset == end; i++) {
		uint64_t next = end + batch[i].size;
		if (next - offset > AHEAD_SIZE || !dump_file_has(file, end, batch[i].size))
			break;
		end = next;
	}
	dump->ahead_file = NULL;
	struct error *error = dump_file_read(file, offset, dump->ahead, end - offset);
	if (error)
		return error;
	dump->ahead_file = file;
	dump->ahead_offset = offset;
	dump->ahead_size = end - offset;
	return NULL;
}

/* A page's data as the machine had it. */
static struct error *read_page(struct diskdump *dump, const struct dump_file *file,
			       const struct descriptor *batch, size_t count, uint8_t *to)
{
	/* Some writers keep a compressed page that is no smaller; never twice as large. */
	if (!batch->size || batch->size > 2 * dump->page_size)
		return error_create(ERROR_DAMAGED, "its descriptor is damaged");
	if (!dump_file_has(file, batch->offset, batch->size))
		return error_create(ERROR_TRUNCATED, "the file ends before it");
	struct error *error = read_ahead(dump, file, batch, count);
	if (error)
		return error;
	const uint8_t *from = dump->ahead + (batch->offset - dump->ahead_offset);
	return decompress(&dump->decompressor, batch->flags, from, batch->size, to,
			  dump->page_size);
}

/* Copies the part of a page that is asked for, or decompresses it in place when that is all. */
static struct error *read_part(struct diskdump *dump, const struct dump_file *file,
			       const struct descriptor *batch, size_t count, size_t skip,
			       uint8_t *to, size_t size)
{
	if (size == dump->page_size)
		return read_page(dump, file, batch, count, to);
	struct error *error = read_page(dump, file, batch, count, dump->page);
	if (!error)
		memcpy(to, dump->page + skip, size);
	return error;
}

static struct error *at_page(struct error *error, uint64_t physical)
{
	error = error_prefix(error, "the page at physical address 0x%" PRIx64, physical);
	if (error->kind != ERROR_NO_MEMORY)
		error->address = physical;
	return error;
}

/* Pages from `page` on that the part holds one after the other, at most a batch. */
static size_t batch_size(const struct diskdump_part *part, uint64_t page, uint64_t last)
{
	size_t count = 0;
	while (count < DESCRIPTOR_BATCH && page + count <= last && page + count < part->end &&
	       is_dumped(part, page + count))
		count++;
	return count;
}

/* Reads the start of the range, as far as one batch of descriptors goes: *size bytes. */
static struct error *read_batch(struct diskdump *dump, uint64_t physical, uint8_t *to, size_t *size)
{
	struct descriptor batch[DESCRIPTOR_BATCH];
	uint64_t page = physical / dump->page_size;
	const struct diskdump_part *part = find_part(dump, page);
	size_t wanted = *size, done = 0;
	size_t count = part ? batch_size(part, page, (physical + wanted - 1) / dump->page_size) : 0;
	if (!count)
		return missing(dump, part, physical);
	size_t got = count;
	struct error *error = read_descriptors(dump, part, rank(part, page), batch, &got);
	if (!error && !got)
		error = error_create(ERROR_TRUNCATED, "the file ends before its descriptor");
	for (size_t i = 0; !error && i < got && done < wanted; i++) {
		size_t skip = (size_t)((physical + done) % dump->page_size);
		size_t part_size = dump->page_size - skip;
		if (part_size > wanted - done)
			part_size = wanted - done;
		error = read_part(dump, part->file, &batch[i], got - i, skip, to + done, part_size);
		if (!error)
			done += part_size;
	}
	*size = done;
	return error ? at_page(error, physical + done) : NULL;
}

struct error *diskdump_read(struct diskdump *dump, uint64_t physical, void *buffer, size_t size)
{
	uint8_t *to = buffer;
	while (size) {
		size_t part = size;
		struct error *error = read_batch(dump, physical, to, &part);
		if (error)
			return error;
		to += part;
		physical += part;
		size -= part;
	}
	return NULL;
}

/* The next page from `page` on, below `end`, whose bit is `set`; `end`: none. */
static uint64_t next_page(const struct diskdump_part *part, uint64_t page, uint64_t end, bool set)
{
	const uint8_t skip = set ? 0 : 0xff;
	while (page < end) {
		if (!(page % 8) && end - page >= 8 &&
		    part->dumped[(page - part->first) / 8] == skip)
			page += 8;
		else if (is_dumped(part, page) != set)
			page++;
		else
			break;
	}
	return page;
}

bool diskdump_next(const struct diskdump *dump, uint64_t physical, uint64_t *ret_start,
		   uint64_t *ret_size)
{
	uint64_t page = physical / dump->page_size;
	for (size_t i = 0; i < dump->part_count; i++) {
		const struct diskdump_part *part = &dump->parts[i];
		if (page >= part->end)
			continue;
		uint64_t from = page > part->start ? page : part->start;
		uint64_t start = next_page(part, from, part->end, true);
		if (start == part->end)
			continue;
		uint64_t end = next_page(part, start, part->end, false);
		*ret_start = start * dump->page_size;
		*ret_size = (end - start) * dump->page_size;
		if (*ret_start < physical) {
			*ret_size -= physical - *ret_start;
			*ret_start = physical;
		}
		return true;
	}
	return false;
}
