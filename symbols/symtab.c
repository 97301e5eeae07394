// SPDX-License-Identifier: GPL-3.0-or-later
/* Questions to the symbol table. */
#include "symbols/symtab.h"

#include "base/array.h"
#include "symbols/symtab_private.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Aliases of one address that are looked at; real groups have a handful. */
#define ALIASES_MAX 256

struct error *symtab_create(struct symtab **ret)
{
	struct symtab *symtab = calloc(1, sizeof(*symtab));
	if (!symtab)
		return error_no_memory();
	symtab->index = calloc(1, sizeof(*symtab->index));
	symtab->names = symtab_names_create();
	if (!symtab->index || !symtab->names) {
		symtab_destroy(symtab);
		return error_no_memory();
	}
	*ret = symtab;
	return NULL;
}

void symtab_destroy(struct symtab *symtab)
{
	if (!symtab)
		return;
	for (size_t i = 0; i < symtab->source_count; i++) {
		free(symtab->sources[i]->name);
		free(symtab->sources[i]->strings);
		free(symtab->sources[i]->order.numbers);
		free(symtab->sources[i]);
	}
	free(symtab->sources);
	free(symtab->added);
	kallsyms_deinit(&symtab->kernel);
	symtab_index_free(symtab->index);
	symtab_names_destroy(symtab->names);
	free(symtab);
}

struct error *kallsyms_load(struct symtab *symtab, struct memory *memory,
			    const struct kallsyms_tables *tables)
{
	kallsyms_deinit(&symtab->kernel);
	symtab_index_forget_kernel(symtab->index);
	TRY(kallsyms_read(&symtab->kernel, memory, tables));
	if (symtab_names_renumber(symtab->names, symtab->kernel.count))
		return NULL;
	kallsyms_deinit(&symtab->kernel);
	return error_no_memory();
}

const char *symtab_encoding(const struct symtab *symtab)
{
	if (!symtab->kernel.count)
		return "none";
	switch (symtab->kernel.encoding) {
	case KALLSYMS_BASE_RELATIVE:
		return "base-relative";
	case KALLSYMS_ABSOLUTE_PERCPU:
		return "absolute-percpu";
	case KALLSYMS_PLACE_RELATIVE:
		return "place-relative";
	case KALLSYMS_ABSOLUTE:
	case KALLSYMS_OFFSET_ONLY:
		break;
	}
	return "absolute";
}

const char *symtab_warning(const struct symtab *symtab)
{
	return symtab->kernel.damage ? symtab->kernel.damage->message : NULL;
}

uint32_t symtab_count(const struct symtab *symtab)
{
	return symtab->kernel.count + (uint32_t)symtab->added_count;
}

uint32_t symtab_kernel_count(const struct symtab *symtab)
{
	return symtab->kernel.count;
}

/* --- one symbol ---------------------------------------------------------------- */

/* The number of the first kernel symbol above `address`, searched from `from` on. */
static uint32_t kernel_above(const struct kallsyms *kernel, uint64_t address, uint32_t from)
{
	/* Mostly it is the next one. */
	for (int i = 0; i < 4; i++, from++)
		if (from >= kernel->count || kernel->addresses[from] > address)
			return from;
	return from + array_bound(kernel->count - from, i, kernel->addresses[from + i] <= address);
}

/*
 * Labels behind the last object of a section: what follows is a gap, not a part of them, so they
 * have no size.
 */
static bool is_section_end(const char *name)
{
	static const char *const ends[] = {
		"_etext",
		"_einittext",
		"_edata",
		"_end",
		"__bss_stop",
		"__init_end",
		"__end_rodata",
		"__end_rodata_aligned",
		"_einitdata",
		"_einitrodata",
		"__brk_limit",
		"__per_cpu_end",
		"__indirect_thunk_end",
		"__inittext_end",
		"__static_call_text_end",
	};
	/* This is asked of all symbols. */
	if (name[0] != '_' || !strchr("_e", name[1]))
		return false;
	if (name[1] == '_' && !strchr("beips", name[2]))
		return false;
	for (size_t i = 0; i < ARRAY_COUNT(ends); i++)
		if (!strcmp(name, ends[i]))
			return true;
	return !strncmp(name, "__stop_", 7);
}

/* From a kernel symbol to the next higher one; 0 where there is none of its own kind. */
static uint64_t kernel_size(const struct kallsyms *kernel, uint32_t number)
{
	uint64_t address = kernel->addresses[number];
	uint32_t next = kernel_above(kernel, address, number);
	if (next >= kernel->count ||
	    kallsyms_is_number(kernel, number) != kallsyms_is_number(kernel, next))
		return 0;
	uint64_t size = kernel->addresses[next] - address;
	return size == 1 && kallsyms_is_lost(kernel, next) ? 0 : size;
}

