/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All memory of a dump by the addresses that the kernel knows it by, each physical page once: what
 * lies in vmalloc's areas (stacks, modules), in the kernel's image or in the array of struct page
 * has that address, all other memory that of the direct map. So has what a damaged dump does not
 * tell the other address of: nothing is passed over.
 */
#ifndef DEBUGGER_KERNEL_MEMORY_SPANS_H
#define DEBUGGER_KERNEL_MEMORY_SPANS_H

#include "debugger/target/target.h"

enum memory_space { SPACE_KERNEL, SPACE_PHYSICAL };

/* A run of memory that is in one piece in both. */
struct memory_span {
	uint64_t address, physical, size;
};

struct memory_spans;

/*
 * What lies from `first` to `last`: only there, a page that has two addresses comes with that of
 * them that is in this range. Errors: what the kernel's addresses need and the dump lacks.
 */
struct error *memory_spans_create(struct target *target, enum memory_space space, uint64_t first,
				  uint64_t last, struct memory_spans **ret) MUST_CHECK;
void memory_spans_destroy(struct memory_spans *spans);
/* The next ones by address, of at most `limit` bytes; false: there are no more. */
bool memory_spans_next(struct memory_spans *spans, uint64_t limit, struct memory_span *ret);

#endif
