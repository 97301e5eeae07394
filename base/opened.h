/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files that are opened for reading while this process may still open any: later they are handed
 * out by the path that named them.
 */
#ifndef BASE_OPENED_H
#define BASE_OPENED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct opened_file {
	const char *path; /* borrowed; NULL: handed out */
	int fd;		  /* -1: not to be opened, `problem` says why */
	int problem;	  /* errno */
};

struct opened {
	struct opened_file *files;
	size_t count;
};

/* Room for that many; false: no memory. */
bool opened_init(struct opened *opened, size_t most);
/* Opens one; the path is borrowed. Nothing of it is read. A terminal is not handed out: EPERM. */
void opened_add(struct opened *opened, const char *path);
/*
 * The first of this path that was not handed out yet: the caller owns *ret_fd, or it is -1 and
 * errno says why. False: there is none.
 */
bool opened_take(struct opened *opened, const char *path, int *ret_fd);
/* Bytes of all that have an end, as far as the file system says it. */
uint64_t opened_size(const struct opened *opened);
/* Closes what was not handed out. */
void opened_deinit(struct opened *opened);

#endif
