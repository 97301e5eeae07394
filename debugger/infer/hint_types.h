/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The types that rows of the shipped table spell, found in this dump's BTF once: thousands of
 * symbols share a row's text. Threads may ask while nobody adds.
 */
#ifndef DEBUGGER_INFER_HINT_TYPES_H
#define DEBUGGER_INFER_HINT_TYPES_H

#include "debugger/infer/knowledge.h"

struct hint_types;

/* A row's type: of an array without its first dimension. */
struct hint_type {
	struct type type;
	bool is_array;
};

struct error *hint_types_create(struct hint_types **ret) MUST_CHECK;
void hint_types_destroy(struct hint_types *types);
/*
 * The type of a row's text (of the table, not a copy) in a view of BTF; false: there is none here.
 * Looked up and remembered unless the knowledge is shared by threads.
 */
bool hint_type_find(const struct knowledge *knowledge, const struct btf *btf, const char *text,
		    struct hint_type *ret);
/* Looks up what the table says of a symbol, so that threads find it. */
void hint_types_prepare(const struct knowledge *knowledge, const struct btf *btf,
			const struct symbol *symbol);

#endif
