/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which list a slab is on: a node has those that are partly free, a CPU the one that it allocates
 * from and up to 7.0 some that it will take next (kernel mm/slub.c). Full slabs are on none.
 */
#ifndef DEBUGGER_KERNEL_SLAB_LISTS_H
#define DEBUGGER_KERNEL_SLAB_LISTS_H

#include "base/hash.h"
#include "debugger/target/target.h"

enum slab_list_kind { SLAB_LIST_NODE, SLAB_LIST_CPU, SLAB_LIST_CPU_PARTIAL };

struct slab_list {
	uint64_t slab; /* its struct page */
	enum slab_list_kind kind;
	uint32_t number; /* of the node or CPU */
};

/* Zeroed: of no cache. */
struct slab_lists {
	struct slab_list *items;
	size_t count, capacity;
	struct hash_index index;
	uint64_t *caches; /* those whose lists are in `items` */
	size_t cache_count, cache_capacity;
	struct hash_index cache_index;
};

/*
 * Adds the lists of the struct kmem_cache at an address, once. *ret_problem: what is broken in them
 * (NULL: nothing; caller frees); the rest is added all the same.
 */
struct error *slab_lists_add(struct slab_lists *lists, struct target *target, uint64_t cache,
			     struct error **ret_problem) MUST_CHECK;
/* NULL: it is on none that was added. */
const struct slab_list *slab_lists_find(const struct slab_lists *lists, uint64_t slab);
/*
 * Whether its cache, which counts it no more, gave the slab back: it is free after a grace period
 * of RCU. Of one that is on no list and has only free objects.
 */
bool slab_is_given_back(struct target *target, uint64_t slab);
void slab_lists_deinit(struct slab_lists *lists);

#endif
