/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The findings of a hang, in words: a circle, a chain with its head, an object without an owner. */
#ifndef DEBUGGER_ANALYSIS_HANG_FINDING_H
#define DEBUGGER_ANALYSIS_HANG_FINDING_H

#include "debugger/analysis/finding.h"
#include "debugger/analysis/hung_log.h"
#include "debugger/analysis/waits.h"

/*
 * What leads: whom the kernel named, then all others, then what hangs nobody, then whose holder
 * sleeps on purpose.
 */
enum rank { RANK_NAMED, RANK_HUNG, RANK_KILLABLE, RANK_PURPOSE };

/* What is found, of what. */
struct detection {
	struct target *target;
	const struct waits *waits;
	struct hung_log log;
	struct finding *findings;
	size_t count, capacity;
	size_t named, hung; /* findings of that rank or a lower one */
};

/* What is known of the uninterruptible waits of a chain, or for one object. */
struct pressure {
	uint64_t object; /* 0: of a chain */
	uint32_t first;	 /* the first such wait, index, if there is one */
	uint32_t count;
	enum rank rank;
	const struct hung_task *named; /* the first of them that the kernel named; NULL */
	bool is_long;	    /* one has waited for long, or it is not known for how long */
	bool is_purposeful; /* the chain's head sleeps for a while, and all wait for less than that
			     */
	uint64_t longest;
};

/* Each puts one finding behind those that there are. Errors: no memory, and fatal ones. */
struct error *hang_add_circle(struct detection *detection, const struct wait_chain *chain,
			      const struct pressure *pressure) MUST_CHECK;
/* `number`: of the chain in waits. */
struct error *hang_add_chain(struct detection *detection, uint32_t number,
			     const struct pressure *pressure) MUST_CHECK;
struct error *hang_add_object(struct detection *detection,
			      const struct pressure *pressure) MUST_CHECK;

#endif