static bool kernel_is_per_cpu(const struct symtab *symtab, uint32_t number, char kind)
{
	uint64_t address = symtab->kernel.addresses[number];
	const struct kallsyms_found_entry *found =
		symtab->kernel.found_count ? kallsyms_found(&symtab->kernel, number) : NULL;
	if (found)
		return found->per_cpu;
	/* Cheap, and true of nearly all: do not look the range up for these. */
	if (symtab->kernel.encoding == KALLSYMS_ABSOLUTE_PERCPU &&
	    (address > INT32_MAX || (kind | 0x20) != 'a'))
		return false;
	const struct address_range *range = &symtab_facts(symtab)->per_cpu;
	return address >= range->start && address < range->end;
}

static bool kernel_is_section_end(const struct symtab *symtab, const struct symbol *symbol)
{
	if (!is_section_end(symbol->name))
		return false;
	/* __stop_tty() and __stop_cpus() are functions; what ends at _etext is not below it. */
	char letter = symbol->kind | 0x20;
	if (letter != 't' && letter != 'w')
		return true;
	const struct address_range *text = symtab_facts(symtab)->text;
	return symbol->address < text[0].start || symbol->address >= text[0].end;
}

/* `name`: where the name goes; NULL: it is kept. */
static void get_kernel(const struct symtab *symtab, uint32_t number, char *name, struct symbol *ret)
{
	const struct kallsyms *kernel = &symtab->kernel;
	ret->address = kernel->addresses[number];
	ret->number = number;
	ret->module = NULL;
	ret->size_exact = false;
	if (name)
		kallsyms_name(kernel, number, name, SYMBOL_NAME_SIZE, &ret->kind);
	ret->name = name ? name : symtab_names_of_kernel(symtab->names, kernel, number, &ret->kind);
	ret->per_cpu = kernel_is_per_cpu(symtab, number, ret->kind);
	ret->size = kernel_is_section_end(symtab, ret) ? 0 : kernel_size(kernel, number);
	const struct kallsyms_found_entry *found = kallsyms_found(kernel, number);
	ret->evidence = found ? found->evidence : NULL;
	if (found && found->size) {
		ret->size = found->size;
		ret->size_exact = true;
	}
}

static void get_added(const struct symtab *symtab, uint32_t number, struct symbol *ret)
{
	const struct added_symbol *symbol = &symtab->added[number];
	ret->address = symbol->address;
	ret->size = symbol->size;
	ret->size_exact = true;
	ret->per_cpu = symbol->per_cpu;
	ret->kind = symbol->kind;
	ret->number = symtab->kernel.count + number;
	ret->module = symtab->sources[symbol->source]->name;
	ret->evidence = NULL;
	ret->name = symbol->name;
}

static void get(const struct symtab *symtab, uint32_t number, char *name, struct symbol *ret)
{
	if (number < symtab->kernel.count)
		get_kernel(symtab, number, name, ret);
	else if (number - symtab->kernel.count < symtab->added_count)
		get_added(symtab, number - symtab->kernel.count, ret);
	else
		*ret = (struct symbol){ .number = number, .kind = '?', .name = "" };
}

void symtab_get(const struct symtab *symtab, uint32_t number, struct symbol *ret)
{
	get(symtab, number, NULL, ret);
}

void symtab_get_into(const struct symtab *symtab, uint32_t number, char name[SYMBOL_NAME_SIZE],
		     struct symbol *ret)
{
	get(symtab, number, name, ret);
}

void symtab_peek(const struct symtab *symtab, uint32_t number, struct symbol *ret)
{
	const struct kallsyms *kernel = &symtab->kernel;
	if (number >= kernel->count) {
		symtab_get(symtab, number, ret);
		return;
	}
	ret->address = kernel->addresses[number];
	ret->size = 0;
	ret->size_exact = false;
	ret->kind = kallsyms_kind(kernel, number);
	ret->per_cpu = kernel_is_per_cpu(symtab, number, ret->kind);
	ret->number = number;
	ret->module = NULL;
	ret->evidence = NULL;
	ret->name = "";
}

/* --- by name ------------------------------------------------------------------- */

