// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/kept_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Of `size` bytes more, how many there may be. */
static size_t room(const struct kept_text *text, size_t size)
{
	uint64_t most = text->limit - text->size, spare = text->capacity - text->size;
	uint64_t left = budget_left(text->budget);
	if (most > spare && most - spare > left)
		most = spare + left;
	return most < size ? (size_t)most : size;
}

/* All is taken, whether or not it is kept: a stream that fails would be written to anew. */
static ssize_t keep(void *cookie, const char *bytes, size_t size)
{
	struct kept_text *text = cookie;
	size_t part = text->error ? 0 : room(text, size);
	if (part)
		text->error = budget_reserve(text->budget, &text->text, &text->capacity,
					     text->size + part);
	if (text->error)
		return (ssize_t)size;
	if (part)
		memcpy(text->text + text->size, bytes, part);
	text->size += part;
	if (part < size)
		text->error = error_create(ERROR_BOUND,
					   "this is not all: it has more than %zu KiB of text",
					   text->size >> 10);
	return (ssize_t)size;
}

FILE *kept_text_open(struct kept_text *text, struct budget *budget, uint64_t limit)
{
	*text = (struct kept_text){ .limit = limit < SIZE_MAX ? limit : SIZE_MAX,
				    .budget = budget };
	return fopencookie(text, "w", (cookie_io_functions_t){ .write = keep });
}

void kept_text_deinit(struct kept_text *text)
{
	budget_release(text->budget, text->text, text->capacity);
	error_free(text->error);
}
