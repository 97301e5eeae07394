// SPDX-License-Identifier: GPL-3.0-or-later
/* Symbols that modules and generated code bring. */
#include "base/array.h"
#include "base/bytes.h"
#include "symbols/symtab_private.h"
#include <ctype.h>
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * Far beyond any module, and all of them together: every module of a distribution's kernel is some
 * 400,000 symbols and 10 MiB of names. Bounds what bad numbers allocate.
 */
#define COUNT_MAX   (1u << 20)
#define ADDED_MAX   (1u << 21)
#define STRINGS_MAX (64u << 20)
/* Names that are too long come of damage: the beginnings of so many are kept. */
#define CUT_NAMES_MAX 2048

struct error *symtab_add_source(struct symtab *symtab, const char *name, struct symbol_source **ret)
{
	if (!array_reserve(&symtab->sources, &symtab->source_capacity, symtab->source_count + 1))
		return error_no_memory();
	struct symbol_source *source = calloc(1, sizeof(*source));
	if (source)
		source->name = strdup(name);
	if (!source || !source->name) {
		free(source);
		return error_no_memory();
	}
	symtab->sources[symtab->source_count++] = source;
	*ret = source;
	return NULL;
}

struct error *symtab_reserve(struct symtab *symtab, size_t count)
{
	if (count > ADDED_MAX - symtab->added_count)
		return error_create(ERROR_FORMAT, "more than %u symbols with those before it",
				    ADDED_MAX);
	if (!array_reserve(&symtab->added, &symtab->added_capacity, symtab->added_count + count))
		return error_no_memory();
	return NULL;
}

/* --- one more symbol ----------------------------------------------------------- */

static struct error *loose_source(struct symtab *symtab, const char *name, uint32_t *ret)
{
	/* The last one mostly is it. */
	for (size_t i = symtab->source_count; i-- > 0;)
		if (!symtab->sources[i]->is_module && !strcmp(symtab->sources[i]->name, name)) {
			*ret = (uint32_t)i;
			return NULL;
		}
	struct symbol_source *source;
	struct error *error = symtab_add_source(symtab, name, &source);
	if (!error)
		*ret = (uint32_t)symtab->source_count - 1;
	return error;
}

struct error *symtab_add(struct symtab *symtab, const char *module, const char *name, char kind,
			 uint64_t address, uint64_t size)
{
	uint32_t number;
	struct error *error = loose_source(symtab, module, &number);
	if (!error)
		error = symtab_reserve(symtab, 1);
	if (error)
		return error;
	struct symbol_source *source = symtab->sources[number];
	size_t length = strnlen(name, SYMBOL_NAME_SIZE - 1);
	if (length + 1 > STRINGS_MAX - symtab->strings_size)
		return error_create(ERROR_FORMAT, "too many symbols of %s", module);
	const char *kept = symtab_names_keep(symtab->names, name, length);
	if (!kept)
		return error_no_memory();
	symtab->added[symtab->added_count++] = (struct added_symbol){
		.address = address,
		.size = size,
		.name = kept,
		.source = number,
		.kind = kind,
	};
	symtab->strings_size += length + 1;
	source->symbol_count++;
	return NULL;
}

/* --- a module's table ---------------------------------------------------------- */

struct elf_symbol {
	uint64_t value, size;
	uint32_t name;
	uint16_t section;
};

/* The ELF tables of one module, as read. */
struct module_tables {
	uint8_t *symbols;
	size_t symbol_size;
	uint8_t *types; /* NULL: none */
	char *strings;	/* always ends in a NUL */
	size_t strings_size;
	size_t strings_max; /* bytes that there may be, with the NUL */
	bool big_endian;
};

