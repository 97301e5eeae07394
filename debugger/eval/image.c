// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/eval/image.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/interrupt.h"
#include "debugger/target/object.h"
#include <stdlib.h>
#include <string.h>

/* What is missing is missing by pages; the smallest ones there are. */
#define PAGE_SIZE 4096

void image_deinit(struct image *image)
{
	for (size_t i = 0; i < image->hole_count; i++)
		error_free(image->holes[i].error);
	free(image->holes);
	free(image->data);
	*image = (struct image){ 0 };
}

/* Takes `error`. Neighbours that are missing for the same reason become one hole. */
static struct error *add_hole(struct image *image, uint64_t start, uint64_t end,
			      struct error *error)
{
	struct hole *last = image->hole_count ? &image->holes[image->hole_count - 1] : NULL;
	if (last && last->end == start && last->error->kind == error->kind) {
		last->end = end;
		error_free(error);
		return NULL;
	}
	if (!array_reserve(&image->holes, &image->hole_capacity, image->hole_count + 1)) {
		error_free(error);
		return error_no_memory();
	}
	image->holes[image->hole_count++] = (struct hole){ start, end, error };
	return NULL;
}

static struct error *fill(struct image *image, struct memory *memory, uint64_t address)
{
	for (uint64_t offset = 0; offset < image->size;) {
		struct error *why = NULL;
		TRY(interrupt_check());
		offset += memory_read_some(memory, address + offset, image->data + offset,
					   image->size - offset, &why);
		if (offset >= image->size) {
			error_free(why);
			break;
		}
		if (!why)
			return error_create(ERROR_OTHER, "a short read without a reason");
		if (!error_is_missing(why))
			return why;
		uint64_t end = offset + PAGE_SIZE - (address + offset) % PAGE_SIZE;
		if (end > image->size)
			end = image->size;
		memset(image->data + offset, 0, end - offset);
		TRY(add_hole(image, offset, end, why));
		offset = end;
	}
	return NULL;
}

struct error *image_read(struct memory *memory, uint64_t address, uint64_t size, struct image *ret)
{
	struct image image = { .data = malloc(size ? size : 1),
			       .size = size,
			       .big_endian = memory->big_endian };
	if (!image.data)
		return error_no_memory();
	struct error *error = fill(&image, memory, address);
	if (error)
		image_deinit(&image);
	else
		*ret = image;
	return error;
}

struct error *image_of_scalar(uint64_t scalar, uint64_t size, struct image *ret)
{
	if (size > 8)
		return error_create(ERROR_OTHER, "a scalar of %llu bytes",
				    (unsigned long long)size);
	/* At least 8, so that a scalar of no size is still something to free. */
	uint8_t *data = calloc(1, 8);
	if (!data)
		return error_no_memory();
	for (uint64_t i = 0; i < size; i++)
		data[i] = (uint8_t)(scalar >> (8 * i));
	*ret = (struct image){ .data = data, .size = size, .big_endian = false };
	return NULL;
}

struct error *image_of_bytes(const char *bytes, uint64_t size, struct image *ret)
{
	uint8_t *data = malloc(size ? size : 1);
	if (!data)
		return error_no_memory();
	memcpy(data, bytes, size);
	*ret = (struct image){ .data = data, .size = size, .big_endian = false };
	return NULL;
}

/* The first hole that ends after `offset`. */
static const struct hole *hole_after(const struct image *image, uint64_t offset)
{
	size_t first = array_bound(image->hole_count, i, image->holes[i].end <= offset);
	return first < image->hole_count ? &image->holes[first] : NULL;
}

const struct error *image_missing(const struct image *image, uint64_t offset, uint64_t size)
{
	const struct hole *hole = hole_after(image, offset);
	return size && hole && hole->start < offset + size ? hole->error : NULL;
}

const struct error *image_all_missing(const struct image *image, uint64_t offset, uint64_t size)
{
	const struct hole *hole = hole_after(image, offset);
	if (!hole || !size)
		return NULL;
	const struct hole *end = image->holes + image->hole_count;
	const struct error *first = hole->error;
	for (uint64_t at = offset; at < offset + size; at = hole++->end)
		if (hole == end || hole->start > at)
			return NULL;
	return first;
}
