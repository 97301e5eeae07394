// SPDX-License-Identifier: GPL-3.0-or-later
#include "vmcore/window.h"

#include "base/interrupt.h"

#define STEP_MIN     512u
#define COUNT_MIN    (1u << 18)
#define BYTES_OF_ONE 1024u

static bool is_inside(const struct file_window *window, uint64_t offset, size_t size)
{
	return offset >= window->start && offset - window->start <= window->size &&
	       size <= window->size - (size_t)(offset - window->start);
}

/* Where the next thing lies near, more is read at once; where it lies far, little. */
static size_t next_step(const struct file_window *window, uint64_t offset)
{
	if (offset < window->start || offset - window->start > 2 * (uint64_t)window->size)
		return STEP_MIN;
	return 2 * window->step < WINDOW_SIZE ? 2 * window->step : WINDOW_SIZE;
}

static struct error *move_window(struct file_window *window, uint64_t offset, size_t size)
{
	const struct dump_file *file = window->file;
	size_t step = window->size ? next_step(window, offset) : STEP_MIN;
	uint64_t left = offset < file->size ? file->size - offset : 0;
	size_t part = left < step ? (size_t)left : step;
	/* What is asked for is an error where it is not there, what is behind it is not. */
	if (part < size || !dump_file_has(file, offset, part))
		part = size;
	window->size = 0;
	struct error *error = interrupt_check();
	if (!error)
		error = dump_file_read(file, offset, window->bytes, part);
	if (error)
		return error;
	window->start = offset;
	window->size = part;
	window->step = step;
	return NULL;
}

struct error *file_window_read(struct file_window *window, uint64_t offset, size_t size,
			       const uint8_t **ret)
{
	if (!is_inside(window, offset, size)) {
		struct error *error = move_window(window, offset, size);
		if (error)
			return error;
	}
	*ret = window->bytes + (offset - window->start);
	return NULL;
}

bool file_may_have(const struct dump_file *file, size_t count)
{
	return count < COUNT_MIN || count - COUNT_MIN < file->stream_size / BYTES_OF_ONE;
}
