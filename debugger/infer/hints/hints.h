/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The shipped table: what globals of several kernels are declared as, from their DWARF. The format
 * is described in hints/README.md. A row says what a name was elsewhere: its type must exist here
 * and fit the symbol's room.
 */
#ifndef DEBUGGER_INFER_HINTS_HINTS_H
#define DEBUGGER_INFER_HINTS_HINTS_H

#include "base/error.h"
#include "symbols/symtab.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hints;

struct hint {
	const char *type; /* as C spells it, an array's first dimension as [] */
	uint32_t count;	  /* elements, 0: not an array, or differs */
	uint32_t kernels; /* bit N: kernel N of the table says so */
	bool is_family;	  /* by the beginning of the name */
};

#define HINTS_A_NAME  8
#define HINTS_KERNELS 32
#define HINTS_ALL     UINT32_MAX /* kernels */

/* The table that is built in. */
struct error *hints_create(struct hints **ret) MUST_CHECK;
/* From bytes, borrowed; ERROR_FORMAT. */
struct error *hints_open(const void *data, size_t size, struct hints **ret) MUST_CHECK;
void hints_destroy(struct hints *hints);
/*
 * The bits of the kernels of a series ("6.1"), of whatever flavour, or of one release with its
 * flavour; 0: not in the table.
 */
uint32_t hints_kernel(const struct hints *hints, const char *name);
/*
 * Of `kernels`, those that are nearest to a release ("6.12.5-x"): its own series, or else the one
 * before and the one after it. All, if the release does not begin with a version.
 */
uint32_t hints_near(const struct hints *hints, uint32_t kernels, const char *release);
/* The series of kernels, "5.10, 6.1", in their order. */
void hints_series(const struct hints *hints, uint32_t kernels, char *buffer, size_t size);
/*
 * What a symbol's name is in the kernels of the mask, as a variable of its kind, per-CPU or not.
 * Returns how many of at most HINTS_A_NAME, what most of them say first. Texts live as long as the
 * table.
 */
size_t hints_find(struct hints *hints, const struct symbol *symbol, uint32_t kernels,
		  struct hint *ret);

#endif
