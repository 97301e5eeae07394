/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whose an object is that says nothing of itself, if a module's variables or code tell. */
#ifndef DEBUGGER_ANALYSIS_OBJECT_OWNER_H
#define DEBUGGER_ANALYSIS_OBJECT_OWNER_H

#include "debugger/analysis/object_note.h"

struct object_owner {
	uint64_t place; /* of the pointer that tells; 0: nothing is known, and the rest is empty */
	char module[64];
	char name[SYMBOL_NAME_SIZE + 96]; /* "slots+0x10 [drv]" */
	bool is_pointed_at; /* what is named has the pointer; else the object points to it */
	/* Of a way with more than one: from what is named to the object, as in pointer_way. */
	uint32_t pointers;
	uint64_t last;
};

/*
 * What of a module's points into `size` bytes from `object` on, else what of a module's these point
 * to, else what leads there by several pointers. Nothing where several modules do, or by several
 * pointers the kernel itself. Errors: Ctrl-C,
 * no memory.
 */
struct error *object_owner_find(struct target *target, uint64_t object, uint64_t size,
				struct object_owner *ret) MUST_CHECK;

/* The same of the object that a note is of; nothing where that is none of a slab. */
struct error *object_owner_of(struct target *target, const struct object_note *note,
			      struct object_owner *ret) MUST_CHECK;

/*
 * `what`: the object, in words. "slots+0x10 [drv] points at that object", "that object points to
 * drv_ops [drv]", "slots [drv] leads to that object by 2 pointers, the last at 0x..."; "": its
 * owner is not known.
 */
void object_owner_spell(const struct object_owner *owner, const char *what, char *buffer,
			size_t size);

#endif
