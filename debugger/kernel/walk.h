/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Walks over the kernel's containers: lists, trees and the maps from an index to an entry. Every
 * walk ends on any bytes: a link is followed only when what it leads to points back, or was not
 * seen before, or lies deeper. A broken link is reported in its place, and the walk goes on with
 * what can be reached otherwise.
 */
#ifndef DEBUGGER_KERNEL_WALK_H
#define DEBUGGER_KERNEL_WALK_H

#include "base/seen.h"
#include "debugger/target/target.h"

struct walk_item {
	uint64_t address;     /* of the node in lists and red-black trees, else the entry */
	bool is_value;	      /* a number in the place of a pointer: `address` is the number */
	bool has_index;	      /* of maps: */
	uint64_t index, last; /* first and last index of the entry */
};

struct walk {
	struct target *target;
	/* Called for each item, in order; an error ends the walk and is handed on. */
	struct error *(*visit)(void *context, const struct walk_item *item);
	/* Something is broken here; takes `problem`. An error ends the walk. */
	struct error *(*broken)(void *context, struct error *problem);
	void *context;
	/*
	 * What the walks have visited that share it, by address; NULL: nothing is remembered. Each
	 * walk ends, but one that is begun anew for each element of another one makes their
	 * product, if those lead to the same. What was visited is then broken: what is linked into
	 * one place is in one list, or tree. Borrowed.
	 */
	struct seen *seen;
	/*
	 * The name of a container that a kernel which has booted never has empty; NULL: this one
	 * may be. An empty one is broken then, for what was in it is not known. Not of trees.
	 */
	const char *never_empty;
};

/* Where a walk ended without a break: `found` is whether there was anything. */
struct error *walk_ended(const struct walk *walk, bool found) MUST_CHECK;

/* The functions below fail as `visit` and `broken` do, on Ctrl-C, and without the types. */

/* --- lists (walk_list.c): kernel include/linux/list.h and its kin; addresses are of nodes --- */

/*
 * struct list_head, from a head that is no node itself. Behind a broken link the walk goes on with
 * what can be reached from the other end.
 */
struct error *walk_list(const struct walk *walk, uint64_t head, bool backward) MUST_CHECK;

enum hlist_kind {
	HLIST_PLAIN,
	HLIST_NULLS, /* ends in an odd pointer */
	HLIST_BL     /* the lowest bit of the head is a lock */
};
/* struct hlist_head and its kin: each node points back to the pointer that leads to it. */
struct error *walk_hlist(const struct walk *walk, uint64_t head, enum hlist_kind kind) MUST_CHECK;
/*
 * Nodes that are linked by a pointer alone, `offset` bytes into each (llist, "next"): from `first`
 * to NULL. One that leads back hides what was behind it.
 */
struct error *walk_chain(const struct walk *walk, uint64_t first, uint64_t offset) MUST_CHECK;
/* The same of what may be a ring, which is whole where it leads back to `first`. */
struct error *walk_chain_or_ring(const struct walk *walk, uint64_t first,
				 uint64_t offset) MUST_CHECK;

/* --- trees: addresses of struct rb_node, in order (walk_rbtree.c) --- */

/* `root` is the address of the struct rb_root. */
struct error *walk_rbtree(const struct walk *walk, uint64_t root) MUST_CHECK;

/* --- maps --- */

/* The entries of the struct xarray (radix_tree_root is the same) at an address (walk_xarray.c). */
struct error *walk_xarray(const struct walk *walk, uint64_t xarray) MUST_CHECK;
/*
 * The entry of one index, as it is stored: a pointer, or a number with the lowest bit; 0: none. Of
 * entries that take several indices, for each of them.
 */
struct error *xarray_load(struct target *target, uint64_t xarray, uint64_t index,
			  uint64_t *ret) MUST_CHECK;
/* walk_xarray() of a struct idr, whose ids begin at idr_base. */
struct error *walk_idr(const struct walk *walk, uint64_t idr) MUST_CHECK;
/* The entries of the struct maple_tree at an address (walk_maple.c). */
struct error *walk_maple(const struct walk *walk, uint64_t tree) MUST_CHECK;

/* Entries of xarrays and maple trees by their two low bits (kernel include/linux/xarray.h). */
#define XA_INTERNAL_MASK 3u
#define XA_INTERNAL	 2u
/* Small internal entries are no pointers to nodes: siblings, retry, zero. */
#define XA_LOWEST_NODE 4096u

static inline bool xa_is_internal(uint64_t entry)
{
	return (entry & XA_INTERNAL_MASK) == XA_INTERNAL;
}

static inline bool xa_is_node(uint64_t entry)
{
	return xa_is_internal(entry) && entry > XA_LOWEST_NODE;
}

/*
 * Whether a walk that shares `seen` was there before, which is then broken: `where` says what leads
 * to it. The walk goes no further there.
 */
struct error *walk_again(const struct walk *walk, uint64_t node, const char *where,
			 bool *ret) MUST_CHECK;
/* An entry of a map as an item: a pointer, or with the lowest bit a number. */
struct error *walk_entry(const struct walk *walk, uint64_t entry, uint64_t index,
			 uint64_t last) MUST_CHECK;

#endif
