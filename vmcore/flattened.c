// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Flattened streams: a 4096-byte header that starts with "makedumpfile", then records
 *
 *	s64 offset, s64 size (both big-endian), `size` bytes of the dump at `offset`
 *
 * up to a record of -1, -1 (makedumpfile's IMPLEMENTATION file; QEMU dump/dump.c). Real streams
 * have two rising sequences of offsets interleaved (page descriptors and page data), and write the
 * headers twice, so the order of the records means nothing and a later one wins.
 *
 * libkdumpfile 0.5.1 does not read them, and rearranging them needs the dump's size on a disk or in
 * memory. Their index is small (one entry a record of some 16 to 64 KiB), and everything is read
 * through it: a flattened dump opens as fast as any other and costs nothing more.
 */
#include "vmcore/file.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/progress.h"
#include "vmcore/flattened_kept.h"
#include "vmcore/window.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC	      "makedumpfile\0\0\0"
#define RECORD_HEADER 16u

/* A record as it stands in the stream; `order` breaks ties. */
struct record {
	struct extent extent;
	size_t order;
};

struct records {
	struct record *items;
	size_t count, capacity;
};

bool flattened_detect(const uint8_t *head, size_t size)
{
	return size >= sizeof(MAGIC) && !memcmp(head, MAGIC, sizeof(MAGIC));
}

size_t flattened_find(const struct dump_file *file, uint64_t offset)
{
	const struct extent *extents = file->extents;
	return array_bound(file->extent_count, i, extents[i].offset + extents[i].size <= offset);
}

static struct error *bad_record(const struct dump_file *file, uint64_t position)
{
	return error_create(ERROR_FORMAT,
			    "%s: flattened stream: the record at offset %" PRIu64 " is damaged",
			    file->path, position);
}

/* Reads the record at *position; false at the end or the cut of the stream, or on an error. */
static bool next_record(struct dump_file *file, struct file_window *window, uint64_t *position,
			struct record *record, struct error **ret_error)
{
	const uint8_t *raw = NULL;
	uint64_t left = file->stream_size - *position;
	if (left < RECORD_HEADER) {
		file->cut = true;
		return false;
	}
	*ret_error = file_window_read(window, *position, RECORD_HEADER, &raw);
	if (*ret_error)
		return false;
	int64_t offset = (int64_t)load_u64(raw, true), size = (int64_t)load_u64(raw + 8, true);
	if (offset == -1 && size == -1)
		return false;
	/* Half the range: no sum of an offset and a size can overflow. */
	if (offset < 0 || size <= 0 || offset > INT64_MAX / 2 || size > INT64_MAX / 2) {
		*ret_error = bad_record(file, *position);
		return false;
	}
	*position += RECORD_HEADER;
	left -= RECORD_HEADER;
	record->extent = (struct extent){ (uint64_t)offset, (uint64_t)size, *position };
	if ((uint64_t)size > left) {
		file->cut = true;
		record->extent.size = left;
	}
	*position += record->extent.size;
	return record->extent.size > 0;
}

static struct error *read_records(struct dump_file *file, struct progress *progress,
				  struct records *records)
{
	uint64_t position = FLATTENED_HEADER_SIZE;
	if (file->stream_size <= position)
		return error_create(ERROR_TRUNCATED,
				    "%s: a flattened dump that ends within its first header",
				    file->path);
	struct error *error = NULL;
	struct record record = { .order = 0 };
	struct file_window window = { .file = file };
	while (next_record(file, &window, &position, &record, &error)) {
		if (!file_may_have(file, records->count))
			return error_create(ERROR_FORMAT,
					    "%s: flattened stream: %zu records are too many",
					    file->path, records->count);
		if (!array_reserve(&records->items, &records->capacity, records->count + 1))
			return error_no_memory();
		records->items[records->count++] = record;
		record.order++;
		progress_report(progress, "index of the flattened dump", position,
				file->stream_size);
	}
	if (!error && !records->count)
		error = error_create(ERROR_TRUNCATED,
				     "%s: a flattened dump without a single record", file->path);
	return error;
}

static int compare_records(const void *left, const void *right)
{
	const struct record *a = left, *b = right;
	if (a->extent.offset != b->extent.offset)
		return a->extent.offset < b->extent.offset ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* A heap of the records that cover the sweep's place, the youngest on top. */
struct heap {
	const struct record **items;
	size_t count, capacity;
};

static bool heap_push(struct heap *heap, const struct record *record)
{
	if (!array_reserve(&heap->items, &heap->capacity, heap->count + 1))
		return false;
	size_t at = heap->count++;
	for (; at && heap->items[(at - 1) / 2]->order < record->order; at = (at - 1) / 2)
		heap->items[at] = heap->items[(at - 1) / 2];
	heap->items[at] = record;
	return true;
}

static void heap_pop(struct heap *heap)
{
	const struct record *last = heap->items[--heap->count];
	size_t at = 0;
	for (;;) {
		size_t child = 2 * at + 1;
		if (child >= heap->count)
			break;
		if (child + 1 < heap->count &&
		    heap->items[child + 1]->order > heap->items[child]->order)
			child++;
		if (heap->items[child]->order <= last->order)
			break;
		heap->items[at] = heap->items[child];
		at = child;
	}
	heap->items[at] = last;
}

/* Adds [from, to) of a record, or lets the last extent grow when it goes on there. */
static bool add_extent(struct dump_file *file, size_t *capacity, const struct record *record,
		       uint64_t from, uint64_t to)
{
	struct extent extent = { from, to - from,
				 record->extent.position + (from - record->extent.offset) };
	struct extent *last = file->extent_count ? &file->extents[file->extent_count - 1] : NULL;
	if (last && last->offset + last->size == from &&
	    last->position + last->size == extent.position) {
		last->size += extent.size;
		return true;
	}
	if (!array_reserve(&file->extents, capacity, file->extent_count + 1))
		return false;
	file->extents[file->extent_count++] = extent;
	return true;
}

/* Sweeps over the sorted records: at every place the youngest that covers it wins. */
static bool resolve_overlaps(struct dump_file *file, const struct records *records,
			     struct heap *heap)
{
	size_t next = 0, capacity = 0;
	uint64_t place = 0;
	while (next < records->count || heap->count) {
		if (!heap->count && place < records->items[next].extent.offset)
			place = records->items[next].extent.offset;
		for (; next < records->count && records->items[next].extent.offset <= place; next++)
			if (!heap_push(heap, &records->items[next]))
				return false;
		const struct record *top = heap->items[0];
		uint64_t end = top->extent.offset + top->extent.size;
		if (end <= place) {
			heap_pop(heap);
			continue;
		}
		if (next < records->count && records->items[next].extent.offset < end)
			end = records->items[next].extent.offset;
		if (!add_extent(file, &capacity, top, place, end))
			return false;
		place = end;
	}
	return true;
}

static struct error *read_index(struct dump_file *file, struct progress *progress)
{
	struct records records = { 0 };
	struct heap heap = { 0 };
	struct error *error = read_records(file, progress, &records);
	if (!error) {
		array_sort(records.items, records.count, sizeof(*records.items), compare_records);
		if (!resolve_overlaps(file, &records, &heap))
			error = error_no_memory();
	}
	progress_end(progress);
	free(heap.items);
	free(records.items);
	return error;
}

struct error *flattened_index(struct dump_file *file, const struct file_opening *how)
{
	if (!flattened_take(file, how->helper)) {
		TRY(read_index(file, how->progress));
		flattened_keep(file, how->helper);
	}
	const struct extent *last = &file->extents[file->extent_count - 1];
	file->size = last->offset + last->size;
	return NULL;
}