bool symtab_find(const struct symtab *symtab, const char *module, const char *name,
		 uint64_t *cursor, struct symbol *ret)
{
	/* The cursor is the next number to look at. */
	uint32_t number;
	if (*cursor >= symtab_count(symtab) ||
	    !symtab_next_named(symtab, module, name, (uint32_t)*cursor, &number))
		return false;
	symtab_get(symtab, number, ret);
	*cursor = (uint64_t)number + 1;
	return true;
}

bool symtab_find_own(const struct symtab *symtab, const char *module, const char *name,
		     uint64_t *cursor, struct symbol *ret)
{
	uint32_t number;
	if (module)
		return symtab_find(symtab, module, name, cursor, ret);
	if (*cursor >= symtab->kernel.count ||
	    !symtab_next_in_kernel(symtab, name, (uint32_t)*cursor, &number))
		return false;
	symtab_get(symtab, number, ret);
	*cursor = (uint64_t)number + 1;
	return true;
}

bool symtab_address(const struct symtab *symtab, const char *name, uint64_t *ret)
{
	uint32_t number;
	if (!symtab_next_in_kernel(symtab, name, 0, &number))
		return false;
	*ret = symtab->kernel.addresses[number];
	return true;
}

/* --- by address ---------------------------------------------------------------- */

static bool has_prefix(const char *name, const char *prefix)
{
	return !strncmp(name, prefix, strlen(prefix));
}

static bool has_suffix(const char *name, const char *suffix)
{
	size_t length = strlen(name), suffix_length = strlen(suffix);
	return length >= suffix_length && !strcmp(name + length - suffix_length, suffix);
}

/* Which of several names of one address says most; the lowest rank wins, then the kernel's order.
 */
static int alias_rank(const char *name)
{
	if (has_prefix(name, "__pfx_") || has_prefix(name, "__cfi_"))
		return 3;
	if (is_section_end(name))
		return 2;
	/* A second name of functions that also run where they are not linked to. */
	if (has_prefix(name, "__start_") || has_prefix(name, "__end_") ||
	    has_prefix(name, "__pi_") || has_suffix(name, "_start") || has_suffix(name, "_end"))
		return 1;
	return 0;
}

/* The best of the kernel's symbols whose range holds an address, of per-CPU ones or of the others.
 */
static bool kernel_around(const struct symtab *symtab, uint64_t address, bool per_cpu,
			  char *ret_name, struct symbol *ret)
{
	const struct kallsyms *kernel = &symtab->kernel;
	if (!kernel->count || address < kernel->addresses[0])
		return false;
	uint32_t next = kernel_above(kernel, address, 0);
	if (!next || (!per_cpu && kallsyms_is_number(kernel, next - 1)))
		return false;
	uint64_t place = kernel->addresses[next - 1];
	uint32_t best = 0;
	int best_rank = -1;
	for (uint32_t i = next; i-- > 0 && next - i <= ALIASES_MAX;) {
		if (kernel->addresses[i] != place)
			break;
		if (kallsyms_is_lost(kernel, i))
			continue;
		char name[SYMBOL_NAME_SIZE], kind;
		kallsyms_name(kernel, i, name, sizeof(name), &kind);
		int rank = alias_rank(name);
		if (best_rank < 0 || rank <= best_rank) {
			best_rank = rank;
			best = i;
		}
	}
	if (best_rank < 0)
		return false;
	get_kernel(symtab, best, ret_name, ret);
	/* Of what was found, the next symbol that is known may be far behind the end. */
	return ret->per_cpu == per_cpu &&
	       (address == ret->address ||
		(address - ret->address < ret->size && (!ret->evidence || ret->size_exact)));
}

static bool kernel_by_address(const struct symtab *symtab, uint64_t address, char *ret_name,
			      struct symbol *ret)
{
	if (symtab->kernel.encoding == KALLSYMS_ABSOLUTE_PERCPU && address <= INT32_MAX)
		return false;
	return kernel_around(symtab, address, false, ret_name, ret);
}

/* Does an added symbol at or below `address` reach it? */
static bool reaches(const struct symtab *symtab, const struct added_symbol *symbol,
		    uint64_t address)
{
	const struct symbol_source *source = symtab->sources[symbol->source];
	if (!source->is_module)
		return address == symbol->address || address - symbol->address < symbol->size;
	for (size_t i = 0; i < source->region_count; i++) {
		uint64_t start = source->regions[i].start, size = source->regions[i].size;
		if (symbol->address - start < size)
			return address - start < size;
	}
	return false;
}

