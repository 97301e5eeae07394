// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/progress.h"

#include "base/helper.h"
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
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

void progress_init(struct progress *progress, struct helper_link *helper)
{
	*progress = (struct progress){ .helper = helper };
}

/* The words are the program's own: nothing of a dump is among them. */
static void show(struct progress *progress, uint64_t done, uint64_t total)
{
	char text[128];
	if (total)
		snprintf(text, sizeof(text), "%s: %" PRIu64 " %%", progress->what,
			 done < total ? done * 100 / total : 100);
	else
		snprintf(text, sizeof(text), "%s: %" PRIu64, progress->what, done);
	progress->shown = helper_tell(progress->helper, HELPER_PROGRESS, text, strlen(text));
}

void progress_report(struct progress *progress, const char *what, uint64_t done, uint64_t total)
{
	if (!progress || !progress->helper)
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
	(void)helper_tell(progress->helper, HELPER_PROGRESS, NULL, 0);
	progress->shown = false;
}

void progress_end(struct progress *progress)
{
	if (!progress)
		return;
	progress_hide(progress);
	progress->what = NULL;
}
