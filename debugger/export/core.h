/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The core of a process: what the kernel would have written had it died by a signal. Memory that
 * the dump does not have is not in it, so that nobody takes zeros for what was there.
 */
#ifndef DEBUGGER_EXPORT_CORE_H
#define DEBUGGER_EXPORT_CORE_H

#include "base/progress.h"
#include "debugger/kernel/task.h"
#include <stdio.h>

/* Pages that are not in the core, by the reason. */
struct core_missing {
	uint64_t swapped;     /* swapped out */
	uint64_t in_file;     /* in the mapped file alone */
	uint64_t not_in_dump; /* were in memory: filtered, cut off, damaged; or their tables were */
};

struct core_summary {
	uint64_t bytes; /* of the file */
	uint64_t threads, mappings, segments;
	uint64_t pages;		    /* with their contents */
	uint64_t without_registers; /* threads */
	uint64_t devices;	    /* mappings of devices' memory, which are left out */
	struct core_missing missing;
	bool names_are_cut; /* there were more names of files than a note may have */
};

struct core_options {
	struct progress *progress; /* NULL */
	/* Called for each mapping that has missing pages; an error ends it all. */
	struct error *(*incomplete)(void *context, const struct object *vma,
				    const struct core_missing *missing);
	void *context;
};

/* Writes to `file` from its start on, in one stream. */
struct error *export_core(struct target *target, const struct task *task,
			  const struct core_options *options, FILE *file,
			  struct core_summary *ret) MUST_CHECK;

#endif
