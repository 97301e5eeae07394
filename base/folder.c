// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_SIZE 4096
#define DEPTH_MAX 16

struct listing {
	FILE *file;
	uint32_t entries;
	size_t skip; /* bytes of a path before what is relative */
};

static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static bool walk(struct listing *listing, const char *folder, int depth);

static void list_entry(struct listing *listing, const char *folder, const char *name, int depth)
{
	char path[PATH_SIZE];
	struct stat status;
	if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) >= sizeof(path) ||
	    lstat(path, &status))
		return;
	/* Links lead out, "build" to whole source trees. */
	if (S_ISDIR(status.st_mode)) {
		(void)walk(listing, path, depth + 1);
		return;
	}
	if (S_ISLNK(status.st_mode) && stat(path, &status))
		return;
	if (S_ISREG(status.st_mode))
		fwrite(path + listing->skip, 1, strlen(path + listing->skip) + 1, listing->file);
}

static bool walk(struct listing *listing, const char *folder, int depth)
{
	struct dirent **entries;
	int count = depth > DEPTH_MAX ? 0 : scandir(folder, &entries, NULL, compare_names);
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		if (name[0] != '.' && listing->entries <= FOLDER_ENTRIES_MAX &&
		    listing->entries++ < FOLDER_ENTRIES_MAX)
			list_entry(listing, folder, name, depth);
		free(entries[i]);
	}
	if (count > 0)
		free(entries);
	return count >= 0;
}

bool folder_list(const char *folder, int file)
{
	char *text = NULL;
	size_t size = 0;
	struct listing listing = { .file = open_memstream(&text, &size),
				   .skip = strlen(folder) + 1 };
	if (!listing.file)
		return false;
	bool good = walk(&listing, folder, 0);
	int why = errno;
	if (listing.entries > FOLDER_ENTRIES_MAX)
		putc(0, listing.file);
	if (fclose(listing.file)) {
		good = false;
		why = ENOMEM;
	}
	for (size_t done = 0; good && done < size;) {
		ssize_t part = write(file, text + done, size - done);
		good = part > 0;
		why = errno;
		done += good ? (size_t)part : 0;
	}
	free(text);
	errno = why;
	return good;
}

static bool is_below(const char *folder, const char *path)
{
	char *real = realpath(folder, NULL);
	size_t length = real ? strlen(real) : 0;
	/* "/" has its slash already. */
	bool below = length && !strncmp(path, real, length) &&
		     (path[length] == '/' || !path[length] || length == 1);
	free(real);
	return below;
}

char *folder_resolve(const char *const *folders, size_t count, const char *path)
{
	char *real = realpath(path, NULL);
	for (size_t i = 0; real && i < count; i++)
		if (is_below(folders[i], real))
			return real;
	if (real) {
		free(real);
		errno = EACCES;
	}
	return NULL;
}