static bool added_by_address(const struct symtab *symtab, uint64_t address, struct symbol *ret)
{
	const struct address_order *order = symtab_order_at(symtab, address);
	size_t above =
		array_bound(order->count, i, symtab->added[order->numbers[i]].address <= address);
	if (!above || !reaches(symtab, &symtab->added[order->numbers[above - 1]], address))
		return false;
	uint64_t place = symtab->added[order->numbers[above - 1]].address;
	int best_rank = -1;
	/* An object of no bytes (struct lock_class_key) has nothing to say of what lies there. */
	const int empty_rank = 4;
	for (size_t i = above; i-- > 0 && above - i <= ALIASES_MAX;) {
		uint32_t number = order->numbers[i];
		const struct added_symbol *symbol = &symtab->added[number];
		if (symbol->address != place)
			break;
		int rank = symbol->size ? alias_rank(symbol->name) : empty_rank;
		if (best_rank < 0 || rank <= best_rank) {
			best_rank = rank;
			get_added(symtab, number, ret);
		}
	}
	return true;
}

uint64_t symtab_room(const struct symtab *symtab, const struct symbol *symbol)
{
	if (!symbol->module)
		return symbol->size;
	const struct address_order *order = symtab_order_at(symtab, symbol->address);
	size_t above = array_bound(order->count, i,
				   symtab->added[order->numbers[i]].address <= symbol->address);
	if (!above)
		return symbol->size;
	const struct added_symbol *own = &symtab->added[order->numbers[above - 1]];
	const struct symbol_source *source = symtab->sources[own->source];
	uint64_t next = above < order->count ? symtab->added[order->numbers[above]].address : 0;
	for (size_t i = 0; i < source->region_count; i++) {
		uint64_t start = source->regions[i].start, size = source->regions[i].size;
		if (symbol->address - start < size)
			return (next - start < size ? next : start + size) - symbol->address;
	}
	return symbol->size;
}

static bool by_address(const struct symtab *symtab, uint64_t address, char *ret_name,
		       struct symbol *ret, uint64_t *ret_offset)
{
	if (!kernel_by_address(symtab, address, ret_name, ret) &&
	    !added_by_address(symtab, address, ret))
		return false;
	*ret_offset = address - ret->address;
	return true;
}

bool symtab_by_address(const struct symtab *symtab, uint64_t address, struct symbol *ret,
		       uint64_t *ret_offset)
{
	return by_address(symtab, address, NULL, ret, ret_offset);
}

bool symtab_by_address_into(const struct symtab *symtab, uint64_t address,
			    char name[SYMBOL_NAME_SIZE], struct symbol *ret, uint64_t *ret_offset)
{
	return by_address(symtab, address, name, ret, ret_offset);
}

bool symtab_by_per_cpu_address(const struct symtab *symtab, uint64_t address, struct symbol *ret,
			       uint64_t *ret_offset)
{
	bool found = kernel_around(symtab, address, true, NULL, ret);
	/* Of modules there are few, whose sizes are exact. */
	for (uint32_t i = 0; !found && i < symtab->added_count; i++) {
		const struct added_symbol *symbol = &symtab->added[i];
		found = symbol->per_cpu && address - symbol->address < symbol->size;
		if (found)
			get_added(symtab, i, ret);
	}
	if (found)
		*ret_offset = address - ret->address;
	return found;
}

bool symtab_describe(const struct symtab *symtab, uint64_t address, char *buffer, size_t size)
{
	struct symbol symbol;
	uint64_t offset;
	if (!symtab_by_address(symtab, address, &symbol, &offset))
		return false;
	char place[24] = "";
	if (offset)
		snprintf(place, sizeof(place), "+0x%" PRIx64, offset);
	snprintf(buffer, size, "%s%s%s%s%s", symbol.name, place, symbol.module ? " [" : "",
		 symbol.module ? symbol.module : "", symbol.module ? "]" : "");
	return true;
}

bool symtab_is_text(const struct symtab *symtab, uint64_t address)
{
	const struct symtab_index *facts = symtab_facts(symtab);
	for (size_t i = 0; i < ARRAY_COUNT(facts->text); i++)
		if (address >= facts->text[i].start && address < facts->text[i].end)
			return true;
	struct symbol symbol;
	if (added_by_address(symtab, address, &symbol))
		return symbol_is_text(&symbol);
	/* A module whose symbols are lost: any place in it may be text. */
	const struct symbol_source *module = symtab_module_at(symtab, address);
	return module && !module->symbol_count;
}

bool symtab_is_function(const struct symtab *symtab, const struct symbol *symbol)
{
	const struct address_range *data = &symtab_facts(symtab)->data;
	bool is_data = symbol->address >= data->start && symbol->address < data->end;
	return symbol_is_text(symbol) && !symbol->per_cpu && !is_data;
}
