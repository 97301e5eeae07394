/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What type the objects of a slab cache have, by the cache's name and size: KMEM_CACHE(task_struct)
 * names a cache after the struct, others follow customs ("ext4_inode_cache" for ext4_inode_info).
 */
#ifndef DEBUGGER_KERNEL_SLAB_TYPES_H
#define DEBUGGER_KERNEL_SLAB_TYPES_H

#include "debugger/kernel/slabs.h"

struct slab_type {
	struct type type; /* { NULL, 0 }: not known */
	bool is_sure;	  /* the name is not shared, and the size is the type's */
};

#define SLAB_TAG_SIZE (SLAB_NAME_SIZE + 24)
/* The struct's tag, SLAB_TAG_SIZE bytes, that a cache's name suggests, most likely first from
 * number 0 on; false: there are no more. */
bool slab_suggest_tag(const char *name, unsigned int number, char *ret);
void slab_type_of(struct target *target, const struct slab_cache *cache, struct slab_type *ret);

#endif
