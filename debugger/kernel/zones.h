/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The zones of memory, and what is free in them (kernel include/linux/mmzone.h). */
#ifndef DEBUGGER_KERNEL_ZONES_H
#define DEBUGGER_KERNEL_ZONES_H

#include "debugger/target/object.h"

#define ZONES_TOTAL_MAX 256
#define ORDERS_MAX	32

struct zone {
	uint64_t address;
	uint32_t node;
	char name[16];
	/* Pages: */
	uint64_t present, managed;
	uint64_t min, low, high;     /* watermarks, with the boost that they have */
	uint64_t free;		     /* in the buddy allocator, by its lists */
	uint64_t per_cpu;	     /* free in the lists of CPUs, which only these give away */
	uint64_t blocks[ORDERS_MAX]; /* free ones, of 1 << order pages each */
	uint32_t orders;
};

struct zones {
	struct zone items[ZONES_TOTAL_MAX];
	size_t count;
};

/* Errors: what the dump lacks. */
struct error *zones_read(struct target *target, struct zones *ret) MUST_CHECK;
/* The highest order of which a block is free; -1: none is. */
int zone_highest_order(const struct zone *zone);

#endif
