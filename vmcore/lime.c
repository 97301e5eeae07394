// SPDX-License-Identifier: GPL-3.0-or-later
#include "vmcore/lime.h"

#include "base/bytes.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct error *lime_header_read(struct file_window *window, uint64_t offset, const char *magic,
			       uint32_t version, struct lime_header *ret)
{
	const struct dump_file *file = window->file;
	const uint8_t *raw = NULL;
	struct error *error = file_window_read(window, offset, LIME_HEADER_SIZE, &raw);
	if (error)
		return error;
	if (memcmp(raw, magic, 4) != 0)
		return error_create(ERROR_FORMAT, "%s: no %s header at offset %" PRIu64, file->path,
				    magic, offset);
	if (load_u32(raw + 4, false) != version)
		return error_create(ERROR_UNSUPPORTED,
				    "%s: %s version %" PRIu32 " at offset %" PRIu64
				    ", only %" PRIu32 " is known",
				    file->path, magic, load_u32(raw + 4, false), offset, version);
	uint64_t start = load_u64(raw + 8, false), last = load_u64(raw + 16, false);
	if (last < start || last - start == UINT64_MAX)
		return error_create(ERROR_FORMAT,
				    "%s: the range at offset %" PRIu64 " ends before its start",
				    file->path, offset);
	*ret = (struct lime_header){ start, last - start + 1 };
	return NULL;
}

/* What is behind a range that cannot be read is lost, what is before it is not. */
static struct error *read_runs(const struct dump_file *file, struct elf_runs *runs,
			       uint64_t *ret_promised)
{
	uint64_t at = 0;
	struct file_window window = { .file = file };
	while (at < file->size) {
		struct lime_header header;
		struct error *error = lime_header_read(&window, at, LIME_MAGIC, 1, &header);
		if (error && at && !error_is_fatal(error)) {
			error_free(error);
			*ret_promised = UINT64_MAX;
			return NULL;
		}
		if (error)
			return error;
		if (!file_may_have(file, runs->count))
			return error_create(ERROR_FORMAT, "%s: %zu ranges are too many", file->path,
					    runs->count);
		at += LIME_HEADER_SIZE;
		if (!elf_runs_add(runs, header.start, header.size, at))
			return error_no_memory();
		*ret_promised = header.size > UINT64_MAX - at ? UINT64_MAX : at + header.size;
		if (*ret_promised > file->size)
			return NULL;
		at = *ret_promised;
	}
	return NULL;
}

struct error *lime_open(const struct dump_file *file, struct elf_core **ret)
{
	struct elf_runs runs = { 0 };
	uint64_t promised = 0;
	struct error *error = read_runs(file, &runs, &promised);
	if (!error)
		error = elf_core_of_runs(file, &runs, ret);
	free(runs.items);
	if (!error)
		(*ret)->promised_size = promised;
	return error;
}
