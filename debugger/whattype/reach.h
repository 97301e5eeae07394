/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Typed objects in reach: from what is typed already (per-CPU variables, globals, objects of slab
 * caches that are named after their type) along typed pointers to the objects these point at, and
 * on from there, as mdb's ::typegraph does. Bounded in objects; Ctrl-C ends it.
 */
#ifndef DEBUGGER_WHATTYPE_REACH_H
#define DEBUGGER_WHATTYPE_REACH_H

#include "debugger/infer/infer.h"
#include "debugger/kernel/slab_types.h"

#define REACH_NONE UINT32_MAX

enum reach_root {
	REACH_POINTER, /* no root: `parent` points at it */
	REACH_GLOBAL,  /* `parent`: number of the symbol */
	REACH_PER_CPU, /* the same, on CPU `offset` */
	REACH_SLAB     /* of a cache that is named after the type; `parent` as REACH_POINTER or
			  REACH_NONE */
};

struct reach_object {
	uint64_t address;
	uint32_t shape;	     /* of the type */
	uint32_t parent;     /* number of the object that points at it */
	uint32_t offset;     /* of the pointer in the parent, bytes */
	uint32_t references; /* pointers of this type at this object that were met */
	uint32_t limit;	     /* bytes of it that there are, 0: not known */
	uint8_t root, confidence;
};

struct reach;

/* The target's, made when first asked for; nothing is followed yet, it has slabs and their types.
 */
struct error *reach_open(struct target *target, struct reach **ret) MUST_CHECK;
/* The same, with all that is in reach. */
struct error *reach_get(struct target *target, struct reach **ret) MUST_CHECK;
/*
 * Only around one object of a slab, outwards from it: along objects whose own caches are named
 * after their types, until one of them points back at it. Empty if its cache tells no type.
 */
struct error *reach_create_near(struct reach *whole, const struct slab_place *from,
				struct reach **ret) MUST_CHECK;
void reach_destroy_near(struct reach *near);
/*
 * From all globals whose types are inferred too, which takes as long as `globals` does. Once; the
 * next call does nothing.
 */
struct error *reach_add_globals(struct reach *reach) MUST_CHECK;
/*
 * Where the walk was cut: adds the pointers at bytes `first` to `last` that known objects and all
 * those of caches named after their type have. Reads them all, which on a large machine are
 * gigabytes.
 */
struct error *reach_add_pointers_at(struct reach *reach, uint64_t first, uint64_t last) MUST_CHECK;
/* The walk met more objects than it may remember. */
bool reach_is_cut(const struct reach *reach);
/* NULL: the dump's slabs cannot be read. */
struct slabs *reach_slabs(const struct reach *reach);
/* slab_type_of(), remembered. */
struct error *reach_cache_type(struct reach *reach, const struct slab_cache *cache,
			       struct slab_type *ret) MUST_CHECK;

/*
 * The objects that have a byte in `first` to `last`, the last ones first. At most `limit`; returns
 * how many.
 */
size_t reach_find(const struct reach *reach, uint64_t first, uint64_t last, uint32_t *ret,
		  size_t limit);
const struct reach_object *reach_object(const struct reach *reach, uint32_t number);
struct type reach_type(const struct reach *reach, uint32_t number);
/* The first object of a type that `matches`; REACH_NONE. */
uint32_t reach_search(const struct reach *reach, struct type type,
		      bool (*matches)(void *context, const struct reach_object *object),
		      void *context);
/*
 * "runqueues:0.curr->files": the C expression whose value points at the object, or that is it where
 * it is a variable; truncates.
 */
void reach_spell(const struct reach *reach, uint32_t number, char *buffer, size_t size);

#endif
