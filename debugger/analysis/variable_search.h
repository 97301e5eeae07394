/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Variables that have an address: whoever has a cache, an object, keeps it in one. */
#ifndef DEBUGGER_ANALYSIS_VARIABLE_SEARCH_H
#define DEBUGGER_ANALYSIS_VARIABLE_SEARCH_H

#include "debugger/target/target.h"

enum variables { VARIABLES_OF_MODULES, VARIABLES_OF_KERNEL };

/*
 * The places, `most` at most, where static variables have an aligned pointer into `size` bytes from
 * `start` on. What cannot be read is passed over. Errors: Ctrl-C, no memory.
 */
struct error *variables_find_pointers(struct target *target, enum variables which, uint64_t start,
				      uint64_t size, uint64_t *places, size_t most,
				      size_t *ret_count) MUST_CHECK;

#endif
