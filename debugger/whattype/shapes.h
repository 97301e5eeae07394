/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Types that were met, and where in them pointers at structs and unions lie. */
#ifndef DEBUGGER_WHATTYPE_SHAPES_H
#define DEBUGGER_WHATTYPE_SHAPES_H

#include "base/hash.h"
#include "btf/btf.h"

#define SHAPE_NONE  UINT32_MAX
#define SHAPE_BYTES 65536 /* of one are looked at */

/* A pointer within a type. */
struct slot {
	uint32_t offset; /* bytes */
	uint32_t shape;	 /* of what it points at */
};

struct shape {
	struct type type;  /* resolved */
	struct type shown; /* with a typedef where it has no other name */
	uint32_t size, least, alignment;
	uint32_t first, count; /* in slots, once it is laid out */
	bool is_laid_out;
};

/* All zero: none yet. */
struct shapes {
	struct shape *all;
	size_t count, capacity;
	struct hash_index index;
	struct slot *slots;
	size_t slot_count, slot_capacity;
	size_t laying;	 /* the first slot of the type that is being laid out */
	uint32_t visits; /* left for it */
};

void shapes_deinit(struct shapes *shapes);
/* The number of a type's shape; SHAPE_NONE for what has no size. */
struct error *shapes_find(struct shapes *shapes, struct type type, uint32_t *ret) MUST_CHECK;
/* Finds its pointers, if that was not done yet; shapes may move. */
struct error *shapes_lay_out(struct shapes *shapes, uint32_t number) MUST_CHECK;
/* Of the lowest level that has it, so that the kernel's types are the same for all modules. */
struct type shapes_lowest(struct type type);

#endif
