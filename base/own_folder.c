// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/own_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PRUNED_MAX 256 /* files at once */

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

static bool has_ending(const char *name, const char *ending)
{
	size_t length = strlen(name), tail = strlen(ending);
	return length > tail && !strcmp(name + length - tail, ending);
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* The oldest that nobody needs and that is not the newest, "" if there is none; whether all are
 * more than the limits allow. */
static bool find_oldest(int folder, const struct folder_limits *limits, const char *newest,
			char oldest[NAME_MAX + 1])
{
	struct stat status;
	struct timespec when = { 0 };
	struct dirent *entry;
	size_t count = 0;
	uint64_t bytes = 0;
	*oldest = 0;
	int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *listing = again < 0 ? NULL : fdopendir(again);
	while (listing && (entry = readdir(listing))) {
		if (!has_ending(entry->d_name, limits->ending) ||
		    fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW))
			continue;
		count++;
		bytes += (uint64_t)status.st_blocks * 512;
		if (!strcmp(entry->d_name, newest) ||
		    (*oldest && !is_before(&status.st_mtim, &when)) ||
		    (limits->is_needed && limits->is_needed(entry->d_name, &status)))
			continue;
		when = status.st_mtim;
		snprintf(oldest, NAME_MAX + 1, "%s", entry->d_name);
	}
	if (listing)
		closedir(listing);
	else if (again >= 0)
		close(again);
	return count > limits->files || (limits->bytes && bytes > limits->bytes);
}

void own_folder_prune(int folder, const struct folder_limits *limits, const char *newest)
{
	char oldest[NAME_MAX + 1], beside[2 * NAME_MAX + 1];
	for (int i = 0; i < PRUNED_MAX && find_oldest(folder, limits, newest, oldest) && *oldest;
	     i++) {
		snprintf(beside, sizeof(beside), "%s%s", oldest,
			 limits->beside ? limits->beside : "");
		if (limits->beside)
			(void)unlinkat(folder, beside, 0);
		if (unlinkat(folder, oldest, 0))
			return;
	}
}
