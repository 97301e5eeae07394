// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/own_folder.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Closes it if it is not ours alone. */
static int only_ours(int folder)
{
	struct stat status;
	if (folder < 0)
		return -1;
	if (!fstat(folder, &status) && status.st_uid == geteuid() &&
	    !(status.st_mode & (S_IWGRP | S_IWOTH)))
		return folder;
	close(folder);
	return -1;
}

/* The folder in this one, which is closed. */
static int enter(int folder, const char *name, bool create)
{
	if (folder < 0)
		return -1;
	if (create)
		(void)mkdirat(folder, name, 0700);
	int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	close(folder);
	return only_ours(inner);
}

int own_folder_open(const char *variable, const char *inner, bool create)
{
	const char *base = getenv(variable);
	char name[NAME_MAX + 1];
	/* The XDG rules: what is not absolute is not to be heeded. */
	if (base && *base == '/') {
		inner = "";
		if (create)
			(void)mkdir(base, 0700);
	} else {
		base = getenv("HOME");
	}
	if (!base || *base != '/')
		return -1;
	int folder = only_ours(open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	for (size_t length; *inner && folder >= 0; inner += length) {
		inner += strspn(inner, "/");
		length = strcspn(inner, "/");
		if (!length)
			break;
		if (length >= sizeof(name)) {
			close(folder);
			return -1;
		}
		memcpy(name, inner, length);
		name[length] = 0;
		folder = enter(folder, name, create);
	}
	return enter(folder, "btfcrash", create);
}
