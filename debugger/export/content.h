/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a file of the dead machine held, as far as its memory has it. */
#ifndef DEBUGGER_EXPORT_CONTENT_H
#define DEBUGGER_EXPORT_CONTENT_H

#include "base/progress.h"
#include "debugger/target/object.h"
#include <stdio.h>

enum content_gap {
	CONTENT_NOT_CACHED,  /* in the file's own storage, or a hole there */
	CONTENT_SWAPPED,     /* of tmpfs: swapped out */
	CONTENT_NOT_IN_DUMP, /* was in memory */
	CONTENT_GAPS
};

struct content_summary {
	uint64_t size;		     /* of the file, bytes */
	uint64_t bytes;		     /* of it that were written from memory */
	uint64_t gaps[CONTENT_GAPS]; /* bytes */
	bool is_pipe;		     /* size: of what was not yet read */
};

struct content_options {
	struct progress *progress; /* NULL */
	/* Called for each run that is not there, by rising offsets; zeros stand in the file. */
	struct error *(*gap)(void *context, enum content_gap kind, uint64_t offset, uint64_t size);
	void *context;
};

/* Of a struct inode: a regular file or a pipe. ERROR_UNSUPPORTED: it is neither. */
struct error *export_content(const struct object *inode, const struct content_options *options,
			     FILE *file, struct content_summary *ret) MUST_CHECK;

#endif
