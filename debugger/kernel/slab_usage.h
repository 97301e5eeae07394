/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much memory each slab cache has, as /proc/slabinfo counts (kernel mm/slub.c). SLUB only. */
#ifndef DEBUGGER_KERNEL_SLAB_USAGE_H
#define DEBUGGER_KERNEL_SLAB_USAGE_H

#include "debugger/kernel/slabs.h"
#include "debugger/target/object.h"

struct slab_usage {
	struct slab_cache cache;
	uint64_t pages;
	uint64_t objects; /* that there is room for */
	/* Without those that are free in slabs that no CPU has to itself: "active_objs". */
	uint64_t active;
	uint64_t flags;
	bool is_reclaimable; /* SLAB_RECLAIM_ACCOUNT */
};

struct slab_usages {
	struct slab_usage *items; /* in the kernel's order */
	size_t count, capacity;
	uint64_t lost;		/* how often the list or a cache could not be read */
	struct error *problem;	/* the first time; NULL: never */
	bool knows_reclaimable; /* else is_reclaimable is not known */
};

/*
 * All of `slab_caches`. `reclaimable`: the pages of slabs that the kernel counts as such; where it
 * does not name the flag, that one is it whose caches have as many. Errors: what the dump lacks.
 */
struct error *slab_usages_read(struct target *target, uint64_t reclaimable,
			       struct slab_usages *ret) MUST_CHECK;
void slab_usages_deinit(struct slab_usages *usages);

/* The struct kmem_cache_node of a struct kmem_cache for a node; *ret_found: there is one. */
struct error *slab_cache_node(const struct object *cache, uint32_t number, struct object *ret,
			      bool *ret_found) MUST_CHECK;

#endif
