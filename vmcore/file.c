// SPDX-License-Identifier: GPL-3.0-or-later
#include "vmcore/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/*
 * read() of /proc/vmcore has each page mapped and unmapped by the kernel, one by one; mmap() maps
 * them all at once. Under emulation 8 MiB take 50 ms to read and 22 ms to map and copy; 4 KiB take
 * 0.03 and 0.06 ms. It cannot shrink, and so not kill us by SIGBUS as a file on a disk might.
 */
#define MAP_SIZE_MIN  (16u << 10)
#define MAP_ALIGNMENT (64u << 10) /* a multiple of any page size */

static struct error *open_error(const char *path)
{
	switch (errno) {
	case ENOENT:
		return error_create(ERROR_SYSTEM, "%s: no such file", path);
	case EACCES:
	case EPERM:
		return error_create(ERROR_SYSTEM,
				    "%s: permission denied (dumps are often readable by root only; "
				    "try sudo or chmod)",
				    path);
	}
	return error_system("%s", path);
}

static struct error *check_kind(const char *path, mode_t mode)
{
	if (S_ISDIR(mode))
		return error_create(ERROR_FORMAT, "%s: a directory; give the dump file in it",
				    path);
	if (!S_ISREG(mode) && !S_ISBLK(mode))
		return error_create(ERROR_FORMAT,
				    "%s: not a file that can be read at any place; save the dump "
				    "to a regular file first",
				    path);
	return NULL;
}

/* /proc/vmcore and block devices say their size only by their end. */
static struct error *find_size(struct dump_file *file, const struct stat *status)
{
	off_t end = status->st_size;
	if (S_ISBLK(status->st_mode) || !end)
		end = lseek(file->fd, 0, SEEK_END);
	if (end < 0)
		return error_system("%s: cannot find its size", file->path);
	if (!end)
		return error_create(ERROR_FORMAT,
				    "%s: the file is empty; was the dump ever written?",
				    file->path);
	file->stream_size = file->size = (uint64_t)end;
	return NULL;
}

static struct error *look_inside(struct dump_file *file)
{
	uint8_t head[16];
	if (!dump_file_has(file, 0, sizeof(head)))
		return NULL;
	struct error *error = dump_file_read(file, 0, head, sizeof(head));
	if (!error && flattened_detect(head, sizeof(head)))
		error = flattened_index(file);
	return error;
}

struct error *dump_file_init(struct dump_file *file, const char *path)
{
	*file = (struct dump_file){ .path = path, .fd = -1 };
	/* O_NONBLOCK: a pipe without a writer would hang before it could be refused. */
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (file->fd < 0)
		return open_error(path);
	struct stat status;
	struct error *error = NULL;
	if (fstat(file->fd, &status))
		error = error_system("%s", path);
	if (!error)
		error = check_kind(path, status.st_mode);
	struct statfs system;
	file->is_proc = !fstatfs(file->fd, &system) && system.f_type == PROC_SUPER_MAGIC;
	if (!error)
		error = find_size(file, &status);
	if (!error)
		error = look_inside(file);
	if (error)
		dump_file_deinit(file);
	return error;
}

void dump_file_deinit(struct dump_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	free(file->extents);
	*file = (struct dump_file){ .fd = -1 };
}

/* The first byte from `offset` on that the stream does not bring, at most offset + size. */
static uint64_t covered_end(const struct dump_file *file, uint64_t offset, uint64_t size)
{
	uint64_t end = offset + size;
	for (size_t i = flattened_find(file, offset); i < file->extent_count && offset < end; i++) {
		const struct extent *extent = &file->extents[i];
		if (extent->offset > offset)
			break;
		offset = extent->offset + extent->size;
	}
	return offset < end ? offset : end;
}

bool dump_file_has(const struct dump_file *file, uint64_t offset, uint64_t size)
{
	if (offset > file->size || size > file->size - offset)
		return false;
	return !file->cut || covered_end(file, offset, size) == offset + size;
}

bool dump_file_map(const struct dump_file *file, uint64_t offset, size_t size, struct dump_map *ret)
{
	if (!file->is_proc || file->extents || !dump_file_has(file, offset, size))
		return false;
	size_t skip = (size_t)(offset % MAP_ALIGNMENT);
	void *start =
		mmap(NULL, skip + size, PROT_READ, MAP_SHARED, file->fd, (off_t)(offset - skip));
	if (start == MAP_FAILED)
		return false;
	*ret = (struct dump_map){ (const uint8_t *)start + skip, start, skip + size };
	return true;
}

void dump_map_deinit(struct dump_map *map)
{
	munmap(map->start, map->size);
}

/* pread() until done; a file that shrank under our hands is a truncated one. */
static struct error *read_plain(const struct dump_file *file, uint64_t position, uint8_t *buffer,
				size_t size)
{
	struct dump_map map;
	if (size >= MAP_SIZE_MIN && dump_file_map(file, position, size, &map)) {
		memcpy(buffer, map.bytes, size);
		dump_map_deinit(&map);
		return NULL;
	}
	while (size) {
		ssize_t got = pread(file->fd, buffer, size, (off_t)position);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_system("%s: cannot read at offset %" PRIu64, file->path,
					    position);
		if (!got)
			return error_create(ERROR_TRUNCATED, "%s: the file ends at offset %" PRIu64,
					    file->path, position);
		buffer += got;
		position += (uint64_t)got;
		size -= (size_t)got;
	}
	return NULL;
}

static struct error *read_flattened(const struct dump_file *file, uint64_t offset, uint8_t *buffer,
				    size_t size)
{
	for (size_t i = flattened_find(file, offset); size; i++) {
		const struct extent *extent = &file->extents[i];
		uint64_t next = i < file->extent_count ? extent->offset : UINT64_MAX;
		if (next > offset) {
			size_t gap = next - offset < size ? (size_t)(next - offset) : size;
			memset(buffer, 0, gap);
			buffer += gap;
			offset += gap;
			size -= gap;
			if (!size)
				break;
		}
		uint64_t skip = offset - extent->offset;
		size_t part = extent->size - skip < size ? (size_t)(extent->size - skip) : size;
		struct error *error = read_plain(file, extent->position + skip, buffer, part);
		if (error)
			return error;
		buffer += part;
		offset += part;
		size -= part;
	}
	return NULL;
}

struct error *dump_file_read(const struct dump_file *file, uint64_t offset, void *buffer,
			     size_t size)
{
	if (!dump_file_has(file, offset, size))
		return error_create(ERROR_TRUNCATED,
				    "%s: the file ends before the %zu bytes at offset %" PRIu64,
				    file->path, size, offset);
	if (file->extents)
		return read_flattened(file, offset, buffer, size);
	return read_plain(file, offset, buffer, size);
}
