// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Memory maps in the memory of a PC: rows of 20 bytes (address, size, type; type 1 is RAM), sorted,
 * from address 0. Each has a row of RAM that starts at 1 MiB, which is looked for.
 */
#include "vmcore/raw.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/interrupt.h"
#include <stdlib.h>
#include <string.h>

#define CHUNK_SIZE   (1u << 20)
#define ROW_SIZE     20u
#define ROWS_BEFORE  16u
#define ROWS_MAX     320u
#define TYPE_RAM     1
#define TYPE_MAX     0x10000u
#define MEGABYTE     ((uint64_t)1 << 20)
#define GIGABYTE4    ((uint64_t)4 << 30)
#define PHYSICAL_MAX ((uint64_t)1 << 52)
#define PAGE	     4096u
#define MAPS_MAX     4096u /* that are looked into: a kernel has three of them */

struct row {
	uint64_t start, end;
	bool is_ram;
};

struct map {
	struct row rows[ROWS_MAX];
	size_t count;
};

void raw_layouts_deinit(struct raw_layouts *layouts)
{
	for (size_t i = 0; i < layouts->count; i++)
		free(layouts->items[i].items);
	layouts->count = 0;
}

/* --- reading a map -------------------------------------------------------------- */

static bool load_row(const uint8_t *at, struct row *ret)
{
	uint64_t start = load_u64(at, false), size = load_u64(at + 8, false);
	uint32_t type = load_u32(at + 16, false);
	if (!size || start >= PHYSICAL_MAX || size > PHYSICAL_MAX - start || !type ||
	    type > TYPE_MAX)
		return false;
	*ret = (struct row){ start, start + size, type == TYPE_RAM };
	return true;
}

/* The map around the row at `at` of [bytes, end); false: it is none. */
static bool load_map(const uint8_t *bytes, const uint8_t *at, const uint8_t *end, struct map *ret)
{
	struct row row, next;
	if ((size_t)(end - at) < ROW_SIZE || !load_row(at, &row) || !row.is_ram ||
	    row.end - row.start < MEGABYTE)
		return false;
	for (unsigned int i = 0; i < ROWS_BEFORE && row.start; i++) {
		if ((size_t)(at - bytes) < ROW_SIZE || !load_row(at - ROW_SIZE, &next) ||
		    next.end > row.start)
			return false;
		row = next;
		at -= ROW_SIZE;
	}
	if (row.start)
		return false;
	ret->count = 0;
	while (ret->count < ROWS_MAX && (size_t)(end - at) >= ROW_SIZE && load_row(at, &row) &&
	       (!ret->count || row.start >= ret->rows[ret->count - 1].end)) {
		ret->rows[ret->count++] = row;
		at += ROW_SIZE;
	}
	return true;
}

/* --- what it makes of the file ------------------------------------------------------ */

/* Takes the runs. */
static void add_layout(struct raw_layouts *layouts, struct elf_runs *runs)
{
	for (size_t i = 0; i < layouts->count; i++)
		if (layouts->items[i].count == runs->count &&
		    !memcmp(layouts->items[i].items, runs->items,
			    runs->count * sizeof(*runs->items))) {
			free(runs->items);
			return;
		}
	if (layouts->count == RAW_LAYOUTS_MAX)
		free(runs->items);
	else
		layouts->items[layouts->count++] = *runs;
}

/* All of the memory without a hole: what is above 4 GiB comes last. */
static struct error *add_moved(const struct map *map, uint64_t size, struct raw_layouts *layouts)
{
	uint64_t low_end = 0, high = 0, end = 0;
	for (size_t i = 0; i < map->count; i++) {
		const struct row *row = &map->rows[i];
		if (row->is_ram && row->start < GIGABYTE4)
			low_end = row->end;
		if (row->is_ram && row->start >= GIGABYTE4) {
			high = high ? high : row->start;
			end = row->end;
		}
	}
	if (!high || size >= end || size <= end - high)
		return NULL;
	uint64_t low = size - (end - high);
	if (low < low_end || low > GIGABYTE4)
		return NULL;
	struct elf_runs runs = { 0 };
	if (!elf_runs_add(&runs, 0, low, 0) || !elf_runs_add(&runs, high, end - high, low)) {
		free(runs.items);
		return error_no_memory();
	}
	add_layout(layouts, &runs);
	return NULL;
}

