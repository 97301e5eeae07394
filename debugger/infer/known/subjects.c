// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/known/subjects.h"

#include "base/array.h"
#include "debugger/infer/known/per_cpu.h"
#include "debugger/infer/known/ubsan.h"
#include <stdlib.h>
#include <string.h>

struct section {
	uint64_t start, end;
};

/* Looked up once for all symbols, for a look-up by name takes time. */
struct sections {
	struct section text, data, init;
	uint64_t end;
	bool has_records;
	struct per_cpu_copies per_cpu;
};

static void find_section(struct target *target, const char *start, const char *end,
			 struct section *ret)
{
	if (!symtab_address(target->symbols, start, &ret->start) ||
	    !symtab_address(target->symbols, end, &ret->end))
		*ret = (struct section){ 0, 0 };
}

static void find_sections(struct target *target, struct sections *ret)
{
	find_section(target, "_text", "_etext", &ret->text);
	find_section(target, "_sdata", "_edata", &ret->data);
	find_section(target, "__init_begin", "__init_end", &ret->init);
	ret->has_records = ubsan_exists(target);
	if (!target_image_end(target, &ret->end))
		ret->end = 0;
}

static bool is_in(const struct section *section, uint64_t address)
{
	return address >= section->start && address < section->end;
}

/* By place, not by letter: 7.x has data symbols with the letter of text. */
static bool is_kernel_data(const struct sections *sections, const struct symbol *symbol)
{
	return symbol->address >= sections->text.end && symbol->address < sections->end &&
	       !is_in(&sections->init, symbol->address);
}

static bool is_module_data(const struct symbol *symbol)
{
	return symbol->kind && strchr("bBdDrRgGsSvV", symbol->kind);
}

/* The sanitizer marks what it has reported, so its records are among what is written. */
static bool may_have_records(const struct sections *sections, const struct symbol *symbol)
{
	return sections->has_records && !symbol->per_cpu && !symbol->size_exact &&
	       (symbol->module ? symbol->kind == 'd' || symbol->kind == 'D'
			       : is_in(&sections->data, symbol->address));
}

/* Whether a symbol may be a subject, as far as symtab_peek() tells. */
static bool may_be(const struct sections *sections, const struct symbol *symbol)
{
	if (symbol->per_cpu)
		return sections->per_cpu.base != 0;
	return symbol->module ? is_module_data(symbol) : is_kernel_data(sections, symbol);
}

/* __per_cpu_start */
static bool is_bound(const struct symbol *symbol)
{
	return symbol->per_cpu && !strncmp(symbol->name, "__per_cpu_", strlen("__per_cpu_"));
}

static bool fill(struct target *target, const struct sections *sections,
		 const struct symbol *symbol, struct subject *ret)
{
	if (!may_be(sections, symbol) || !symbol->size || is_bound(symbol))
		return false;
	uint64_t base = symbol->per_cpu ? sections->per_cpu.base : 0;
	*ret = (struct subject){ .address = symbol->address + base,
				 .per_cpu_base = base,
				 .room = symbol->size,
				 .room_is_exact = symbol->size_exact,
				 .symbol = symbol->number };
	if (symbol->module)
		ret->module = target_module(target, symbol->module);
	if (may_have_records(sections, symbol))
		ret->room = ubsan_start(target, ret->address, ret->room);
	return true;
}

bool subject_of_symbol(struct target *target, const struct symbol *symbol, struct subject *ret)
{
	struct sections sections = { .end = 0 };
	if (symbol->per_cpu)
		(void)per_cpu_untyped(target, &sections.per_cpu);
	else
		find_sections(target, &sections);
	return fill(target, &sections, symbol, ret);
}

/* The symbol whose range, or whose copy's range, holds an address. */
static bool find_symbol(struct target *target, uint64_t address, char name[SYMBOL_NAME_SIZE],
			struct symbol *ret, uint64_t *ret_offset)
{
	struct per_cpu_copies per_cpu;
	return target_symbol_at_into(target, address, name, ret, ret_offset) ||
	       (per_cpu_untyped(target, &per_cpu) &&
		address - per_cpu.first < per_cpu.last - per_cpu.first &&
		symtab_by_per_cpu_address(target->symbols, address - per_cpu.base, ret,
					  ret_offset));
}

bool subject_find(struct target *target, uint64_t address, struct subject *ret,
		  uint64_t *ret_offset)
{
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	return find_symbol(target, address, name, &symbol, ret_offset) &&
	       subject_of_symbol(target, &symbol, ret) && *ret_offset < ret->room;
}

/* --- all of them ----------------------------------------------------------------------------- */

static int compare_subjects(const void *a, const void *b)
{
	const struct subject *left = a, *right = b;
	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return left->symbol < right->symbol ? -1 : left->symbol > right->symbol;
}

/* Names of one address become one subject. */
static void unite_aliases(struct subjects *subjects, struct target *target)
{
	size_t kept = 0;
	for (size_t i = 0, next; i < subjects->count; i = next) {
		struct subject *subject = &subjects->items[kept++];
		*subject = subjects->items[i];
		for (next = i + 1;
		     next < subjects->count && subjects->items[next].address == subject->address;)
			next++;
		char name[SYMBOL_NAME_SIZE];
		struct symbol best;
		uint64_t offset;
		if (next - i > 1 &&
		    symtab_by_address_into(target->symbols, subject->address, name, &best,
					   &offset) &&
		    !offset)
			subject->symbol = best.number;
	}
	subjects->count = kept;
}

struct error *subjects_init(struct subjects *subjects, struct target *target)
{
	const struct module *modules;
	struct sections sections;
	*subjects = (struct subjects){ .items = NULL };
	target_modules(target, &modules);
	find_sections(target, &sections);
	(void)per_cpu_untyped(target, &sections.per_cpu);
	uint32_t count = symtab_count(target->symbols);
	for (uint32_t i = 0; i < count; i++) {
		char name[SYMBOL_NAME_SIZE];
		struct symbol symbol;
		symtab_peek(target->symbols, i, &symbol);
		if (!may_be(&sections, &symbol))
			continue;
		symtab_get_into(target->symbols, i, name, &symbol);
		if (!array_reserve(&subjects->items, &subjects->capacity, subjects->count + 1)) {
			subjects_deinit(subjects);
			return error_no_memory();
		}
		if (fill(target, &sections, &symbol, &subjects->items[subjects->count]))
			subjects->count++;
	}
	array_sort(subjects->items, subjects->count, sizeof(*subjects->items), compare_subjects);
	unite_aliases(subjects, target);
	return NULL;
}

void subjects_deinit(struct subjects *subjects)
{
	free(subjects->items);
	*subjects = (struct subjects){ .items = NULL };
}

const struct subject *subject_at(const struct subjects *subjects, uint64_t address,
				 uint64_t *ret_offset)
{
	size_t above = array_bound(subjects->count, i, subjects->items[i].address <= address);
	if (!above ||
	    address - subjects->items[above - 1].address >= subjects->items[above - 1].room)
		return NULL;
	*ret_offset = address - subjects->items[above - 1].address;
	return &subjects->items[above - 1];
}
