/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of a kind of memory that has too much: who has most of it. */
#ifndef DEBUGGER_ANALYSIS_MEMORY_HOLDERS_H
#define DEBUGGER_ANALYSIS_MEMORY_HOLDERS_H

#include "debugger/analysis/memory_words.h"

struct memory_holder {
	char words[768];   /* "pid 42 "name" has most of it, 250.0 MiB"; "": nobody is known */
	uint64_t pages;	   /* that it has; of huge pages those that nobody uses */
	char culprit[256]; /* for a signature: the same on the next boot; "": none */
};

/*
 * `tasks`: those with most memory. Adds to the finding what the words rest on, but for slabs and
 * vmalloc, which memory that ran out has as evidence in any case.
 */
struct error *memory_holder_find(struct target *target, const struct memory_view *view,
				 enum memory_kind kind, const struct memory_tasks *tasks,
				 struct finding *finding, struct memory_holder *ret) MUST_CHECK;
/*
 * Huge pages that nobody uses would do, if whoever has most of `*kind` has not as much: many who
 * have little have not. Then both become those of huge pages. MEMORY_KINDS: what is in no account.
 */
struct error *memory_holder_prefer_unused(struct target *target, const struct memory_view *view,
					  struct finding *finding, unsigned int *kind,
					  struct memory_holder *holder) MUST_CHECK;

#endif
