/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From variables of modules and the kernel to an object, along the objects that these point at: a
 * driver keeps what it has in lists, arrays and structs of its own.
 */
#ifndef DEBUGGER_ANALYSIS_POINTER_WAY_H
#define DEBUGGER_ANALYSIS_POINTER_WAY_H

#include "debugger/target/target.h"

struct pointer_way {
	uint64_t variable; /* place of the pointer that it begins with; 0: none was found */
	uint64_t last;	   /* of the pointer into the object */
	uint32_t pointers; /* from the variable to the object, 2 or more: a list counts as one */
};

/*
 * The shortest ways to `size` bytes from `object` on, through objects of slab caches whose type the
 * kernel's own code does not give away: those are everybody's. `visit` is told of each of that
 * length, and of one that begins in the kernel and in a module alike is told of the kernel's.
 * Bounded in objects and pointers. Errors: Ctrl-C, no memory, and what the dump lacks.
 */
struct error *pointer_ways_find(struct target *target, uint64_t object, uint64_t size,
				void (*visit)(void *context, const struct pointer_way *way),
				void *context) MUST_CHECK;

#endif
