/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file that is being made; between the files of this room. */
#ifndef DEBUGGER_EXPORT_EXPORTING_H
#define DEBUGGER_EXPORT_EXPORTING_H

#include "debugger/export/elf.h"
#include "debugger/export/export.h"
#include "debugger/export/types.h"
#include <string.h>

/* A variable, with its type. */
struct exported_variable {
	uint32_t symbol;
	struct type type; /* { NULL, 0 }: nobody knows it */
	enum type_origin origin;
	bool is_wanted, is_written; /* in the file */
};

/* The lines of source that the kernel itself keeps. */
struct exported_lines {
	struct dwarf_line *items; /* by address, as it was linked */
	size_t count, capacity;
	char **names; /* of files */
	size_t name_count, name_capacity;
	struct hash_index index; /* of names */
};

struct exporting {
	struct target *target;
	const struct export_options *options;
	/* How far the kernel was moved from where it was linked, bytes: run-time minus link-time.
	 */
	uint64_t moved;
	/* Where code ends, and what is freed after the boot lies; text_end 0: not known. */
	uint64_t text_end, init_start, init_end;
	const struct module *only; /* the file is this module's; NULL: the kernel's */
	struct elf elf;
	struct dwarf dwarf;
	struct strbuf abbreviations;
	struct exported_types kernel;
	struct exported_types *modules; /* by number in target->modules; btf NULL: none */
	const struct module *module_list;
	size_t module_count;
	struct exported_lines lines;
	struct exported_variable *variables; /* the kernel's, then the modules', in their order */
	size_t variable_count, variable_capacity;
	/* Bytes of symbols by their number; 0: up to the next one. */
	uint64_t *sizes;
	uint32_t size_count;
	uint64_t *code_sizes; /* of the kernel's functions, by number; 0: a label within one */
	void *contents[8];    /* of sections, owned */
	size_t content_count;
	struct export_summary summary;
};

/* The address that a place of the kernel's image was linked to. */
static inline uint64_t link_address(const struct exporting *exporting, uint64_t address)
{
	return address - exporting->moved;
}

static inline bool export_is_of(const struct module *module, const struct symbol *symbol)
{
	return symbol->module && !strcmp(symbol->module, module->name);
}

/* --- export.c --- */
struct error *exporting_init(struct exporting *exporting, struct target *target,
			     const struct export_options *options) MUST_CHECK;
void exporting_deinit(struct exporting *exporting);
/* The sections of what was written. */
struct error *export_dwarf(struct exporting *exporting) MUST_CHECK;

/* --- image.c: the sections of the kernel, and its symbols --- */
struct error *export_sections(struct exporting *exporting) MUST_CHECK;
struct error *export_symbols(struct exporting *exporting) MUST_CHECK;
bool exported_is_code(const struct exporting *exporting, const struct symbol *symbol);

/* --- labels.c: code_sizes --- */
struct error *export_measure_code(struct exporting *exporting) MUST_CHECK;

/* --- variables.c --- */
/* kallsyms says so by a capital letter, but for per-CPU variables: of those BTF does. */
bool exported_is_global(const struct exporting *exporting, const struct symbol *symbol);
/* STB_...: weak ones, too, are of a letter. */
uint8_t exported_binding(const struct exporting *exporting, const struct symbol *symbol);
/* Asks inference for all types: seconds, unless they are in the cache. */
struct error *export_collect_variables(struct exporting *exporting) MUST_CHECK;
/* Into the open unit of `types`; `module` NULL: the kernel's. */
void export_variables(struct exporting *exporting, struct exported_types *types,
		      const char *module);

/* --- tiers.c: the list of all variables, into options->tiers --- */
struct error *export_tiers(const struct exporting *exporting) MUST_CHECK;

/* --- lines.c --- */
/* Of the kernel and of the modules whose types are written. */
struct error *export_collect_lines(struct exporting *exporting) MUST_CHECK;
/* The number of the first one at an address or behind it. */
size_t exported_lines_from(const struct exported_lines *lines, uint64_t address);
void exported_lines_deinit(struct exported_lines *lines);

/* --- functions.c: units of their own --- */
struct error *export_functions(struct exporting *exporting) MUST_CHECK;

#endif
