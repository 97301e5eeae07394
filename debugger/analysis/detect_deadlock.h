/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who holds others up: circles of tasks that wait for one another, the head of each chain, and what
 * tasks wait for although nobody is known to have it.
 */
#ifndef DEBUGGER_ANALYSIS_DETECT_DEADLOCK_H
#define DEBUGGER_ANALYSIS_DETECT_DEADLOCK_H

#include "debugger/analysis/finding.h"
#include "debugger/analysis/waits.h"

/* Waits that are shorter are no news of a machine at work; circles end in no time at all. */
#define HANG_LEAST_AGE 1000000000u /* ns */

struct hang {
	struct finding *findings;
	size_t count;
	/* The first one may be what the kernel panicked of, if that was of blocked tasks: it named
	 * one of them in the log, or there is no such line and they cannot be killed. */
	bool is_cause;
};

/*
 * Findings of the kind "deadlock", one a circle, then "blocked", one a chain with a task in
 * uninterruptible sleep behind its head, or an object that such tasks wait for; those with most
 * tasks first, and not more than a page of them. Before all others come those of whom the kernel
 * named a task in the log, behind them those whose tasks can all be killed. Caller frees findings
 * and what is in them. Errors are fatal ones.
 */
struct error *detect_hang(struct target *target, const struct waits *waits,
			  struct hang *ret) MUST_CHECK;

#endif
