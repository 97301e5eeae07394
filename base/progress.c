// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/progress.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#define SECOND	    UINT64_C(1000000000)
#define FIRST_AFTER SECOND
#define AGAIN_AFTER (SECOND / 5)

static uint64_t now(void)
{
	struct timespec time;
	if (clock_gettime(CLOCK_MONOTONIC, &time))
		return 0;
	return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

void progress_init(struct progress *progress, FILE *file)
{
	*progress = (struct progress){ .file = file };
}

/* The words are the program's own: nothing of a dump is among them. */
static void show(struct progress *progress, uint64_t done, uint64_t total)
{
	if (total)
		fprintf(progress->file, "\r\x1b[K%s: %" PRIu64 " %%", progress->what,
			done < total ? done * 100 / total : 100);
	else
		fprintf(progress->file, "\r\x1b[K%s: %" PRIu64, progress->what, done);
	fflush(progress->file);
	progress->shown = true;
}

void progress_report(struct progress *progress, const char *what, uint64_t done, uint64_t total)
{
	if (!progress || !progress->file)
		return;
	uint64_t time = now();
	if (!progress->what || strcmp(progress->what, what)) {
		bool goes_on = progress->shown;
		progress->what = what;
		progress->started = time;
		progress->due = goes_on ? time : time + FIRST_AFTER;
	}
	if (time < progress->due)
		return;
	progress->due = time + AGAIN_AFTER;
	show(progress, done, total);
}

void progress_hide(struct progress *progress)
{
	if (!progress || !progress->shown)
		return;
	fputs("\r\x1b[K", progress->file);
	fflush(progress->file);
	progress->shown = false;
}

void progress_end(struct progress *progress)
{
	if (!progress)
		return;
	progress_hide(progress);
	progress->what = NULL;
}
