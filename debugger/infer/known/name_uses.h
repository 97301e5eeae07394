/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What BTF itself says of names: where most members and parameters that are called "shrinker" are
 * a struct shrinker or a pointer to one, so most likely is huge_zero_page_shrinker.
 */
#ifndef DEBUGGER_INFER_KNOWN_NAME_USES_H
#define DEBUGGER_INFER_KNOWN_NAME_USES_H

#include "debugger/infer/layout/layout.h"

struct name_uses;
struct error *name_uses_create(const struct layout *layout, struct name_uses **ret) MUST_CHECK;
void name_uses_destroy(struct name_uses *uses);

#define NAME_USES_MAX 8
/*
 * A type that members and parameters with the end of a name have; what they point at and what they
 * are elements of counts where that is a struct. `bits`: how much likelier it is with that name
 * than with any, in halves of a bit; `percent`: of all that are called so.
 */
struct name_use {
	uint32_t type;
	int bits, percent;
};
/* The likeliest first; returns how many. */
size_t name_uses_find(const struct name_uses *uses, const char *name, size_t length,
		      struct name_use ret[NAME_USES_MAX]);
/* The type that stands for `type` (resolved) there. */
uint32_t name_uses_type(const struct layout *layout, uint32_t type);

#endif
