// SPDX-License-Identifier: GPL-3.0-or-later
#include "vmcore/file.h"

#include "base/helper.h"
#include <errno.h>
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

#define DENSE_SIZE  (16u << 20) /* bytes that are read whether they are there or not */
#define DENSE_SHARE 64

/* The running kernel's memory, the name by which everybody opens it. */
static bool is_kcore(const char *path)
{
	return !strcmp(path, "/proc/kcore");
}

static struct error *open_error(const char *path)
{
	switch (errno) {
	case ENOENT:
		if (is_kcore(path))
			return error_create(
				ERROR_SYSTEM,
				"%s: no such file: the running kernel was built without "
				"CONFIG_PROC_KCORE, or /proc is not mounted here",
				path);
		return error_create(ERROR_SYSTEM, "%s: no such file", path);
	case EACCES:
	case EPERM:
		if (is_kcore(path))
			return error_create(
				ERROR_SYSTEM, "%s: %s", path,
				geteuid()
					? "permission denied: only root may read the running "
					  "kernel's memory; try sudo"
					: "the kernel refuses: this needs CAP_SYS_RAWIO (is this a "
					  "container?) and no lockdown mode (cat "
					  "/sys/kernel/security/lockdown; Secure Boot turns it "
					  "on)");
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
	if (!S_ISREG(mode) && is_kcore(path))
		return error_create(
			ERROR_FORMAT,
			"%s: something else lies over it, as in containers: run btfcrash "
			"outside, or in a privileged one",
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

static struct error *look_inside(struct dump_file *file, const struct file_opening *how)
{
	uint8_t head[16];
	if (!dump_file_has(file, 0, sizeof(head)))
		return NULL;
	struct error *error = dump_file_read(file, 0, head, sizeof(head));
	if (!error && flattened_detect(head, sizeof(head)))
		error = flattened_index(file, how);
	return error;
}

struct error *dump_file_init(struct dump_file *file, const char *path)
{
	const struct file_opening alone = { .helper = NULL };
	return dump_file_init_through(file, path, &alone);
}

struct error *dump_file_init_through(struct dump_file *file, const char *path,
				     const struct file_opening *how)
{
	*file = (struct dump_file){ .path = path, .fd = -1 };
	file->fd = helper_open(how->helper, path);
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
		error = look_inside(file, how);
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
	if (!file->is_proc || file->is_live || file->extents || !dump_file_has(file, offset, size))
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

/* A file system that knows no holes says that all is data. */
static bool next_plain_data(const struct dump_file *file, uint64_t offset, uint64_t end,
			    uint64_t *ret_start, uint64_t *ret_size)
{
	off_t data = file->is_proc ? (off_t)offset : lseek(file->fd, (off_t)offset, SEEK_DATA);
	if (data < 0 && errno == ENXIO)
		return false;
	uint64_t start = data < 0 ? offset : (uint64_t)data, stop = end;
	off_t hole = data < 0 || file->is_proc ? -1 : lseek(file->fd, data, SEEK_HOLE);
	if (hole > data && (uint64_t)hole < end)
		stop = (uint64_t)hole;
	*ret_start = start;
	*ret_size = stop - start;
	return start < end;
}

bool dump_file_next_data(const struct dump_file *file, uint64_t offset, uint64_t size,
			 uint64_t *ret_start, uint64_t *ret_size)
{
	if (offset >= file->size)
		return false;
	uint64_t end = size < file->size - offset ? offset + size : file->size;
	if (!file->extents)
		return offset < end && next_plain_data(file, offset, end, ret_start, ret_size);
	size_t i = flattened_find(file, offset);
	if (i >= file->extent_count || file->extents[i].offset >= end)
		return false;
	const struct extent *extent = &file->extents[i];
	uint64_t start = extent->offset > offset ? extent->offset : offset;
	uint64_t stop = extent->offset + extent->size;
	*ret_start = start;
	*ret_size = (stop < end ? stop : end) - start;
	return *ret_size > 0;
}

bool dump_file_is_dense(const struct dump_file *file, uint64_t offset, uint64_t size)
{
	uint64_t held = 0, start, length, end;
	if (size <= DENSE_SIZE)
		return true;
	if (offset > file->size || size > file->size - offset)
		return false;
	end = offset + size;
	while (held < size / DENSE_SHARE &&
	       dump_file_next_data(file, offset, end - offset, &start, &length)) {
		held += length;
		offset = start + length;
	}
	return held >= size / DENSE_SHARE;
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
