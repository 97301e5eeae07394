/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One cache's slabs, for slab_objects.c, which walks them, and slabs.c, which knows all caches. */
#ifndef DEBUGGER_KERNEL_SLAB_PRIVATE_H
#define DEBUGGER_KERNEL_SLAB_PRIVATE_H

#include "debugger/kernel/slab_objects.h"
#include "debugger/kernel/slab_sheaves.h"
#include "debugger/kernel/slabs.h"
#include "debugger/target/object.h"

/* struct slab says it in 15 bits. */
#define SLAB_OBJECTS_MAX 32767u
/* Vmemmap comes and goes with subsections of 2 MiB of memory: 512 struct pages of 64 bytes. */
#define SLAB_HOLE_SIZE (32u << 10)

/* A CPU's own chain of free slots. */
struct cpu_chain {
	uint64_t slab, first;
};

/* How the type of a page shows that it is a slab's. */
struct slab_mark {
	const char *member; /* NULL: it does not */
	uint64_t mask, value;
};

struct slab_walk {
	struct target *target;
	/* Where struct pages lie and what marks a slab's; the same for all caches. */
	struct object slab; /* address: 0 */
	struct slab_mark mark;
	uint64_t vmemmap, vmemmap_size, page_record, cache_member;
	uint64_t page_offset; /* where physical memory is mapped */
	/* The cache. */
	uint64_t cache;
	uint64_t object_size, objects_limit, left_pad, free_offset;
	bool is_hardened; /* chains are obfuscated (SLAB_FREELIST_HARDENED) */
	uint64_t random;
	struct cpu_chain *chains;
	size_t chain_count, chain_capacity;
	/* Read when the first slab is. What may still be read of them for all caches; NULL: of one.
	 */
	struct slab_sheaves sheaves;
	bool sheaves_read;
	uint64_t *sheaves_left;
	struct slab_cache info;
	uint8_t *chunk; /* CHUNK_SIZE bytes, NULL: not needed yet */
};

struct slab_slots {
	uint64_t first; /* address of the first object */
	uint64_t count, in_use;
	uint64_t free_count;
	uint8_t is_free[SLAB_OBJECTS_MAX / 8 + 1];
};

/* Fills what is the same for all caches; `target` is set. */
struct error *slab_find_pages(struct slab_walk *walk) MUST_CHECK;
/* As slab_walk_create(), with what `pages` knows of struct page; NULL: nothing yet. */
struct error *slab_walk_create_like(struct target *target, const struct slab_walk *pages,
				    uint64_t cache, struct slab_walk **ret) MUST_CHECK;
/* What a free slot's word at `link` leads to (kernel freelist_ptr_decode()). */
uint64_t slab_decode_link(const struct slab_walk *walk, uint64_t stored, uint64_t link);
/* The first object's address, from the slab's struct page. */
uint64_t slab_first_slot(const struct slab_walk *walk, uint64_t slab);
/*
 * The slots with their free ones; `*ret_whole`: all that are on a list or in a sheaf are known.
 * What RCU, or a CPU that frees later, has been given is on none and counts as allocated.
 */
struct error *slab_read(struct slab_walk *walk, uint64_t address, struct slab_slots *slots,
			bool *ret_whole) MUST_CHECK;
bool slab_slot_is_free(const struct slab_slots *slots, uint64_t slot);
/*
 * slab_read() of what a walk meets; *ret_met: a slab begins there. *ret_end: where the struct pages
 * end that are the slab's.
 */
struct error *slab_meet(struct slab_walk *walk, uint64_t address, struct slab_slots *slots,
			bool *ret_whole, uint64_t *ret_end, bool *ret_met) MUST_CHECK;
/*
 * Of the slab whose struct page is at `address`; nothing where there is none. *ret_end: where the
 * struct pages end that are the slab's, of which none begins another one. Only with those passed
 * over there are no more objects than memory has room for.
 */
struct error *slab_visit_objects(struct slab_walk *walk, uint64_t address, slab_visitor *visit,
				 void *context, uint64_t *ret_end) MUST_CHECK;
/* What lies in walk->chunk, read from an address in vmemmap. */
typedef struct error *slab_chunk_visitor(void *context, uint64_t address, size_t size);
/* All of vmemmap that the dump has. */
struct error *slab_for_each_chunk(struct slab_walk *walk, slab_chunk_visitor *visit,
				  void *context) MUST_CHECK;

#endif
