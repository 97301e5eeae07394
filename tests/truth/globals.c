// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Lists the variables with an address of kernels and modules, as DWARF has them: globals FILE...
 * The columns are described in globals.md.
 *
 * Three passes a file: the entries of all units are collected; each is joined with the symbol at
 * its address, which has the name that kallsyms shows ("state.3"); what is left of the symbols
 * gets the type of a mere declaration ("jiffies", which the linker script defines).
 */
#include "tests/truth/dwarf_spell.h"
#include "tests/truth/elf_image.h"

#include "base/array.h"
#include <ctype.h>
#include <dwarf.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64

/* What objcopy --prefix-symbols= puts before the symbols of code that runs at another address. */
#define STARTUP_PREFIX "__pi_"

struct variable {
	uint64_t address, size;
	const char *name, *unit, *function; /* function: NULL at file scope */
	char *type, *members;
	struct image_symbol *symbol;
	size_t order; /* in DWARF */
	bool is_global, is_declared;
};

struct declaration {
	const char *name, *unit;
	Dwarf_Die die;
	size_t order;
};

struct listing {
	const char *object; /* "vmlinux", a module */
	struct image image;
	struct variable *variables;
	size_t count, capacity;
	struct declaration *declarations;
	size_t declaration_count, declaration_capacity;
	const char *unit; /* that is read */
};

/* --- the entries of DWARF --------------------------------------------------------------- */

/* The address when the location is one and nothing else. */
static bool static_address(Dwarf_Die *die, uint64_t *ret)
{
	Dwarf_Attribute attribute, target;
	Dwarf_Op *operations;
	size_t count;
	if (!dwarf_attr(die, DW_AT_location, &attribute) ||
	    dwarf_getlocation(&attribute, &operations, &count) || count != 1)
		return false;
	if (operations->atom == DW_OP_addr) {
		*ret = operations->number;
		return true;
	}
	return operations->atom == DW_OP_addrx &&
	       !dwarf_getlocation_attr(&attribute, operations, &target) &&
	       !dwarf_formaddr(&target, ret);
}

static void no_memory(void)
{
	fputs("globals: no memory\n", stderr);
	exit(1);
}

static struct variable *add_variable(struct listing *listing)
{
	if (!array_reserve(&listing->variables, &listing->capacity, listing->count + 1))
		no_memory();
	struct variable *variable = &listing->variables[listing->count++];
	*variable = (struct variable){ .order = listing->count };
	return variable;
}

static void describe(struct variable *variable, Dwarf_Die *die)
{
	variable->type = dwarf_spell_type_of(die);
	variable->members = dwarf_members_of(die);
	variable->size = dwarf_size_of(die);
	if (!variable->type)
		no_memory();
}

static void take_declaration(struct listing *listing, Dwarf_Die *die, const char *name)
{
	if (!array_reserve(&listing->declarations, &listing->declaration_capacity,
			   listing->declaration_count + 1))
		no_memory();
	size_t order = listing->declaration_count++;
	listing->declarations[order] = (struct declaration){ name, listing->unit, *die, order };
}

static void take_variable(struct listing *listing, Dwarf_Die *die, const char *function)
{
	const char *name = dwarf_diename(die);
	uint64_t address;
	if (!name)
		return;
	if (!static_address(die, &address)) {
		if (!function && dwarf_hasattr(die, DW_AT_declaration))
			take_declaration(listing, die, name);
		return;
	}
	struct variable *variable = add_variable(listing);
	variable->address = address;
	variable->name = name;
	variable->unit = listing->unit;
	variable->function = function;
	variable->is_global = dwarf_hasattr_integrate(die, DW_AT_external);
	describe(variable, die);
}

static void walk(struct listing *listing, Dwarf_Die *parent, const char *function, int depth)
{
	Dwarf_Die child;
	if (depth > DEPTH_MAX || dwarf_child(parent, &child))
		return;
	do {
		switch (dwarf_tag(&child)) {
		case DW_TAG_variable:
			take_variable(listing, &child, function);
			break;
		case DW_TAG_subprogram: {
			const char *name = dwarf_diename(&child);
			walk(listing, &child, name ? name : "", depth + 1);
			break;
		}
		case DW_TAG_lexical_block:
		case DW_TAG_inlined_subroutine:
			walk(listing, &child, function, depth + 1);
			break;
		}
	} while (!dwarf_siblingof(&child, &child));
}

/* Rust's names and types are not C's. */
static bool is_honest_c(Dwarf_Die *unit)
{
	/* It declares what Rust exports, all as int. */
	const char *name = dwarf_diename(unit);
	if (name && !strcmp(name, "rust/exports.c"))
		return false;
	switch (dwarf_srclang(unit)) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
		return true;
	}
	return false;
}

