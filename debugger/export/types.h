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

/* Of a type in a file that is read beside the kernel's. */
enum needed {
	NEEDED_NOT,
	NEEDED_NAME, /* a struct or union that is only pointed to is written as an incomplete one */
	NEEDED_WHOLE
};

/* One level; its unit is open while entries that name its types as "here" are written. */
struct exported_types {
	const struct btf *btf;
	const struct exported_types *base; /* NULL: of a base BTF */
	uint32_t start, end;		   /* ids */
	const uint8_t *needed;		   /* enum needed by id - start; NULL: all, wholly */
	uint32_t *offsets;		   /* of the entries, by id - start; 0: none */
	uint8_t *chain, *nesting;	   /* depth + 1 through pointers, by value; 0: too deep */
	struct derived_type *derived;	   /* entries of types that BTF does not spell out */
	size_t derived_count, derived_capacity;
	struct hash_index derived_index;
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
/* The same of a base BTF, but only what is needed of it: borrowed. */
struct error *exported_types_write_needed(const struct btf *btf, const uint8_t *needed,
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

/* --- types_needed.c --- */

/* What a level on `base` and some more types need of it. */
struct needed_types {
	const struct btf *base, *level;
	uint8_t *how; /* enum needed, by id */
	uint32_t *stack;
	size_t stack_count, stack_capacity;
	bool failed; /* no memory */
};
/* Those of `level` are needed, all of them. Errors: ERROR_NO_MEMORY. */
struct error *needed_types_init(struct needed_types *needed, const struct btf *base,
				const struct btf *level) MUST_CHECK;
void needed_types_deinit(struct needed_types *needed);
/* A type that BTF may not spell out, wholly. */
void needed_types_add(struct needed_types *needed, struct type type);

#endif
