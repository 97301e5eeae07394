/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a symbol table is made of. Private to symbols/. */
#ifndef SYMBOLS_SYMTAB_PRIVATE_H
#define SYMBOLS_SYMTAB_PRIVATE_H

#include "base/hash.h"
#include "symbols/kallsyms.h"
#include "symbols/symtab.h"

/* Who brought symbols besides the kernel: a module, or "bpf" and the like. */
struct symbol_source {
	char *name;
	char *strings; /* of its symbols' names, NUL-terminated each */
	size_t strings_size, strings_capacity;
	bool is_module;
	uint32_t symbol_count;
	struct {
		uint64_t start, size;
	} regions[8];
	size_t region_count;
};

/* A symbol that is not the kernel's own. */
struct added_symbol {
	uint64_t address, size;
	uint32_t name;	 /* offset in its source's strings */
	uint32_t source; /* index */
	char kind;
	bool per_cpu;
};

/* Half-open. */
struct address_range {
	uint64_t start, end;
};

/* What is computed when first asked for; a symbol table that is `const` to its user still grows it.
 */
struct symtab_index {
	/*
	 * Chains of kernel symbols by hash of their name, ascending. Made for building fast: a
	 * third of what filling a hash_index of that size costs.
	 */
	uint32_t *name_heads; /* NULL: not built */
	uint32_t *name_next;
	uint32_t name_mask; /* number of heads - 1 */
	struct hash_index added_names;
	size_t added_names_count; /* added symbols that are in it */
	uint32_t *by_address;	  /* added symbols that are places, by address and number */
	size_t by_address_count;
	size_t by_address_of; /* the number of added symbols it was made of */
	bool has_facts;
	struct address_range per_cpu; /* of the kernel's per-CPU symbols */
	struct address_range text[2];
};

struct symtab {
	struct kallsyms kernel;
	struct symbol_source **sources;
	size_t source_count, source_capacity;
	struct added_symbol *added;
	size_t added_count, added_capacity;
	struct symtab_index *index;
};

/* Appends an empty source with that name (copied). */
struct error *symtab_add_source(struct symtab *symtab, const char *name,
				struct symbol_source **ret) MUST_CHECK;
/* Room for `count` more added symbols. */
struct error *symtab_reserve(struct symtab *symtab, size_t count) MUST_CHECK;

static inline const char *added_name(const struct symtab *symtab, const struct added_symbol *symbol)
{
	return symtab->sources[symbol->source]->strings + symbol->name;
}

/* The index of names and addresses (symtab_index.c). */
void symtab_index_free(struct symtab_index *index);
/* The kernel's part is about to change. */
void symtab_index_forget_kernel(struct symtab_index *index);
/* Addresses of added symbols in order; empty without memory. */
const struct symtab_index *symtab_sorted(const struct symtab *symtab);
/* The first number >= `from` with that name; false: none. */
bool symtab_next_named(const struct symtab *symtab, const char *module, const char *name,
		       uint32_t from, uint32_t *ret);
/* Ranges that symbols of the kernel name. */
const struct symtab_index *symtab_facts(const struct symtab *symtab);

#endif
