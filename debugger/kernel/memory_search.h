/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Words and texts in all of a dump's memory. Each page is read once, by as many threads as there
 * are processors; what they found comes by address, some megabytes of memory at a time.
 */
#ifndef DEBUGGER_KERNEL_MEMORY_SEARCH_H
#define DEBUGGER_KERNEL_MEMORY_SEARCH_H

#include "base/progress.h"
#include "debugger/kernel/memory_spans.h"

#define SEARCH_TEXT_MAX 4096 /* bytes */

/* A text, or words: those whose bits in `keep` are a number from `first` to `first + span`. */
struct search_pattern {
	const char *text; /* NULL: words */
	size_t size;	  /* of the text, 1 to SEARCH_TEXT_MAX bytes */
	uint64_t first, span, keep;
};

struct search_hit {
	uint64_t address, physical;
	uint64_t value; /* the word; of a text 0 */
	size_t pattern; /* which one it is */
};

struct memory_search {
	struct target *target;
	enum memory_space space;
	struct user_space *user; /* of SPACE_USER: its process's; borrowed */
	uint64_t first, last;	 /* addresses */
	unsigned int width;	 /* of words, which lie at multiples of it: 2, 4, 8; 1: texts */
	const struct search_pattern *patterns; /* all texts, or none */
	size_t pattern_count;
	uint64_t limit; /* so many hits; 0: all */
	struct progress *progress;
	/* By ascending addresses; an error ends the search. */
	struct error *(*hit)(void *context, const struct search_hit *hit);
	void *context;

	uint64_t searched; /* bytes of memory that were read */
};

/* Memory that the dump does not have is passed over. */
struct error *memory_search_run(struct memory_search *search) MUST_CHECK;

#endif
