/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the kernel's check of its lists said in the log (kernel lib/list_debug.c). */
#ifndef DEBUGGER_ANALYSIS_LIST_REPORT_H
#define DEBUGGER_ANALYSIS_LIST_REPORT_H

#include "debugger/target/target.h"

enum list_fault {
	LIST_UNKNOWN,
	LIST_BROKEN,  /* an entry on the list does not lead where it should */
	LIST_DELETED, /* the entry had been taken off its list */
	LIST_ADDED    /* the entry was on the list already */
};

struct list_report {
	enum list_fault fault;
	uint64_t entry; /* address of the struct list_head */
	uint64_t found; /* of a broken one: what it has for a link */
	/* Of one behind or before which another was to be added: what the link should have been, an
	 * entry or the list's head; 0: not known. */
	uint64_t neighbour;
};

/* Of one line; false: it is no such report. */
bool list_report_parse(const char *line, struct list_report *ret);
/* The last one of the log; LIST_UNKNOWN: there is none. Errors are fatal ones. */
struct error *list_report_find(struct target *target, struct list_report *ret) MUST_CHECK;

#endif
