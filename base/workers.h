/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps that do not depend on each other, done by several threads. */
#ifndef BASE_WORKERS_H
#define BASE_WORKERS_H

#include "base/error.h"
#include "base/progress.h"
#include <stddef.h>

#define WORKERS_MAX 16

struct work {
	size_t count; /* steps */
	size_t block; /* of steps that one worker takes at a time */
	/* `worker`: below the number of workers; no two run at once with the same one. */
	struct error *(*step)(void *context, unsigned int worker, size_t number);
	void *context;
	struct progress *progress; /* told by the caller's thread; NULL */
	const char *what;
	unsigned int from, to; /* the part of the whole that these steps are, in percent */
};

/* As many as there are processors online, at most WORKERS_MAX. */
unsigned int workers_count(void);
/*
 * The caller's thread is one of the workers; one that cannot be started is done without. Returns
 * the error of the lowest step that failed; after an error or Ctrl-C no further steps begin.
 */
struct error *workers_run(const struct work *work, unsigned int workers) MUST_CHECK;

#endif
