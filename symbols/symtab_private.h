/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a symbol table is made of. Private to symbols/. */
#ifndef SYMBOLS_SYMTAB_PRIVATE_H
#define SYMBOLS_SYMTAB_PRIVATE_H

#include "base/hash.h"
#include "symbols/kallsyms.h"
#include "symbols/symtab.h"

/* Added symbols that are places, by address and number; made when first asked for. */
struct address_order {
	uint32_t *numbers;
	size_t count;
	size_t made_of; /* so many symbols */
};

/* Who brought symbols besides the kernel: a module, or "bpf" and the like. */
struct symbol_source {
	char *name;
	char *strings; /* of a module's symbols */
	bool is_module;
	uint32_t first_symbol; /* of a module's, which follow one another */
	uint32_t symbol_count;
	struct address_order order; /* of a module's */
	struct {
		uint64_t start, size;
	} regions[8];
	size_t region_count;
};

/* A symbol that is not the kernel's own. */
struct added_symbol {
	uint64_t address, size;
	const char *name; /* in its source's strings, or kept */
	uint32_t source;  /* index */
	char kind;
	bool per_cpu;
};

/* Half-open. */
struct address_range {
	uint64_t start, end;
};

/* A piece of a module's memory. */
struct module_region {
	uint64_t start, size;
	uint32_t source; /* index */
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
	uint32_t added_scans;	  /* how often their names were walked instead */
	unsigned int searches; /* in the order by name, before there was an index of the kernel */
	bool has_no_memory;    /* for it */
	struct module_region *regions; /* of all modules, by address */
	size_t region_count;
	size_t regions_of;	    /* the number of sources it was made of */
	struct address_order loose; /* symbols of no module */
	bool has_facts;
	struct address_range per_cpu; /* of the kernel's per-CPU symbols */
	struct address_range text[2];
	struct address_range data; /* _sdata.._edata */
};

struct symtab {
	struct kallsyms kernel;
	struct symbol_source **sources;
	size_t source_count, source_capacity;
	struct added_symbol *added;
	size_t added_count, added_capacity;
	size_t strings_size; /* of all sources, bytes */
	uint32_t cut_names;  /* of modules: longer ones */
	struct symtab_index *index;
	struct symtab_names *names;
};

/* Appends an empty source with that name (copied). */
struct error *symtab_add_source(struct symtab *symtab, const char *name,
				struct symbol_source **ret) MUST_CHECK;
/* Room for `count` more added symbols. */
struct error *symtab_reserve(struct symtab *symtab, size_t count) MUST_CHECK;

/* --- names that are kept (symtab_names.c) ---------------------------------------- */

/* NULL: no memory. */
struct symtab_names *symtab_names_create(void);
void symtab_names_destroy(struct symtab_names *names);
/* The kernel has `count` symbols with new numbers; what was kept stays. False: no memory. */
bool symtab_names_renumber(struct symtab_names *names, uint32_t count) MUST_CHECK;
/* A copy of `length` bytes, terminated. NULL: no memory. Threads may call this and the next. */
const char *symtab_names_keep(struct symtab_names *names, const char *name, size_t length);
/* Decompressed when first asked for; "": no memory. `*ret_kind` as of kallsyms_name(). */
const char *symtab_names_of_kernel(struct symtab_names *names, const struct kallsyms *kernel,
				   uint32_t number, char *ret_kind);

/* The index of names and addresses (symtab_index.c). */
void symtab_index_free(struct symtab_index *index);
/* The kernel's part is about to change. */
void symtab_index_forget_kernel(struct symtab_index *index);
/*
 * The added symbols among which one for `address` is, in order: those of the module in whose memory
 * it lies, else those of no module. Empty without memory.
 */
/* The module in whose memory `address` lies, NULL: none. */
struct symbol_source *symtab_module_at(const struct symtab *symtab, uint64_t address);
const struct address_order *symtab_order_at(const struct symtab *symtab, uint64_t address);
/* The first number >= `from` with that name; false: none. */
bool symtab_next_named(const struct symtab *symtab, const char *module, const char *name,
		       uint32_t from, uint32_t *ret);
/* The same among the kernel's own. */
bool symtab_next_in_kernel(const struct symtab *symtab, const char *name, uint32_t from,
			   uint32_t *ret);
/* Ranges that symbols of the kernel name. */
const struct symtab_index *symtab_facts(const struct symtab *symtab);

#endif
