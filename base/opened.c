// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/opened.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool opened_init(struct opened *opened, size_t most)
{
	*opened = (struct opened){ .files = calloc(most ? most : 1, sizeof(*opened->files)) };
	return opened->files;
}

void opened_add(struct opened *opened, const char *path)
{
	/* O_NONBLOCK: a pipe without a writer would hang before it could be refused. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	/* The terminal is the helper's alone. */
	if (fd >= 0 && isatty(fd)) {
		close(fd);
		fd = -1;
		errno = EPERM;
	}
	opened->files[opened->count++] =
		(struct opened_file){ .path = path, .fd = fd, .problem = fd < 0 ? errno : 0 };
}

bool opened_take(struct opened *opened, const char *path, int *ret_fd)
{
	for (size_t i = 0; i < opened->count; i++) {
		struct opened_file *file = &opened->files[i];
		if (!file->path || strcmp(file->path, path) != 0)
			continue;
		file->path = NULL;
		*ret_fd = file->fd;
		errno = file->problem;
		return true;
	}
	return false;
}

uint64_t opened_size(const struct opened *opened)
{
	uint64_t size = 0;
	for (size_t i = 0; i < opened->count; i++) {
		int fd = opened->files[i].fd;
		off_t end = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
		/* Who reads it begins where it begins. */
		if (end > 0)
			(void)lseek(fd, 0, SEEK_SET);
		if (end > 0 && (uint64_t)end <= UINT64_MAX - size)
			size += (uint64_t)end;
	}
	return size;
}

void opened_deinit(struct opened *opened)
{
	for (size_t i = 0; i < opened->count; i++)
		if (opened->files[i].path && opened->files[i].fd >= 0)
			close(opened->files[i].fd);
	free(opened->files);
	*opened = (struct opened){ .files = NULL };
}
