/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The objects of one slab cache, found without any list: every struct page of the machine is asked
 * whether it begins a slab of that cache (kernel mm/slab.h, mm/slub.c). Slow, for when lists have
 * holes. Only SLUB, from 5.10 on.
 */
#ifndef DEBUGGER_KERNEL_SLAB_OBJECTS_H
#define DEBUGGER_KERNEL_SLAB_OBJECTS_H

#include "debugger/target/target.h"

struct slab_walk;

/*
 * `cache` is the address of a struct kmem_cache. Errors: what the search needs and the dump lacks.
 */
struct error *slab_walk_create(struct target *target, uint64_t cache,
			       struct slab_walk **ret) MUST_CHECK;
void slab_walk_destroy(struct slab_walk *walk);

/*
 * Visits all objects but those that are free. `is_allocated`: the free lists were read whole and
 * do not hold it; else it may be free all the same. The visitor returns an error to end the walk;
 * the walk has no errors of its own but Ctrl-C.
 */
typedef struct error *slab_visitor(void *context, uint64_t object, bool is_allocated);
struct error *slab_walk_objects(struct slab_walk *walk, slab_visitor *visit,
				void *context) MUST_CHECK;

#endif
