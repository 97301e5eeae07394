/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free objects in sheaves: arrays of pointers to them, which CPUs and nodes keep since 6.18 (kernel
 * mm/slub.c). Their slabs count them as taken.
 */
#ifndef DEBUGGER_KERNEL_SLAB_SHEAVES_H
#define DEBUGGER_KERNEL_SLAB_SHEAVES_H

#include "debugger/target/object.h"

struct slab_sheaves {
	uint64_t *objects; /* in order */
	size_t count, capacity;
	bool is_whole;	       /* else some could not be read */
	struct error *problem; /* the first of these; may be taken away */
};

#define SLAB_SHEAVES_MOST (1u << 24) /* objects of a dump, of which 4,096 CPUs have fewer */
/*
 * Those of a struct kmem_cache, `most` at most; none where the kernel has no sheaves. What waits
 * for a grace period of RCU in a CPU's own sheaf was freed, too; sheaves that were handed to RCU
 * are on no list. Errors: Ctrl-C, no memory.
 */
struct error *slab_sheaves_read(const struct object *cache, uint64_t most,
				struct slab_sheaves *ret) MUST_CHECK;
void slab_sheaves_deinit(struct slab_sheaves *sheaves);
/* The place of the first object at `address` or above. */
size_t slab_sheaves_first(const struct slab_sheaves *sheaves, uint64_t address);
bool slab_sheaves_have(const struct slab_sheaves *sheaves, uint64_t object);

#endif