static void walk_units(struct listing *listing)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	uint8_t kind;
	while (!dwarf_get_units(listing->image.dwarf, unit, &unit, NULL, &kind, &die, NULL)) {
		if (kind != DW_UT_compile || !is_honest_c(&die))
			continue;
		const char *name = dwarf_diename(&die);
		listing->unit = name ? name : "";
		walk(listing, &die, NULL, 0);
	}
}

static bool starts_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* --- joining them with symbols ------------------------------------------------------------ */

/* "name.123" */
static bool is_numbered(const char *symbol, const char *name)
{
	size_t length = strlen(name);
	if (strncmp(symbol, name, length) || symbol[length] != '.' || !symbol[length + 1])
		return false;
	return symbol[length + 1 + strspn(symbol + length + 1, "0123456789")] == 0;
}

/* How well a symbol names a variable that is at its address; 0: not at all. */
static int likeness(const struct image_symbol *symbol, const struct variable *variable)
{
	if (!strcmp(symbol->name, variable->name))
		return variable->is_global == (symbol->bind != STB_LOCAL) ? 3 : 2;
	return is_numbered(symbol->name, variable->name) ||
	       (starts_with(symbol->name, STARTUP_PREFIX) &&
		!strcmp(symbol->name + strlen(STARTUP_PREFIX), variable->name));
}

static void join(struct listing *listing, struct variable *variable)
{
	struct image *image = &listing->image;
	int best = 0;
	for (size_t i = image_symbol_at(image, variable->address);
	     i < image->symbol_count && image->symbols[i].address == variable->address; i++) {
		int likely = likeness(&image->symbols[i], variable);
		if (likely <= best)
			continue;
		best = likely;
		variable->symbol = &image->symbols[i];
	}
	if (variable->symbol)
		variable->symbol->is_taken = true;
}

