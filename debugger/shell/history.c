// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/shell/history.h"

#include "base/own_folder.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <readline/history.h>

#define HISTORY_LINES 2000

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

void history_load(const char *path)
{
	using_history();
	stifle_history(HISTORY_LINES);
	if (path)
		read_history(path);
	using_history();
}

void history_keep(const char *path, const char *line)
{
	drop_equal(line);
	add_history(line);
	if (!path)
		return;
	if (!history_folder_is_ours(true))
		return;
	mode_t before = umask(077);
	FILE *file = fopen(path, "ae");
	if (file) {
		fprintf(file, "%s\n", line);
		fclose(file);
	}
	umask(before);
}

void history_tidy(const char *path)
{
	if (!path || !history_folder_is_ours(false))
		return;
	clear_history();
	if (read_history(path))
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
