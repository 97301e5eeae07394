/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What KASAN, KFENCE, UBSAN and their kin log of a mistake that they found (kernel
 * mm/kfence/report.c, mm/kasan/report.c, lib/ubsan.c): the object, who allocated and who freed it.
 */
#ifndef DEBUGGER_ANALYSIS_CHECK_REPORT_H
#define DEBUGGER_ANALYSIS_CHECK_REPORT_H

#include <stddef.h>

#define CHECK_REPORT_LINE 256

struct checker {
	const char *name; /* as it stands in a panic: "KFENCE" */
	const char *line; /* how its reports begin: "BUG: KFENCE: " */
};

/* The one that "panic_on_warn set" is said of; NULL: none of them. */
const struct checker *checker_of_panic(const char *panic);

/* Set `words` alone to begin with. What is not said stays "". */
struct check_report {
	const char *words;	      /* checker.line */
	char line[CHECK_REPORT_LINE]; /* behind those */
	char object[CHECK_REPORT_LINE];
	char allocated[CHECK_REPORT_LINE], freed[CHECK_REPORT_LINE]; /* "lab_open [faults]" */
	enum { TOLD_NONE, TOLD_ACCESS, TOLD_ALLOCATED, TOLD_FREED } told;
};

/* A line of the log, in turn: a new report takes the place of the one before. */
void check_report_line(struct check_report *report, const char *line);

#endif
