/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The symbol table: what addresses are called, whoever said so. A source (the kernel's kallsyms,
 * a module's own table, BPF) is a function that fills the table; its content does not differ.
 */
#ifndef SYMBOLS_SYMTAB_H
#define SYMBOLS_SYMTAB_H

#include "base/error.h"
#include "base/memory.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* KSYM_NAME_LEN is 128 up to 6.0, then 512; a longer name is cut. */
#define SYMBOL_NAME_SIZE 512

struct symbol {
	uint64_t address;
	uint64_t size; /* bytes; of the kernel's own symbols: to the next higher address; 0 unknown
			*/
	bool size_exact;    /* from an ELF symbol, not from the neighbour */
	bool per_cpu;	    /* `address` is a per-CPU offset or pointer, not a place */
	char kind;	    /* nm's letter as the kernel has it */
	uint32_t number;    /* in the table: kernel symbols first, in kallsyms' order */
	const char *module; /* borrowed from the table; NULL: the kernel itself */
	/*
	 * How a symbol became known that the kernel's own table leaves out, in words ("an exported
	 * symbol"); NULL: the table has it.
	 */
	const char *evidence;
	/*
	 * Less than SYMBOL_NAME_SIZE bytes with the NUL, borrowed from the table for good; "": it
	 * is lost, or there is no memory to decompress it.
	 */
	const char *name;
};

/* By nm's letter: a function, weak ones too; see symtab_is_function(). */
static inline bool symbol_is_text(const struct symbol *symbol)
{
	return strchr("tTwW", symbol->kind) != NULL;
}

struct symtab;

struct error *symtab_create(struct symtab **ret) MUST_CHECK;
void symtab_destroy(struct symtab *symtab);

/* Where the kallsyms tables are; 0 means not given. VMCOREINFO names them since 6.0. */
struct kallsyms_tables {
	uint64_t num_syms, names, token_table, token_index;
	uint64_t offsets, addresses, relative_base;
	uint64_t stext; /* SYMBOL(_stext): decides the address encoding */
};

/*
 * Fills the table from the kernel's kallsyms. Encodings are chosen by data. When `tables` lacks
 * addresses they are searched for by shape from `stext` on (5.10).
 * Errors: naming the table and what is wrong; the table stays empty then.
 */
struct error *kallsyms_load(struct symtab *symtab, struct memory *memory,
			    const struct kallsyms_tables *tables) MUST_CHECK;
/* "base-relative", "absolute-percpu", "absolute", "place-relative". */
const char *symtab_encoding(const struct symtab *symtab);
/*
 * What of the kernel's symbols could not be read, and why; NULL: all is there. Symbols that are
 * lost keep their numbers, with the name "" and the kind '?'; no look-up finds them.
 */
const char *symtab_warning(const struct symtab *symtab);

/* A module's symbols, as its mod_kallsyms says (section 3.2 of KERNEL-FORMATS). */
struct module_symbols {
	const char *name;		  /* copied */
	uint64_t symtab, strtab, typetab; /* addresses; typetab 0: none */
	uint32_t count;
	uint64_t percpu, percpu_size; /* range of per-CPU symbols */
	/*
	 * Its table `syms` (num_syms struct kernel_symbol): what it exports to everybody, whose
	 * letters /proc/kallsyms shows in upper case. 0: not known.
	 */
	uint64_t exports, exports_size;
	/* Regions of the module's core memory: where its addresses are. */
	struct {
		uint64_t start, size;
	} regions[8];
	size_t region_count;
};
/* What cannot be read costs this module only. */
struct error *symtab_add_module(struct symtab *symtab, struct memory *memory,
				const struct module_symbols *module) MUST_CHECK;
/*
 * One more symbol (BPF programs, trampolines). Module "bpf" etc.; both strings are copied.
 */
struct error *symtab_add(struct symtab *symtab, const char *module, const char *name, char kind,
			 uint64_t address, uint64_t size) MUST_CHECK;

/*
 * Data that the kernel's own table leaves out: all, where it was built without CONFIG_KALLSYMS_ALL.
 * They count as the kernel's own from then on, so numbers change; what cannot be spelled in the
 * table's characters stays out.
 */
struct found_symbol {
	char *name;
	uint64_t address;
	uint64_t size; /* bytes, 0: unknown */
	char kind;
	bool per_cpu;
	const char *evidence; /* borrowed for good */
};
/* Sorts `items`. */
struct error *symtab_add_found(struct symtab *symtab, struct found_symbol *items,
			       size_t count) MUST_CHECK;

/*
 * Makes all that is otherwise made when first needed: then threads may ask, until symbols are
 * added. False: no memory.
 */
bool symtab_make_indexes(const struct symtab *symtab) MUST_CHECK;

/* All symbols: numbers 0 to count - 1; the kernel's own are the first `symtab_kernel_count`. */
uint32_t symtab_count(const struct symtab *symtab);
uint32_t symtab_kernel_count(const struct symtab *symtab);
void symtab_get(const struct symtab *symtab, uint32_t number, struct symbol *ret);
/* The same with the name in the caller's buffer: for walks over symbols whose names need not stay.
 */
void symtab_get_into(const struct symtab *symtab, uint32_t number, char name[SYMBOL_NAME_SIZE],
		     struct symbol *ret);
/* The same without what takes time: of the kernel's own, name and size are left out ("" and 0). */
void symtab_peek(const struct symtab *symtab, uint32_t number, struct symbol *ret);

/* A copy of a name that no table has, for a symbol that comes from elsewhere. Walks what is kept.
 */
const char *symtab_keep_name(const struct symtab *symtab, const char *name);

/*
 * By name, in the order of the table. `module` NULL: anywhere, kernel first. Call with *cursor = 0,
 * again with the same cursor for the next of equal names. False when there are no more.
 */
bool symtab_find(const struct symtab *symtab, const char *module, const char *name,
		 uint64_t *cursor, struct symbol *ret);
/* The same of one owner alone: `module` NULL is the kernel itself. */
bool symtab_find_own(const struct symtab *symtab, const char *module, const char *name,
		     uint64_t *cursor, struct symbol *ret);
/* The first of that name in the kernel itself, for look-ups by the program. */
bool symtab_address(const struct symtab *symtab, const char *name, uint64_t *ret);

/*
 * By address: the symbol whose range holds it; the best of aliases; never `__pfx_`/`__cfi_` while
 * another does; never a per-CPU symbol. `*ret_offset` = address - symbol. False when nothing is
 * near (beyond the end of the section's last symbol, outside kernel and modules).
 */
bool symtab_by_address(const struct symtab *symtab, uint64_t address, struct symbol *ret,
		       uint64_t *ret_offset);
/* The same with the name in the caller's buffer, as of symtab_get_into(). */
bool symtab_by_address_into(const struct symtab *symtab, uint64_t address,
			    char name[SYMBOL_NAME_SIZE], struct symbol *ret, uint64_t *ret_offset);
/* The same of per-CPU symbols alone, by what their addresses count in. */
bool symtab_by_per_cpu_address(const struct symtab *symtab, uint64_t address, struct symbol *ret,
			       uint64_t *ret_offset);
/*
 * Bytes from a symbol to the next higher one, which the kernel calls its size in "name+0x12/0x40":
 * of a module's symbols more than `size`; of the last one to the end of the module's region.
 */
uint64_t symtab_room(const struct symtab *symtab, const struct symbol *symbol);
/* "name+0x12/0x40 [module]" style text without the size: "name+0x12 [module]"; false: nothing near.
 */
bool symtab_describe(const struct symtab *symtab, uint64_t address, char *buffer, size_t size);
/* True when the address is in kernel or module text (ranges of _stext.._etext,
 * _sinittext.._einittext, modules). */
bool symtab_is_text(const struct symtab *symtab, uint64_t address);
/*
 * A function, by its letter and by its place: where .data is linked as writable and executable, as
 * in Debian's 7.x, variables have the letter of text.
 */
bool symtab_is_function(const struct symtab *symtab, const struct symbol *symbol);

#endif