static struct elf_symbol elf_symbol_at(const struct module_tables *tables, uint32_t number)
{
	const uint8_t *raw = tables->symbols + number * tables->symbol_size;
	bool big = tables->big_endian;
	if (tables->symbol_size == sizeof(Elf64_Sym))
		return (struct elf_symbol){
			.name = load_u32(raw + offsetof(Elf64_Sym, st_name), big),
			.section = load_u16(raw + offsetof(Elf64_Sym, st_shndx), big),
			.value = load_u64(raw + offsetof(Elf64_Sym, st_value), big),
			.size = load_u64(raw + offsetof(Elf64_Sym, st_size), big),
		};
	return (struct elf_symbol){
		.name = load_u32(raw + offsetof(Elf32_Sym, st_name), big),
		.section = load_u16(raw + offsetof(Elf32_Sym, st_shndx), big),
		.value = load_u32(raw + offsetof(Elf32_Sym, st_value), big),
		.size = load_u32(raw + offsetof(Elf32_Sym, st_size), big),
	};
}

/* How many bytes of strings there are is not said: as far as the last name that is used. */
static struct error *read_strings(struct module_tables *tables, struct memory *memory,
				  const struct module_symbols *module)
{
	uint64_t size = 0;
	for (uint32_t i = 0; i < module->count; i++) {
		uint32_t name = elf_symbol_at(tables, i).name;
		if (name >= size && name < tables->strings_max)
			size = (uint64_t)name + 1;
	}
	size += SYMBOL_NAME_SIZE;
	if (tables->strings_max <= SYMBOL_NAME_SIZE)
		return error_create(ERROR_FORMAT,
				    "more than %u bytes of names with those before it",
				    STRINGS_MAX);
	size = size < tables->strings_max ? size : tables->strings_max - 1;
	/* The letters follow the strings: do not read into them, they may end the memory. */
	if (module->typetab > module->strtab && module->typetab - module->strtab < size)
		size = module->typetab - module->strtab;
	tables->strings = malloc(size + 1);
	if (!tables->strings)
		return error_no_memory();
	struct error *why;
	size_t got = memory_read_some(memory, module->strtab, tables->strings, size, &why);
	if (why && !got)
		return error_prefix(why, "names");
	error_free(why);
	tables->strings[got] = 0;
	tables->strings_size = got + 1;
	return NULL;
}

static struct error *read_module_tables(struct module_tables *tables, struct memory *memory,
					const struct module_symbols *module)
{
	tables->symbol_size = memory->word_size == 8 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	tables->big_endian = memory->big_endian;
	uint64_t size = (uint64_t)module->count * tables->symbol_size;
	struct error *error =
		memory_read_alloc(memory, module->symtab, size, size, (void **)&tables->symbols);
	if (error)
		return error_prefix(error, "symbols");
	if (module->typetab) {
		error = memory_read_alloc(memory, module->typetab, module->count, module->count,
					  (void **)&tables->types);
		if (error)
			return error_prefix(error, "symbol types");
	}
	return read_strings(tables, memory, module);
}

#define KSYMTAB "__ksymtab_"

/*
 * What the module exports: the names behind __ksymtab_, of the table that the kernel looks at
 * (is_exported() knows nothing of the one for GPL modules). Kernels without KALLSYMS_ALL lack these
 * symbols.
 */
static struct error *index_exports(const struct module_tables *tables,
				   const struct module_symbols *module, struct hash_index *exports)
{
	for (uint32_t i = 0; i < module->count && module->exports_size; i++) {
		struct elf_symbol symbol = elf_symbol_at(tables, i);
		if (symbol.value - module->exports >= module->exports_size ||
		    symbol.name >= tables->strings_size)
			continue;
		const char *name = tables->strings + symbol.name;
		if (strncmp(name, KSYMTAB, strlen(KSYMTAB)))
			continue;
		name += strlen(KSYMTAB);
		if (!hash_index_add(exports, symbol_hash(name, strlen(name)),
				    (uint32_t)(name - tables->strings)))
			return error_no_memory();
	}
	return NULL;
}

static bool is_exported(const struct module_tables *tables, const struct hash_index *exports,
			const char *name)
{
	if (!exports->count)
		return false;
	uint32_t hash = symbol_hash(name, strlen(name));
	size_t position = hash_index_first(exports, hash);
	for (uint32_t at; (at = hash_index_next(exports, hash, &position)) != HASH_NONE;)
		if (!strcmp(tables->strings + at, name))
			return true;
	return false;
}

