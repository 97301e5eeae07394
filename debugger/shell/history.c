// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/shell/history.h"

#include "base/own_folder.h"
#include "debugger/shell/text_file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <readline/history.h>

#define HISTORY_LINES 2000
#define HISTORY_BYTES (4l << 20) /* of the file's end that are read */

char *user_path(const char *variable, const char *folder, const char *name)
{
	const char *base = getenv(variable), *home = getenv("HOME");
	char *path = NULL;
	int length = -1;
	if (base && *base == '/')
		length = asprintf(&path, "%s/btfcrash/%s", base, name);
	else if (home && *home == '/')
		length = asprintf(&path, "%s/%s/btfcrash/%s", home, folder, name);
	return length < 0 ? NULL : path;
}

/* Another's home (sudo), or one where others may write, gets no file of ours. */
static bool history_folder_is_ours(bool create)
{
	int folder = own_folder_open("XDG_STATE_HOME", "/.local/state", create);
	if (folder >= 0)
		close(folder);
	return folder >= 0;
}

static void drop_equal(const char *line)
{
	for (int i = history_length; i-- > 0;) {
		HIST_ENTRY *entry = history_get(history_base + i);
		if (entry && !strcmp(entry->line, line))
			free_history_entry(remove_history(i));
	}
}

/* The last lines of the file; 0, or an errno. */
static int read_lines(const char *path)
{
	FILE *file;
	char *line = NULL;
	size_t capacity = 0;
	int status = text_file_open(path, true, &file);
	if (status)
		return status;
	/* Of the line in which that place lies only an end is there. */
	if (!fseek(file, -HISTORY_BYTES, SEEK_END))
		(void)!getline(&line, &capacity, file);
	else
		rewind(file);
	while (getline(&line, &capacity, file) >= 0) {
		line[strcspn(line, "\n")] = 0;
		add_history(line);
	}
	status = ferror(file) ? errno : 0;
	free(line);
	fclose(file);
	return status;
}

void history_load(const char *path)
{
	using_history();
	stifle_history(HISTORY_LINES);
	int status = path ? read_lines(path) : 0;
	if (status && status != ENOENT && status != ENOTDIR) {
		struct error *error = error_prefix(text_file_error(status), "%s", path);
		fprintf(stderr, "btfcrash: warning: %s\n", error->message);
		error_free(error);
	}
	using_history();
}

/* Nothing else than a regular file is written to. */
static FILE *open_to_append(const char *path)
{
	struct stat status;
	int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	int fd = open(path, flags, 0600);
	FILE *file = fd >= 0 && !fstat(fd, &status) && S_ISREG(status.st_mode) ? fdopen(fd, "a")
									       : NULL;
	if (!file && fd >= 0)
		close(fd);
	return file;
}

void history_keep(const char *path, const char *line)
{
	drop_equal(line);
	add_history(line);
	if (!path)
		return;
	if (!history_folder_is_ours(true))
		return;
	FILE *file = open_to_append(path);
	if (file) {
		fprintf(file, "%s\n", line);
		fclose(file);
	}
}

void history_tidy(const char *path)
{
	struct stat status;
	if (!path || !history_folder_is_ours(false) || stat(path, &status) ||
	    !S_ISREG(status.st_mode))
		return;
	clear_history();
	if (read_lines(path))
		return;
	/* From the last line up: the latest of equal lines stays. */
	for (int i = history_length; i-- > 0;) {
		HIST_ENTRY *entry = history_get(history_base + i);
		for (int j = i; entry && j-- > 0;) {
			HIST_ENTRY *older = history_get(history_base + j);
			if (older && !strcmp(older->line, entry->line)) {
				free_history_entry(remove_history(j));
				i--;
			}
		}
	}
	mode_t before = umask(077);
	write_history(path);
	umask(before);
}
