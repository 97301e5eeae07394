/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where walks have been: what ends a walk that leads back to itself, and walks that are begun
 * anew for each element of another one. A zeroed set is empty.
 *
 * A bit stands for each 8 bytes of memory, so that a set takes at most a thirtieth of the memory
 * that it is about, and 144 MiB; two addresses of the same 8 bytes are one.
 */
#ifndef BASE_SEEN_H
#define BASE_SEEN_H

#include "base/address_map.h"
#include "base/error.h"
#include <stdbool.h>

struct seen {
	struct address_map pages;
};

/*
 * Adds an address; *ret_again: it was there already. Errors: ERROR_FORMAT when they lie in more
 * pages than can be remembered, ERROR_NO_MEMORY.
 */
struct error *seen_add(struct seen *seen, uint64_t address, bool *ret_again) MUST_CHECK;
/* Leaves it empty. */
void seen_deinit(struct seen *seen);

#endif
