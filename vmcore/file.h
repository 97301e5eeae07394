/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One file of a dump: bytes at offsets, never past its end. A flattened stream (makedumpfile -F,
 * QEMU's kdump formats) looks like the file it would be after `makedumpfile -R`.
 */
#ifndef VMCORE_FILE_H
#define VMCORE_FILE_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct helper_link;

/* A piece of a flattened stream. */
struct extent {
	uint64_t offset;   /* in the dump */
	uint64_t size;	   /* bytes */
	uint64_t position; /* in the stream */
};

struct dump_file {
	const char *path; /* borrowed, for messages */
	int fd;
	bool is_proc;		/* /proc/vmcore or /proc/kcore itself */
	bool is_live;		/* /proc/kcore, which is not mapped, only read */
	uint64_t stream_size;	/* bytes on disk */
	uint64_t size;		/* bytes of the dump in it */
	struct extent *extents; /* of a flattened stream, by offset, disjoint; else NULL */
	size_t extent_count;
	bool cut; /* a flattened stream without its end */
};

/* Opens a regular file or a block device. Errors name the path and what could be done. */
struct error *dump_file_init(struct dump_file *file, const char *path) MUST_CHECK;
struct file_opening {
	struct helper_link *helper; /* opens the file where this process may not; NULL */
	struct progress *progress;  /* of reading a flattened stream's index; NULL */
};
/* The same with what may help it. */
struct error *dump_file_init_through(struct dump_file *file, const char *path,
				     const struct file_opening *how) MUST_CHECK;
void dump_file_deinit(struct dump_file *file);
/* True when the file has all these bytes; gaps of a whole flattened stream count as zeros. */
bool dump_file_has(const struct dump_file *file, uint64_t offset, uint64_t size);
/* All or an error: ERROR_TRUNCATED past the end, ERROR_SYSTEM. */
struct error *dump_file_read(const struct dump_file *file, uint64_t offset, void *buffer,
			     size_t size) MUST_CHECK;

/*
 * The first bytes in [offset, offset + size) that are really there: in an extent of a stream, or
 * not in a hole of a sparse file. False: none are, it is all zeros that cost nothing.
 */
bool dump_file_next_data(const struct dump_file *file, uint64_t offset, uint64_t size,
			 uint64_t *ret_start, uint64_t *ret_size);
/*
 * Whether so many bytes may be read in one piece: they are not many, or one of 64 is really there.
 * A sparse file of 4 KiB, or a stream with a gap, has exabytes for nothing.
 */
bool dump_file_is_dense(const struct dump_file *file, uint64_t offset, uint64_t size);

/*
 * A piece of /proc/vmcore mapped. False: this file is not mapped, for it may shrink, and who then
 * touches its map dies; or the kernel does not want to. The bytes are those of a kernel that is
 * dead: nobody writes there.
 */
struct dump_map {
	const uint8_t *bytes;
	void *start;
	size_t size; /* of the map, bytes */
};
bool dump_file_map(const struct dump_file *file, uint64_t offset, size_t size,
		   struct dump_map *ret);
void dump_map_deinit(struct dump_map *map);

/* --- flattened.c ----------------------------------------------------------- */
#define FLATTENED_HEADER_SIZE 4096

/* True when the first bytes of a file are those of a flattened stream. */
bool flattened_detect(const uint8_t *head, size_t size);
/* Fills file->extents, size and cut, which the helper may have from the last time. */
struct error *flattened_index(struct dump_file *file, const struct file_opening *how) MUST_CHECK;
/* Where `offset` lies: the extent that holds it or the next one; extent_count: none. */
size_t flattened_find(const struct dump_file *file, uint64_t offset);

#endif