static int compare_variables(const void *left, const void *right)
{
	const struct variable *a = left, *b = right;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	int names = strcmp(a->name, b->name);
	if (names)
		return names;
	/* A complete type first. */
	if (!a->size != !b->size)
		return !a->size - !b->size;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void free_variable(struct variable *variable)
{
	free(variable->type);
	free(variable->members);
}

/* Static variables of inline functions and the like have an entry for each copy. */
static void drop_copies(struct listing *listing)
{
	size_t kept = 0;
	for (size_t i = 0; i < listing->count; i++) {
		struct variable *variable = &listing->variables[i];
		struct variable *last = kept ? &listing->variables[kept - 1] : NULL;
		if (last && last->address == variable->address &&
		    !strcmp(last->name, variable->name))
			free_variable(variable);
		else
			listing->variables[kept++] = *variable;
	}
	listing->count = kept;
}

/* Of sections that the linker discarded (.discard.addressable: left at 0), or that were taken out.
 */
static bool is_in_image(const struct image *image, const struct variable *variable)
{
	return variable->symbol ||
	       (variable->address && image_section_of(image, variable->address));
}

static void drop_discarded(struct listing *listing)
{
	size_t kept = 0;
	for (size_t i = 0; i < listing->count; i++) {
		struct variable *variable = &listing->variables[i];
		if (is_in_image(&listing->image, variable))
			listing->variables[kept++] = *variable;
		else
			free_variable(variable);
	}
	listing->count = kept;
}

static void sort_variables(struct listing *listing)
{
	array_sort(listing->variables, listing->count, sizeof(*listing->variables),
		   compare_variables);
}

static int compare_declarations(const void *left, const void *right)
{
	const struct declaration *a = left, *b = right;
	int names = strcmp(a->name, b->name);
	return names ? names : a->order < b->order ? -1 : a->order > b->order;
}

/* One name's declarations; of those that say how big it is the first. */
static void add_declared(struct listing *listing, struct declaration *same, size_t count)
{
	struct image_symbol *symbol = image_global(&listing->image, same->name);
	if (!symbol || symbol->is_taken || symbol->type == STT_FUNC)
		return;
	size_t chosen = 0;
	while (chosen < count && !dwarf_size_of(&same[chosen].die))
		chosen++;
	if (chosen == count)
		chosen = 0;
	struct variable *variable = add_variable(listing);
	variable->address = symbol->address;
	variable->name = same->name;
	variable->unit = same[chosen].unit;
	variable->symbol = symbol;
	variable->is_global = true;
	variable->is_declared = true;
	symbol->is_taken = true;
	describe(variable, &same[chosen].die);
}

static void join_declarations(struct listing *listing)
{
	struct declaration *all = listing->declarations;
	size_t count = listing->declaration_count;
	if (count)
		array_sort(all, count, sizeof(*all), compare_declarations);
	for (size_t i = 0, next; i < count; i = next) {
		next = i + 1;
		while (next < count && !strcmp(all[next].name, all[i].name))
			next++;
		add_declared(listing, &all[i], next - i);
	}
}

/* --- output -------------------------------------------------------------------------------- */

/* Freed when the kernel has booted, or the module is loaded. */
static bool is_init(const struct image *image, const struct image_section *section,
		    uint64_t address)
{
	if (image->is_module)
		return starts_with(section->name, ".init");
	const struct image_symbol *begin = image_global(image, "__init_begin");
	const struct image_symbol *end = image_global(image, "__init_end");
	return begin && end && address >= begin->address && address < end->address;
}

/* .data of 7.3 can be executed as well, for the sake of a few bytes. */
static bool is_code(const struct image_section *section)
{
	return section->flags & SHF_EXECINSTR && !(section->flags & SHF_WRITE);
}

static void print_flags(const struct listing *listing, const struct variable *variable,
			const struct image_section *section)
{
	bool percpu = starts_with(section->name, ".data..percpu");
	const struct image_symbol *symbol = variable->symbol;
	const struct {
		bool is_set;
		const char *name;
	} flags[] = {
		{ percpu, ",percpu" },
		{ !percpu && is_init(&listing->image, section, variable->address), ",init" },
		{ is_code(section), ",text" },
		{ variable->is_declared, ",declared" },
		{ !variable->size, ",zero" },
		{ symbol && symbol->type != STT_OBJECT, ",untyped" },
		{ !symbol, ",nosymbol" },
	};
	fputs(variable->is_global ? "global" : variable->function ? "local" : "static", stdout);
	for (size_t i = 0; i < ARRAY_COUNT(flags); i++)
		if (flags[i].is_set)
			fputs(flags[i].name, stdout);
}

/* Other symbols at the address that could be the variable's: state.3 and state.4, made one. */
static void print_aliases(struct image *image, const struct variable *variable)
{
	const char *separator = "";
	for (size_t i = image_symbol_at(image, variable->address);
	     i < image->symbol_count && image->symbols[i].address == variable->address; i++) {
		const struct image_symbol *symbol = &image->symbols[i];
		if (symbol->is_taken || !likeness(symbol, variable))
			continue;
		printf("%s%s", separator, symbol->name);
		separator = ",";
	}
}

static uint64_t shown_address(const struct image *image, uint64_t address)
{
	return image->is_module ? (uint32_t)address : address;
}

static void print_variable(struct listing *listing, const struct variable *variable)
{
	static const struct image_section none = { .name = "" };
	struct image *image = &listing->image;
	const struct image_symbol *symbol = variable->symbol;
	const struct image_section *section = symbol ? &image->sections[symbol->section]
						     : image_section_of(image, variable->address);
	if (!section)
		section = &none;
	printf("%s\t%#" PRIx64 "\t%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%s\t", listing->object,
	       shown_address(image, variable->address), section->name, variable->size,
	       symbol ? symbol->size : 0, image_room(image, variable->address),
	       symbol ? symbol->name : variable->name);
	print_flags(listing, variable, section);
	printf("\t%s\t", variable->type);
	print_aliases(image, variable);
	printf("\t%s\t%s\t%s\n", variable->unit, variable->function ? variable->function : "",
	       variable->members ? variable->members : "");
}

/* "vmlinux" or the module as lsmod says it. */
static void object_name(const char *path, char *buffer, size_t size)
{
	const char *slash = strrchr(path, '/');
	snprintf(buffer, size, "%s", slash ? slash + 1 : path);
	if (starts_with(buffer, "vmlinux"))
		buffer[strlen("vmlinux")] = 0;
	char *end = strstr(buffer, ".ko");
	if (end)
		*end = 0;
	for (char *at = buffer; *at; at++)
		if (*at == '-')
			*at = '_';
}

static bool list_file(const char *path)
{
	char object[256];
	object_name(path, object, sizeof(object));
	struct listing listing = { .object = object };
	bool done = image_open(&listing.image, path);
	if (done) {
		walk_units(&listing);
		sort_variables(&listing);
		drop_copies(&listing);
		for (size_t i = 0; i < listing.count; i++)
			join(&listing, &listing.variables[i]);
		drop_discarded(&listing);
		join_declarations(&listing);
		sort_variables(&listing);
		for (size_t i = 0; i < listing.count; i++)
			print_variable(&listing, &listing.variables[i]);
	}
	for (size_t i = 0; i < listing.count; i++)
		free_variable(&listing.variables[i]);
	free(listing.variables);
	free(listing.declarations);
	image_close(&listing.image);
	return done;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fputs("usage: globals VMLINUX|MODULE...\n", stderr);
		return 2;
	}
	elf_version(EV_CURRENT);
	puts("#object\taddress\tsection\tsize\tsymbol_"
	     "size\troom\tsymbol\tflags\ttype\taliases\tunit"
	     "\tfunction\tmembers");
	bool done = true;
	for (int i = 1; i < argc; i++)
		done &= list_file(argv[i]);
	return fflush(stdout) || ferror(stdout) || !done;
}
