/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The slabs of all caches: whose object lies at an address. */
#ifndef DEBUGGER_KERNEL_SLABS_H
#define DEBUGGER_KERNEL_SLABS_H

#include "debugger/target/target.h"

#define SLAB_NAME_SIZE 64

struct slab_cache {
	uint64_t address; /* of its struct kmem_cache */
	char name[SLAB_NAME_SIZE];
	uint64_t object_size, slot_size; /* bytes: asked for, and from one object to the next */
	bool is_shared;			 /* others were merged into it: the name says nothing */
};

struct slabs;

/* Errors: what the dump lacks. */
struct error *slabs_create(struct target *target, struct slabs **ret) MUST_CHECK;
void slabs_destroy(struct slabs *slabs);
/* Why the objects of a cache were passed over: the first that could not be read; NULL: none. Caller
 * frees. */
struct error *slabs_problem(struct slabs *slabs) MUST_CHECK;

/* As slab_walk_objects(), of all caches that are met; a cache lives as long as `slabs`. */
typedef struct error *slab_object_visitor(void *context, const struct slab_cache *cache,
					  uint64_t object, bool is_allocated);
struct error *slabs_for_each(struct slabs *slabs, slab_object_visitor *visit,
			     void *context) MUST_CHECK;

enum slab_state {
	SLAB_NO_OBJECT, /* between or behind the objects */
	SLAB_FREE,
	SLAB_ALLOCATED,
	SLAB_UNSURE /* not on a free list that could be read */
};

struct slab_place {
	const struct slab_cache *cache;
	uint64_t slab; /* its struct page */
	enum slab_state state;
	uint64_t object; /* start; 0: in none */
	uint32_t index, count;
	bool in_sheaf; /* free, and in an array of a CPU or node */
};
/*
 * All slots of all slabs that are met, free ones too; `name`: of caches that are called so, NULL:
 * of all.
 */
typedef struct error *slab_place_visitor(void *context, const struct slab_place *place);
struct error *slabs_for_each_slot(struct slabs *slabs, const char *name, slab_place_visitor *visit,
				  void *context) MUST_CHECK;
/*
 * The cache whose slab holds an address, and the start of the slot there, whether that is taken or
 * not; quicker than slabs_find(). ERROR_NOT_FOUND: the address is in no slab.
 */
struct error *slabs_slot(struct slabs *slabs, uint64_t address, const struct slab_cache **ret_cache,
			 uint64_t *ret_slot) MUST_CHECK;
/* The object around an address. ERROR_NOT_FOUND: the address is in no slab. */
struct error *slabs_find(struct slabs *slabs, uint64_t address, struct slab_place *ret) MUST_CHECK;

#endif
