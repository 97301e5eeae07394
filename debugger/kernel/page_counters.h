/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the kernel counts of its pages (vm_zone_stat, vm_node_stat; kernel mm/vmstat.c), as
 * /proc/vmstat has it, but exact: what each CPU has not yet added to the sums is added here, of all
 * possible CPUs, for those that a panic stopped are no longer online.
 */
#ifndef DEBUGGER_KERNEL_PAGE_COUNTERS_H
#define DEBUGGER_KERNEL_PAGE_COUNTERS_H

#include "debugger/target/object.h"

#define PAGE_COUNTERS_MAX 192
/* More pages than a machine can have: numbers above are damaged, and sums of those below are sane.
 */
#define PAGES_LIMIT ((uint64_t)1 << 52)

struct page_counter {
	const char *name; /* of the enumerator: "NR_FREE_PAGES"; borrowed from the types */
	/*
	 * Pages, or what the name says ("_KB"); those called "_B" are pages, too. Never negative:
	 * a sum that is stands for 0, and so does one above PAGES_LIMIT.
	 */
	uint64_t value;
};

struct page_counters {
	struct page_counter items[PAGE_COUNTERS_MAX];
	size_t count;
};

/* Errors: what the dump lacks. */
struct error *page_counters_read(struct target *target, struct page_counters *ret) MUST_CHECK;
/* False: this kernel has no counter of that name. */
bool page_counter(const struct page_counters *counters, const char *name, uint64_t *ret);

/* Nodes have numbers below this one; not all of them are there. Of a dump that does not say: 1. */
struct error *node_ids(struct target *target, uint64_t *ret) MUST_CHECK;
/* The nodes of the machine, as objects of struct pglist_data; an error ends the walk. */
typedef struct error *node_visitor(void *context, uint32_t number, const struct object *node);
struct error *node_for_each(struct target *target, node_visitor *visit, void *context) MUST_CHECK;
/* The zones of a node that have memory, as objects of struct zone. */
typedef struct error *zone_visitor(void *context, const struct object *zone);
struct error *node_for_each_zone(const struct object *node, zone_visitor *visit,
				 void *context) MUST_CHECK;

#endif