/* Only what is RAM; Linux takes the first page from it. */
static struct error *add_packed(const struct map *map, uint64_t skip, uint64_t size,
				struct raw_layouts *layouts)
{
	struct elf_runs runs = { 0 };
	uint64_t at = 0;
	for (size_t i = 0; i < map->count; i++) {
		struct row row = map->rows[i];
		if (!row.is_ram || row.end <= skip)
			continue;
		if (row.start < skip)
			row.start = skip;
		if (!elf_runs_add(&runs, row.start, row.end - row.start, at)) {
			free(runs.items);
			return error_no_memory();
		}
		at += row.end - row.start;
	}
	if (at == size)
		add_layout(layouts, &runs);
	else
		free(runs.items);
	return NULL;
}

static struct error *add_layouts(const struct map *map, uint64_t size, struct raw_layouts *layouts)
{
	struct error *error = add_moved(map, size, layouts);
	if (!error)
		error = add_packed(map, 0, size, layouts);
	if (!error)
		error = add_packed(map, PAGE, size, layouts);
	return error;
}

/* --- the search ---------------------------------------------------------------------- */

static struct error *search_chunk(const uint8_t *bytes, size_t size, uint64_t file_size,
				  struct raw_layouts *layouts)
{
	struct map map;
	const uint8_t *end = bytes + size, *at = bytes + 2;
	struct error *error = NULL;
	/* The one byte of it that is not 0: memory is zeros, on which memmem() is slow. */
	while (!error && layouts->maps < MAPS_MAX && at < end &&
	       (at = memchr(at, MEGABYTE >> 16, (size_t)(end - at)))) {
		const uint8_t *row = at++ - 2;
		if ((size_t)(end - row) < ROW_SIZE)
			break;
		if (load_u64(row, false) == MEGABYTE && load_map(bytes, row, end, &map)) {
			layouts->maps++;
			error = add_layouts(&map, file_size, layouts);
		}
	}
	return error;
}

/* Bytes of the file that are there; pieces overlap by a map. */
static struct error *search_data(const struct dump_file *file, uint64_t offset, uint64_t size,
				 uint8_t *chunk, struct raw_layouts *layouts)
{
	const uint64_t overlap = (ROWS_BEFORE + ROWS_MAX) * ROW_SIZE;
	struct error *error = NULL;
	while (!error && size) {
		size_t part = size < CHUNK_SIZE ? (size_t)size : CHUNK_SIZE;
		error = dump_file_read(file, offset, chunk, part);
		if (!error)
			error = search_chunk(chunk, part, file->size, layouts);
		if (!error)
			error = interrupt_check();
		uint64_t step = part < size ? part - overlap : part;
		offset += step;
		size -= step;
	}
	return error;
}

struct error *raw_find_layouts(const struct dump_file *file, uint64_t offset, uint64_t size,
			       struct raw_layouts *layouts)
{
	uint8_t *chunk = malloc(CHUNK_SIZE);
	struct error *error = chunk ? NULL : error_no_memory();
	uint64_t end = size < UINT64_MAX - offset ? offset + size : UINT64_MAX, held;
	/* No map lies in a hole of a sparse file, nor crosses one: its rows are not zeros. */
	while (!error && dump_file_next_data(file, offset, end - offset, &offset, &held)) {
		error = search_data(file, offset, held, chunk, layouts);
		offset += held;
	}
	free(chunk);
	return error;
}
