/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A line on standard error for what takes over a second: "types of globals: 45 %". It comes late,
 * changes a few times a second, and is gone when the work is done or output is to be seen. The
 * helper draws it.
 */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct helper_link;

struct progress {
	struct helper_link *helper; /* NULL: nothing is shown */
	const char *what;	    /* NULL: no work is under way */
	uint64_t started;	    /* ns of the monotonic clock */
	uint64_t due;		    /* when to show it (again) */
	bool shown;		    /* the line is on the screen */
};

/* `helper` (borrowed): NULL where standard error is no terminal. */
void progress_init(struct progress *progress, struct helper_link *helper);
/*
 * So much of `total` is done (0: nobody knows how much there is). Cheap: may be called for each of
 * thousands of steps. Another `what` (a string that stays) begins another work. `progress` may be
 * NULL.
 */
void progress_report(struct progress *progress, const char *what, uint64_t done, uint64_t total);
/* Takes the line off the screen; the work goes on. */
void progress_hide(struct progress *progress);
/* The work is done. */
void progress_end(struct progress *progress);

#endif
