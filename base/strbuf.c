// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/strbuf.h"

#include "base/array.h"
#include <stdarg.h>
#include <stdio.h>

#define DIGITS_MAX 20 /* of a 64-bit number */

void strbuf_deinit(struct strbuf *buffer)
{
	free(buffer->data);
	*buffer = (struct strbuf){ 0 };
}

bool strbuf_grow(struct strbuf *buffer, size_t size)
{
	if (buffer->failed || size > SIZE_MAX / 4 ||
	    !array_reserve(&buffer->data, &buffer->capacity, buffer->size + size)) {
		buffer->failed = true;
		return false;
	}
	return true;
}

void strbuf_u64_padded(struct strbuf *buffer, uint64_t number, int width)
{
	char digits[DIGITS_MAX], *at = digits + DIGITS_MAX;
	do {
		*--at = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	size_t length = (size_t)(digits + DIGITS_MAX - at);
	if (width > 0 && (size_t)width > length)
		strbuf_repeat(buffer, ' ', (size_t)width - length);
	strbuf_bytes(buffer, at, length);
}

void strbuf_u64(struct strbuf *buffer, uint64_t number)
{
	strbuf_u64_padded(buffer, number, 0);
}

void strbuf_i64(struct strbuf *buffer, int64_t number)
{
	if (number < 0)
		strbuf_char(buffer, '-');
	strbuf_u64(buffer, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

void strbuf_repeat(struct strbuf *buffer, char character, size_t count)
{
	if (!count || !strbuf_room(buffer, count))
		return;
	memset(buffer->data + buffer->size, character, count);
	buffer->size += count;
}

void strbuf_name(struct strbuf *buffer, const char *name)
{
	size_t plain = strcspn(name, "\n\t");
	strbuf_bytes(buffer, name, plain);
	for (name += plain; *name; name++) {
		if (*name == '\n' || *name == '\t')
			strbuf_put(buffer, *name == '\n' ? "\\n" : "\\t");
		else
			strbuf_char(buffer, *name);
	}
}

void strbuf_format(struct strbuf *buffer, const char *format, ...)
{
	va_list arguments, again;
	va_start(arguments, format);
	va_copy(again, arguments);
	size_t room = buffer->capacity - buffer->size;
	int length = vsnprintf(buffer->data ? buffer->data + buffer->size : NULL, room, format,
			       arguments);
	/* One byte more than is kept, for the NUL. */
	if (length >= 0 && (size_t)length >= room && strbuf_grow(buffer, (size_t)length + 1))
		vsnprintf(buffer->data + buffer->size, (size_t)length + 1, format, again);
	if (length >= 0 && !buffer->failed)
		buffer->size += (size_t)length;
	va_end(again);
	va_end(arguments);
}
