// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/shell/text_file.h"

#include "base/array.h"
#include "base/helper.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#define WRITER_MS   5000 /* to begin to write to a FIFO */
#define NULL_DEVICE makedev(1, 3)

struct error *text_file_error(int number)
{
	switch (number) {
	case E2BIG:
		return error_create(ERROR_SYSTEM, "a line has more than %u bytes", HELPER_TEXT_MAX);
	case ENOTSUP:
		return error_create(ERROR_SYSTEM, "this is no regular file");
	case ETIMEDOUT:
		return error_create(ERROR_SYSTEM, "nothing writes to this FIFO");
	default:
		return error_create(ERROR_SYSTEM, "%s", strerror(number));
	}
}

/* Whether an open file may be read; 0, or an errno. */
static int check_kind(int file, bool only_regular, bool *ret_is_fifo)
{
	struct stat status;
	struct statfs place;
	if (fstat(file, &status))
		return errno;
	if (S_ISDIR(status.st_mode))
		return EISDIR;
	bool is_null = S_ISCHR(status.st_mode) && status.st_rdev == NULL_DEVICE;
	if (only_regular && !S_ISREG(status.st_mode) && !is_null)
		return ENOTSUP;
	/* A shell's <(...) is a pipe without a place of its own, which has had its writer. */
	*ret_is_fifo = S_ISFIFO(status.st_mode) &&
		       (fstatfs(file, &place) || place.f_type != PIPEFS_MAGIC);
	return 0;
}

/* A FIFO may be there long before who writes to it, or without. */
static bool has_writer(FILE *file)
{
	struct pollfd waiting = { .fd = fileno(file), .events = POLLIN };
	if (poll(&waiting, 1, WRITER_MS))
		return true;
	/* The end: there is no writer; EAGAIN: there is one, which has not written yet. */
	int byte = getc(file);
	bool is_end = feof(file);
	clearerr(file);
	if (byte != EOF)
		ungetc(byte, file);
	return !is_end;
}

int text_file_open(const char *path, bool only_regular, FILE **ret)
{
	/* An open() that waits for the other end of a FIFO could not be told to stop. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return errno;
	bool is_fifo = false;
	int status = check_kind(fd, only_regular, &is_fifo);
	FILE *file = status ? NULL : fdopen(fd, "r");
	if (!file) {
		status = status ? status : errno;
		close(fd);
		return status;
	}
	if (is_fifo && !has_writer(file))
		status = ETIMEDOUT;
	else if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) < 0)
		status = errno;
	if (status)
		fclose(file);
	else
		*ret = file;
	return status;
}

ssize_t text_file_line(FILE *file, char **line, size_t *capacity)
{
	size_t length = 0;
	int byte;
	errno = 0;
	while ((byte = getc_unlocked(file)) != EOF && byte != '\n') {
		if (length == HELPER_TEXT_MAX) {
			errno = E2BIG;
			return -1;
		}
		if (!array_reserve(line, capacity, length + 2)) {
			errno = ENOMEM;
			return -1;
		}
		(*line)[length++] = (char)byte;
	}
	if (byte == EOF && (!length || ferror(file))) {
		errno = ferror(file) ? errno : 0;
		return -1;
	}
	if (!array_reserve(line, capacity, length + 1)) {
		errno = ENOMEM;
		return -1;
	}
	(*line)[length] = 0;
	return (ssize_t)length;
}
