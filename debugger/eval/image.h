/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A copy of an object's bytes, read in one go, that knows which parts the dump does not have. */
#ifndef DEBUGGER_EVAL_IMAGE_H
#define DEBUGGER_EVAL_IMAGE_H

#include "base/memory.h"

struct hole {
	uint64_t start, end; /* offsets of bytes that could not be read */
	struct error *error;
};

struct image {
	uint8_t *data; /* `size` bytes; holes hold zeros */
	uint64_t size;
	bool big_endian;
	struct hole *holes; /* ascending */
	size_t hole_count, hole_capacity;
};

/* Missing bytes are no error: they become holes. */
struct error *image_read(struct memory *memory, uint64_t address, uint64_t size,
			 struct image *ret) MUST_CHECK;
/* The bytes of a scalar of `size` (1 to 8) bytes, as if they lay in memory. */
struct error *image_of_scalar(uint64_t scalar, uint64_t size, struct image *ret) MUST_CHECK;
/* A copy of bytes that lie in no memory: of a string literal. */
struct error *image_of_bytes(const char *bytes, uint64_t size, struct image *ret) MUST_CHECK;
void image_deinit(struct image *image);
/* Why some byte of the range is missing, NULL: all are there. Borrowed. */
const struct error *image_missing(const struct image *image, uint64_t offset, uint64_t size);
/* The same when no byte of the range is there. */
const struct error *image_all_missing(const struct image *image, uint64_t offset, uint64_t size);

#endif
