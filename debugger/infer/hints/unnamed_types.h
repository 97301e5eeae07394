/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Structs and unions without a name, found by the names of their members: "struct {seq,timekeeper}"
 * is how the shipped table spells the type of tk_core.
 */
#ifndef DEBUGGER_INFER_HINTS_UNNAMED_TYPES_H
#define DEBUGGER_INFER_HINTS_UNNAMED_TYPES_H

#include "btf/btf.h"

/* Those of the levels of BTF that were asked about. Zeroed at first. */
struct unnamed_types {
	struct unnamed_type {
		struct type type;
		const char *first; /* name of its first member; borrowed */
	} * items;
	size_t count, capacity;
	const struct btf **listed;
	size_t listed_count, listed_capacity;
};

void unnamed_types_deinit(struct unnamed_types *types);
/* Is it spelled so? */
bool unnamed_is_spelled(const char *text);
/* { NULL, 0 }: there is none in the BTF or below it, or several that differ. */
struct type unnamed_find(struct unnamed_types *types, const struct btf *btf, const char *text);

#endif
