/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The types of BTF as DWARF: a level (the kernel's BTF, that of a module) becomes the entries of
 * one unit. What a debugger could loop or overflow its stack on is not written: chains of pointers,
 * arrays and the like, and structs in structs, longer than EXPORT_DEPTH_MAX or in a circle, have
 * the type "btfcrash_damaged" in their place.
 */
#ifndef DEBUGGER_EXPORT_TYPES_H
#define DEBUGGER_EXPORT_TYPES_H

#include "base/hash.h"
#include "btf/btf.h"
#include "debugger/export/dwarf.h"

#define EXPORT_DEPTH_MAX 64

/* One level; its unit is open while entries that name its types as "here" are written. */
struct exported_types {
	const struct btf *btf;
	const struct exported_types *base; /* NULL: of a base BTF */
	uint32_t start, end;		   /* ids */
	uint32_t *offsets;		   /* of the entries, by id - start; 0: none */
	uint8_t *chain, *nesting;	   /* depth + 1 through pointers, by value; 0: too deep */
	struct derived_type *derived;	   /* entries of types that BTF does not spell out */
	size_t derived_count, derived_capacity;
	struct hash_index derived_index; /* by id */
};
struct derived_type {
	struct type type;
	uint32_t offset;
};

/*
 * Begins a unit called `name` and writes all types of a level into it. `base` (borrowed) is that of
 * the BTF's base. Errors: ERROR_NO_MEMORY.
 */
struct error *exported_types_write(const struct btf *btf, const struct exported_types *base,
				   const char *name, struct dwarf *dwarf,
				   struct exported_types *ret) MUST_CHECK;
void exported_types_deinit(struct exported_types *types);
/*
 * Where the entry of a type is, seen from the open unit of `types`, which gets one if the type is
 * derived. False: the type is of another level, or cannot be written.
 */
bool exported_type(struct exported_types *types, struct dwarf *dwarf, struct type type,
		   struct dwarf_type *ret);
/* The same from another unit, without derived types. */
bool exported_type_elsewhere(const struct exported_types *types, struct type type,
			     struct dwarf_type *ret);
/* Writes result and parameters of a FUNC_PROTO below a DWARF_FUNCTION, from another unit. */
void exported_parameters(const struct exported_types *types, struct dwarf *dwarf,
			 const struct btf_type *prototype);

#endif
