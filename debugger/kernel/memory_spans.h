/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All memory of a dump by the addresses that the kernel knows it by, each physical page once: what
 * lies in vmalloc's areas (stacks, modules), in the kernel's image or in the array of struct page
 * has that address, all other memory that of the direct map. So has what a damaged dump does not
 * tell the other address of: nothing is passed over.
 *
 * Or what a process has in its mappings: a page comes for each of its addresses. What was never
 * touched is in no memory, and left out.
 */
#ifndef DEBUGGER_KERNEL_MEMORY_SPANS_H
#define DEBUGGER_KERNEL_MEMORY_SPANS_H

#include "debugger/kernel/user_space.h"
#include "debugger/target/target.h"

enum memory_space { SPACE_KERNEL, SPACE_PHYSICAL, SPACE_USER };

/* A run of memory that is in one piece in both. */
struct memory_span {
	uint64_t address, physical, size;
};

struct memory_spans;

/*
 * What lies from `first` to `last`: only there, a page that has two addresses comes with that of
 * them that is in this range. `user`, which is borrowed: of SPACE_USER. Errors: what the kernel's
 * addresses need and the dump lacks.
 */
struct error *memory_spans_create(struct target *target, enum memory_space space,
				  struct user_space *user, uint64_t first, uint64_t last,
				  struct memory_spans **ret) MUST_CHECK;
void memory_spans_destroy(struct memory_spans *spans);
/*
 * The next ones by address, of at most `limit` bytes; a size of 0: there are no more. Errors: fatal
 * ones, and a process of far more pages than the machine has; what is broken of its tables is
 * passed over.
 */
struct error *memory_spans_next(struct memory_spans *spans, uint64_t limit,
				struct memory_span *ret) MUST_CHECK;

#endif
