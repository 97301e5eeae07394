// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/standard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Deep types and trees take less than half of it, in threads, too, whose stacks are as large. */
#define STACK_KIB 1024u

/*
 * open() gives the lowest number that is free: the dump, or the file of the cache, would else be
 * standard output. What is opened here is of the wrong direction, which read() and write() refuse.
 */
struct error *standard_open(void)
{
	static const int modes[] = { O_WRONLY, O_RDONLY, O_RDONLY };
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", modes[fd]) != fd)
			return error_system("/dev/null");
	return NULL;
}

struct error *standard_stack(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= STACK_KIB * 1024ull)
		return NULL;
	return error_create(ERROR_SYSTEM,
			    "the stack may have %llu KiB, and %u are needed (ulimit -s)",
			    (unsigned long long)limit.rlim_cur / 1024, STACK_KIB);
}

struct error *standard_flush(void)
{
	bool lost = ferror(stdout), now = fflush(stdout) != 0;
	if (!lost && !now)
		return NULL;
	struct error *error =
		now ? error_system("standard output")
		    : error_create(ERROR_SYSTEM, "standard output could not be written");
	clearerr(stdout);
	return error_prefix(error, "output is lost");
}

static bool is_kept(const int *keep, size_t count, long fd)
{
	for (size_t i = 0; i < count; i++)
		if (keep[i] == fd)
			return true;
	return false;
}

int standard_close_others(const int *keep, size_t count)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;
	while (folder && (entry = readdir(folder))) {
		char *end;
		long fd = strtol(entry->d_name, &end, 10);
		if (*end || end == entry->d_name || fd <= STDERR_FILENO ||
		    is_kept(keep, count, fd) || fd == dirfd(folder))
			continue;
		close((int)fd);
	}
	if (folder)
		closedir(folder);
	int nothing = open("/dev/null", O_RDONLY), highest = STDERR_FILENO;
	if (nothing > STDERR_FILENO) {
		(void)dup2(nothing, STDIN_FILENO);
		close(nothing);
	}
	for (size_t i = 0; i < count; i++)
		highest = keep[i] > highest ? keep[i] : highest;
	return highest;
}
