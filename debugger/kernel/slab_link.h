/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free objects of a slab cache lead from one to the next, by a word that lies in each (kernel
 * mm/slub.c): who writes into one leads the allocator elsewhere.
 */
#ifndef DEBUGGER_KERNEL_SLAB_LINK_H
#define DEBUGGER_KERNEL_SLAB_LINK_H

#include "debugger/target/target.h"

struct slab_link {
	uint64_t slot;	 /* start of the object whose word it is; 0: none was found */
	uint64_t place;	 /* of the word */
	uint64_t stored; /* as it lies there, obfuscated or written over */
	/*
	 * The word has been cleared since, as in an object that was given out; `stored` is what
	 * alone would have led there from that slot, and a number that a writer leaves, or text
	 * that lies in its slab once more.
	 */
	bool is_gone;
	uint64_t text;	 /* then where that text lies; 0: it is none */
	uint64_t before; /* start of the object before it in its slab; 0: it is the first */
	uint64_t size;	 /* bytes from one object to the next */
};

/*
 * The object, in the slabs that are on the lists of the struct kmem_cache at `cache`, whose word
 * leads the allocator to read its next pointer at `access`; 4 million objects are looked at, and of
 * a cache that has more none may be found. Errors are fatal ones, and what the dump lacks to look.
 */
struct error *slab_link_find(struct target *target, uint64_t cache, uint64_t access,
			     struct slab_link *ret) MUST_CHECK;

#endif
