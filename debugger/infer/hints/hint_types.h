/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The types that rows of the shipped table spell, found in this dump's BTF once: thousands of
 * symbols share a row's text. Threads may ask while nobody adds.
 */
#ifndef DEBUGGER_INFER_HINTS_HINT_TYPES_H
#define DEBUGGER_INFER_HINTS_HINT_TYPES_H

#include "debugger/infer/hints/hints.h"
#include "debugger/target/target.h"

struct hint_types;

/* A row's type: of an array without its first dimension. */
struct hint_type {
	struct type type;
	bool is_array;
};

struct error *hint_types_create(struct target *target, struct hint_types **ret) MUST_CHECK;
void hint_types_destroy(struct hint_types *types);
/*
 * The type of a row's text (of the table, not a copy) in a view of BTF; false: there is none here.
 * `is_shared`: threads ask, and nothing is looked up that is not remembered.
 */
bool hint_type_find(struct hint_types *types, const struct btf *btf, const char *text,
		    bool is_shared, struct hint_type *ret);
/* Looks up what the rows of some kernels say of a symbol, so that threads find it. */
void hint_types_prepare(struct hint_types *types, struct hints *hints, uint32_t kernels,
			const struct btf *btf, const struct symbol *symbol);

#endif
