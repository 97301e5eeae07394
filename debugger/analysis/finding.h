/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a detector found out about a dead machine: one sentence, how sure it is, and what it rests
 * on, each with the line that shows it. A line is made of this program's own words and of numbers;
 * a name that a dump has is never part of one, for a reader types it.
 */
#ifndef DEBUGGER_ANALYSIS_FINDING_H
#define DEBUGGER_ANALYSIS_FINDING_H

#include "base/strbuf.h"
#include "debugger/infer/infer.h"

struct evidence {
	char *text;    /* a sentence without its full stop, with names as the dump has them */
	char *command; /* what shows it: "bt 42"; NULL: nothing does */
};

struct finding {
	const char *kind;     /* a literal: "null-pointer", "deadlock", "sysrq" */
	enum confidence sure; /* of the summary */
	char *summary;	      /* one sentence without its full stop */
	uint64_t task;	      /* whom it happened to, address of the task_struct; 0: nobody */
	uint64_t blamed;      /* the task that others wait for or that did it; 0: none */
	struct evidence *evidence;
	size_t count, capacity;
};

/* Fills in the sentence; an earlier one goes. Errors: no memory. */
struct error *finding_summarize(struct finding *finding, const char *format, ...)
	PRINTF_LIKE(2, 3) MUST_CHECK;
/* Adds a piece; `command` (a copy is kept) may be NULL. Errors: no memory. */
struct error *finding_add(struct finding *finding, const char *command, const char *format, ...)
	PRINTF_LIKE(3, 4) MUST_CHECK;
void finding_deinit(struct finding *finding);

#endif
