/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the kernel logs when pages cannot be had ("page allocation failure", kernel mm/page_alloc.c,
 * mm/show_mem.c): who asked for what, and how much each zone had just then. By the end of the
 * machine all of that may be otherwise.
 */
#ifndef DEBUGGER_ANALYSIS_ALLOCATION_REPORT_H
#define DEBUGGER_ANALYSIS_ALLOCATION_REPORT_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ALLOCATION_ZONES_MAX 64
#define ALLOCATION_ORDER_MAX 32
#define ALLOCATION_NODES_MAX 1024

struct allocation_zone {
	uint32_t node;
	char name[16];
	/* KiB: */
	uint64_t free, min, low;
	uint64_t reserve; /* that only those have who may use no higher zone */
	uint64_t largest; /* piece that is free; 0: not said */
};

struct allocation_report {
	enum allocation_phase {
		ALLOCATION_NONE,
		ALLOCATION_STACK,
		ALLOCATION_ZONES,
		ALLOCATION_DONE
	} phase;
	uint64_t order, page_kib;
	char comm[64], mode[160], cpuset[96], nodes[64], caller[192];
	int32_t pid; /* -1: not said */
	struct allocation_zone zones[ALLOCATION_ZONES_MAX];
	size_t count;
};

/* A line of the log, in turn: a new failure takes the place of the one before. */
void allocation_report_line(struct allocation_report *report, const char *line);

enum allocation_reason {
	ALLOCATION_UNKNOWN,    /* the log has no zones, or none that says why */
	ALLOCATION_FRAGMENTED, /* enough is free, in pieces that are too small */
	ALLOCATION_CPUSET,     /* other nodes have some: whoever asked may not have theirs */
	ALLOCATION_WATERMARK   /* what is free is kept for those who may take more */
};
/* The zone, of those that could have been taken from, that is nearest to having it; NULL: none is.
 */
enum allocation_reason allocation_report_reason(const struct allocation_report *report,
						const struct allocation_zone **ret);
/* Whether the node is in a list of the kernel's: "0-1,3". One that is damaged has all. */
bool allocation_has_node(const char *nodes, uint32_t node);
/* May it wait until others have given memory back? */
bool allocation_may_wait(const struct allocation_report *report);

#endif
