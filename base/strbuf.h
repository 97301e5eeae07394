/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A text that grows, for output of many small pieces. Running out of memory is remembered in
 * `failed`, what is put after that is lost: look once, at the end.
 */
#ifndef BASE_STRBUF_H
#define BASE_STRBUF_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct strbuf {
	char *data; /* not terminated; NULL while empty */
	size_t size, capacity;
	bool failed;
};

/* An empty one is { 0 }. */
void strbuf_deinit(struct strbuf *buffer);
/* Room for `size` more bytes; false without memory. */
bool strbuf_grow(struct strbuf *buffer, size_t size);
void strbuf_u64(struct strbuf *buffer, uint64_t number);
void strbuf_i64(struct strbuf *buffer, int64_t number);
/* Right-aligned in `width` places. */
void strbuf_u64_padded(struct strbuf *buffer, uint64_t number, int width);
void strbuf_repeat(struct strbuf *buffer, char character, size_t count);
/* A name from a dump: newlines and tabs, which the text itself uses, become \n and \t. */
void strbuf_name(struct strbuf *buffer, const char *name);
void strbuf_format(struct strbuf *buffer, const char *format, ...) PRINTF_LIKE(2, 3);

static inline bool strbuf_room(struct strbuf *buffer, size_t size)
{
	return buffer->capacity - buffer->size >= size || strbuf_grow(buffer, size);
}

static inline void strbuf_bytes(struct strbuf *buffer, const char *bytes, size_t size)
{
	if (!strbuf_room(buffer, size) || !size)
		return;
	memcpy(buffer->data + buffer->size, bytes, size);
	buffer->size += size;
}

static inline void strbuf_put(struct strbuf *buffer, const char *string)
{
	strbuf_bytes(buffer, string, strlen(string));
}

static inline void strbuf_char(struct strbuf *buffer, char character)
{
	strbuf_bytes(buffer, &character, 1);
}

/* Blanks up to `width` bytes after `from`, an earlier size. */
static inline void strbuf_pad(struct strbuf *buffer, size_t from, int width)
{
	size_t used = buffer->size - from;
	if (width > 0 && used < (size_t)width)
		strbuf_repeat(buffer, ' ', (size_t)width - used);
}

#endif
