/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A file's small things, one behind the other: headers of ranges, of chunks, of segments. They are
 * read through a window, so that millions of them do not cost a system call each.
 */
#ifndef VMCORE_WINDOW_H
#define VMCORE_WINDOW_H

#include "vmcore/file.h"

#define WINDOW_SIZE 65536u

/* Zeroed but for `file` to begin with. */
struct file_window {
	const struct dump_file *file; /* borrowed */
	uint64_t start;		      /* where `bytes` are from */
	size_t size;		      /* of what is there, bytes */
	size_t step;		      /* how much was last asked for */
	uint8_t bytes[WINDOW_SIZE];
};

/*
 * `size` bytes (at most WINDOW_SIZE) at `offset`, which stay until the next call. Errors are those
 * of dump_file_read(), and ERROR_INTERRUPTED.
 */
struct error *file_window_read(struct file_window *window, uint64_t offset, size_t size,
			       const uint8_t **ret) MUST_CHECK;
/*
 * Whether a file of that size may have one more than `count` of them: 262,144, and one for each
 * KiB. What real tools write is larger; each costs memory, and time for sorting.
 */
bool file_may_have(const struct dump_file *file, size_t count);

#endif
