// SPDX-License-Identifier: GPL-3.0-or-later
/* The headers of kdump-compressed files, checked before libkdumpfile sees them. */
#include "vmcore/diskdump_header.h"

#include "base/bytes.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_SIZE_MIN	4096
#define PAGE_SIZE_MAX	(256 << 10)
#define HEADER_SIZE	464
#define SUB_HEADER_SIZE 104
#define UTSNAME_FIELD	65

/* Offsets that differ between the headers of 32-bit and 64-bit machines. */
struct layout {
	uint8_t word_size;
	uint16_t time,
		status; /* after status: block_size, sub_hdr_size, bitmap_blocks, max_mapnr */
	uint8_t level, split, start, end, info, info_size, note, note_size;
	uint8_t start64, end64, count64;
};

static const struct layout layouts[] = {
	{ 4, 404, 412, 4, 8, 12, 16, 20, 28, 32, 40, 56, 64, 72 },
	{ 8, 408, 424, 8, 12, 16, 24, 32, 40, 48, 56, 80, 88, 96 },
};

/*
 * The header says neither its byte order nor its word size: the first reading that makes sense
 * counts. Order and test are those of libkdumpfile, or the two would read different files.
 */
static const struct layout *find_layout(const uint8_t *raw, bool *ret_big_endian)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		for (int big = 0; big < 2; big++) {
			const uint8_t *at = raw + layouts[i].status;
			int32_t block = (int32_t)load_u32(at + 4, big);
			uint32_t bitmap = load_u32(at + 12, big), count = load_u32(at + 16, big);
			if (block < PAGE_SIZE_MIN || block > PAGE_SIZE_MAX ||
			    (uint64_t)8 * bitmap * (uint32_t)block < count)
				continue;
			*ret_big_endian = big;
			return &layouts[i];
		}
	return NULL;
}

static uint64_t load_word(const struct layout *layout, const uint8_t *at, bool big_endian)
{
	return load_unsigned(at, layout->word_size, big_endian);
}

static void load_sub_header(const struct layout *layout, const uint8_t *raw, bool big,
			    struct diskdump_header *ret)
{
	if (ret->version >= 1)
		ret->dump_level = (int32_t)load_u32(raw + layout->level, big);
	if (ret->version >= 2 && load_u32(raw + layout->split, big)) {
		ret->start = load_word(layout, raw + layout->start, big);
		ret->end = load_word(layout, raw + layout->end, big);
		if (ret->version >= 6) {
			ret->start = load_u64(raw + layout->start64, big);
			ret->end = load_u64(raw + layout->end64, big);
		}
		ret->is_split = true;
	}
	if (ret->version == 3) {
		ret->info_offset = load_u64(raw + layout->info, big);
		ret->info_size = load_word(layout, raw + layout->info_size, big);
	}
	if (ret->version >= 4) {
		ret->note_offset = load_u64(raw + layout->note, big);
		ret->note_size = load_word(layout, raw + layout->note_size, big);
	}
	if (ret->version >= 6)
		ret->page_count = load_u64(raw + layout->count64, big);
}

static struct error *damaged(const struct dump_file *file, const char *what, int64_t value)
{
	return error_create(ERROR_FORMAT, "%s: kdump-compressed header is damaged: %s is %" PRId64,
			    file->path, what, value);
}

/* What libkdumpfile would believe unchecked. */
static struct error *check_header(const struct dump_file *file, struct diskdump_header *header)
{
	uint64_t block = header->page_size;
	if (block & (block - 1))
		return damaged(file, "block size", (int64_t)block);
	if (header->version < 0)
		return damaged(file, "header version", header->version);
	if (header->sub_blocks < 0)
		return damaged(file, "sub header size", header->sub_blocks);
	uint64_t bits = header->bitmap_blocks * block * 8;
	header->bitmap_offset = (1 + (uint64_t)header->sub_blocks) * block;
	header->descriptor_offset = header->bitmap_offset + header->bitmap_blocks * block;
	header->dumped_offset = header->bitmap_offset;
	header->bitmap_bits = bits;
	if (header->page_count > bits)
		return damaged(file, "number of pages", (int64_t)header->page_count);
	/* Two bitmaps when the half suffices: a whole, unfiltered dump can do with one. */
	if (header->page_count <= bits / 2) {
		header->bitmap_bits = header->bitmap_blocks / 2 * block * 8;
		header->dumped_offset += header->bitmap_bits / 8;
	}
	if (!dump_file_has(file, header->bitmap_offset, header->bitmap_blocks * block))
		return error_create(ERROR_TRUNCATED,
				    "%s: the file ends within its page bitmaps; nothing can be "
				    "read from it",
				    file->path);
	if (!dump_file_is_dense(file, header->bitmap_offset, header->bitmap_blocks * block))
		return error_create(
			ERROR_FORMAT,
			"%s: damaged: most of its page bitmaps lie in a hole of the file",
			file->path);
	if (header->page_count > header->bitmap_bits)
		header->page_count = header->bitmap_bits;
	if (header->is_split && header->start > header->end)
		return damaged(file, "first page of a split file", (int64_t)header->start);
	if (!header->is_split || header->end > header->page_count)
		header->end = header->page_count;
	return NULL;
}

static void load_header(const struct layout *layout, const uint8_t *raw,
			struct diskdump_header *ret)
{
	bool big = ret->big_endian;
	const uint8_t *at = raw + layout->status;
	ret->word_size = layout->word_size;
	ret->version = (int32_t)load_u32(raw + 8, big);
	memcpy(ret->machine, raw + 12 + 4 * UTSNAME_FIELD, UTSNAME_FIELD);
	ret->time = (int64_t)load_word(layout, raw + layout->time, big);
	ret->status = load_u32(at, big);
	ret->page_size = load_u32(at + 4, big);
	ret->sub_blocks = (int32_t)load_u32(at + 8, big);
	ret->bitmap_blocks = load_u32(at + 12, big);
	ret->page_count = load_u32(at + 16, big);
	ret->dump_level = -1;
}

static struct error *cut_header(const struct dump_file *file)
{
	return error_create(ERROR_TRUNCATED,
			    "%s: the file ends within its kdump-compressed header; nothing can be "
			    "read from it",
			    file->path);
}

struct error *diskdump_header_read(const struct dump_file *file, struct diskdump_header *ret)
{
	struct diskdump_header header = { 0 };
	uint8_t raw[HEADER_SIZE], sub[SUB_HEADER_SIZE] = { 0 };
	if (!dump_file_has(file, 0, sizeof(raw)))
		return cut_header(file);
	struct error *error = dump_file_read(file, 0, raw, sizeof(raw));
	if (error)
		return error;
	const struct layout *layout = find_layout(raw, &header.big_endian);
	if (!layout)
		return error_create(ERROR_FORMAT,
				    "%s: kdump-compressed header is damaged: no sane page size and "
				    "bitmap size in it",
				    file->path);
	load_header(layout, raw, &header);
	if (header.version >= 1) {
		if (!dump_file_has(file, header.page_size, sizeof(sub)))
			return cut_header(file);
		error = dump_file_read(file, header.page_size, sub, sizeof(sub));
		if (error)
			return error;
		load_sub_header(layout, sub, header.big_endian, &header);
	}
	error = check_header(file, &header);
	if (!error)
		*ret = header;
	return error;
}