/* The name itself, where it is too long a copy of its beginning; "": no more of such. */
static const char *cut_name(struct symtab *symtab, const char *name)
{
	if (strnlen(name, SYMBOL_NAME_SIZE) < SYMBOL_NAME_SIZE)
		return name;
	if (symtab->cut_names == CUT_NAMES_MAX)
		return "";
	symtab->cut_names++;
	const char *kept = symtab_names_keep(symtab->names, name, SYMBOL_NAME_SIZE - 1);
	return kept ? kept : "";
}

/* As far as the memory goes that it begins in: what is behind an object lies above it. */
static uint64_t size_within(const struct symbol_source *source, const struct elf_symbol *symbol)
{
	uint64_t left = UINT64_MAX - symbol->value;
	for (size_t i = 0; i < source->region_count; i++)
		if (symbol->value - source->regions[i].start < source->regions[i].size) {
			uint64_t before = symbol->value - source->regions[i].start;
			uint64_t rest = source->regions[i].size - before;
			left = rest < left ? rest : left;
		}
	return symbol->size < left ? symbol->size : left;
}

static void add_symbols(struct symtab *symtab, const struct module_tables *tables,
			const struct module_symbols *module, const struct hash_index *exports)
{
	uint32_t source = (uint32_t)symtab->source_count - 1;
	symtab->sources[source]->first_symbol = (uint32_t)symtab->added_count;
	for (uint32_t i = 0; i < module->count; i++) {
		struct elf_symbol symbol = elf_symbol_at(tables, i);
		if (symbol.section == SHN_UNDEF || symbol.name >= tables->strings_size)
			continue;
		const char *name = tables->strings + symbol.name;
		if (!*name)
			continue;
		char kind = tables->types ? (char)tables->types[i] : '?';
		/* /proc/kallsyms shows what is exported in upper case (kernel/kallsyms.c, s_show).
		 */
		if (is_exported(tables, exports, name))
			kind = (char)toupper((unsigned char)kind);
		symtab->added[symtab->added_count++] = (struct added_symbol){
			.address = symbol.value,
			.size = size_within(symtab->sources[source], &symbol),
			.name = cut_name(symtab, name),
			.source = source,
			.kind = kind,
			.per_cpu = symbol.value - module->percpu < module->percpu_size,
		};
		symtab->sources[source]->symbol_count++;
	}
}

struct error *symtab_add_module(struct symtab *symtab, struct memory *memory,
				const struct module_symbols *module)
{
	struct symbol_source *source;
	struct error *error = symtab_add_source(symtab, module->name, &source);
	if (error)
		return error;
	source->is_module = true;
	source->region_count = module->region_count < ARRAY_COUNT(source->regions)
				       ? module->region_count
				       : ARRAY_COUNT(source->regions);
	for (size_t i = 0; i < source->region_count; i++) {
		source->regions[i].start = module->regions[i].start;
		source->regions[i].size = module->regions[i].size;
	}
	if (!module->count)
		return NULL;
	struct module_tables tables = { .strings_max = STRINGS_MAX - symtab->strings_size };
	struct hash_index exports = { 0 };
	error = module->count > COUNT_MAX
			? error_create(ERROR_FORMAT, "%" PRIu32 " is no sane number of symbols",
				       module->count)
			: symtab_reserve(symtab, module->count);
	if (!error)
		error = read_module_tables(&tables, memory, module);
	if (!error)
		error = index_exports(&tables, module, &exports);
	if (!error) {
		source->strings = tables.strings;
		symtab->strings_size += tables.strings_size;
		add_symbols(symtab, &tables, module, &exports);
	} else {
		free(tables.strings);
	}
	hash_index_deinit(&exports);
	free(tables.symbols);
	free(tables.types);
	return error_prefix(error, "symbols of module %s", module->name);
}
