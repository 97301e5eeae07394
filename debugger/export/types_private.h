/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between types.c, types_derived.c and types_depth.c. */
#ifndef DEBUGGER_EXPORT_TYPES_PRIVATE_H
#define DEBUGGER_EXPORT_TYPES_PRIVATE_H

#include "debugger/export/types.h"

#define EXPORTED_POINTER_SIZE 8

static const struct dwarf_type exported_void = { DWARF_VOID, 0 };

/* The entry of a type that BTF spells out. */
struct dwarf_type exported_reference(const struct exported_types *types, uint32_t id);
/* The level whose BTF holds a record; NULL: none that is written, as of derived types. */
const struct exported_types *exported_holder(const struct exported_types *types,
					     const struct btf *btf);
/* Entries of an integer or floating-point number, and of an array. */
void exported_base_write(struct dwarf *dwarf, const struct btf_type *record);
void exported_array_write(struct dwarf *dwarf, const struct btf_type *record,
			  struct dwarf_type element);

/* Fills `chain` or, `by_value`, `nesting`; those of the base are known. */
void exported_types_measure(struct exported_types *types, bool by_value);

/* --- types_derived.c --- */

/* The entry of a type beside the one that BTF's record has, if any; false: none yet. */
bool derived_type_find(const struct exported_types *types, struct type type, uint32_t *ret);
/* False: no memory, and the DWARF failed. */
bool derived_type_add(struct exported_types *types, struct dwarf *dwarf, struct type type,
		      uint32_t offset);

#endif
