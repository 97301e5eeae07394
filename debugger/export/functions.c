// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Functions with their prototypes, where nothing disputes them: one symbol and one FUNC of the
 * kernel or the module have the name. Clones (.isra, .constprop, .part, .cold) have names of their
 * own, which no FUNC has: their parameters are not those that were written down.
 */
#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/code/text.h"
#include "debugger/export/quirks.h"
#include <stdlib.h>
#include <string.h>

#define UNIT_GAP_MAX	  4096 /* bytes between functions of one unit: there may be data */
#define FUNCTION_SIZE_MAX (1u << 20)

#define NO_SYMBOL UINT32_MAX

struct function {
	uint64_t start;
	uint32_t size;
	uint32_t symbol;    /* NO_SYMBOL: an instruction outside all others whose line is known */
	uint32_t prototype; /* 0: not known */
	const struct exported_types *types;
};

struct functions {
	struct exporting *exporting;
	struct function *items;
	size_t count, capacity;
};

static const struct exported_types *types_of(const struct exporting *exporting,
					     const struct symbol *symbol)
{
	if (!symbol->module)
		return exporting->only ? NULL : &exporting->kernel;
	for (size_t i = 0; i < exporting->module_count; i++)
		if (exporting->modules[i].btf &&
		    !strcmp(exporting->module_list[i].name, symbol->module))
			return &exporting->modules[i];
	return NULL;
}

static bool is_only_symbol(const struct target *target, const struct symbol *symbol)
{
	struct symbol other;
	uint64_t cursor = 0;
	unsigned int count = 0;
	while (count < 2 &&
	       symtab_find_own(target->symbols, symbol->module, symbol->name, &cursor, &other))
		count++;
	return count == 1;
}

/* The FUNC_PROTO of the only FUNC of that name; 0: there is none, or several. */
static uint32_t find_prototype(const struct exported_types *types, const char *name)
{
	uint64_t cursor = 0;
	struct btf_type function, prototype;
	uint32_t id = btf_find(types->btf, BTF_FUNC, name, &cursor);
	if (id < types->start || !btf_get(types->btf, id, &function) ||
	    !btf_get(types->btf, function.type, &prototype) || prototype.kind != BTF_FUNC_PROTO)
		return 0;
	uint32_t next = btf_find(types->btf, BTF_FUNC, name, &cursor);
	return next >= types->start ? 0 : function.type;
}

static uint32_t size_of(const struct exporting *exporting, const struct symbol *symbol)
{
	uint64_t size = symbol->module ? 0 : exporting->code_sizes[symbol->number];
	return (uint32_t)(size ? size : text_function_size(exporting->target, symbol));
}

static struct error *add_function(struct functions *functions, const struct symbol *symbol,
				  const struct exported_types *types)
{
	uint32_t prototype = find_prototype(types, symbol->name);
	bool is_asked = !symbol->module && !strcmp(symbol->name, quirk_asked_function);
	if ((!prototype && !is_asked) || !symbol->size || symbol->size > FUNCTION_SIZE_MAX ||
	    !is_only_symbol(functions->exporting->target, symbol))
		return NULL;
	if (!array_reserve(&functions->items, &functions->capacity, functions->count + 1))
		return error_no_memory();
	functions->items[functions->count++] =
		(struct function){ .start = link_address(functions->exporting, symbol->address),
				   .size = size_of(functions->exporting, symbol),
				   .symbol = symbol->number,
				   .prototype = prototype,
				   .types = types };
	return NULL;
}

static struct error *collect(struct functions *functions)
{
	struct exporting *exporting = functions->exporting;
	const struct symtab *symbols = exporting->target->symbols;
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	uint32_t count = exporting->options->no_modules ? symtab_kernel_count(symbols)
							: symtab_count(symbols);
	for (uint32_t i = 0; i < count; i++) {
		if (!(i & 1023))
			TRY(interrupt_check());
		symtab_peek(symbols, i, &symbol);
		if (symbol.kind != 't' && symbol.kind != 'T' && symbol.kind != 'W' &&
		    symbol.kind != 'w')
			continue;
		const struct exported_types *types = types_of(exporting, &symbol);
		if (!types)
			continue;
		symtab_get_into(symbols, i, name, &symbol);
		TRY(add_function(functions, &symbol, types));
	}
	return NULL;
}

static int compare_functions(const void *a, const void *b)
{
	const struct function *left = a, *right = b;
	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	return left->symbol < right->symbol ? -1 : left->symbol > right->symbol;
}

/* Those that share an address with the one before are left out, and lengths end at the next. */
static void make_disjoint(struct functions *functions)
{
	size_t kept = 0;
	for (size_t i = 0; i < functions->count; i++) {
		struct function *last = kept ? &functions->items[kept - 1] : NULL;
		if (last && last->start == functions->items[i].start)
			continue;
		if (last && functions->items[i].start - last->start < last->size)
			last->size = (uint32_t)(functions->items[i].start - last->start);
		functions->items[kept++] = functions->items[i];
	}
	functions->count = kept;
}

static struct error *add_instruction(struct functions *functions, const struct dwarf_line *line)
{
	struct exporting *exporting = functions->exporting;
	const struct exported_types *types = exporting->only ? NULL : &exporting->kernel;
	const struct module *module =
		target_module_at(exporting->target, line->address + exporting->moved);
	for (size_t i = 0; module && i < exporting->module_count; i++)
		if (module == &exporting->module_list[i])
			types = &exporting->modules[i];
	if (!types || !types->btf)
		return NULL;
	if (!array_reserve(&functions->items, &functions->capacity, functions->count + 1))
		return error_no_memory();
	functions->items[functions->count++] = (struct function){
		.start = line->address, .size = line->size, .symbol = NO_SYMBOL, .types = types
	};
	return NULL;
}

/*
 * Most traps of BUG() lie in what the compiler set apart (.cold), of which no FUNC tells: they get
 * a place in units of code, as if they were functions.
 */
static struct error *add_instructions(struct functions *functions)
{
	const struct exported_lines *lines = &functions->exporting->lines;
	size_t count = functions->count, next = 0;
	for (size_t i = 0; i < lines->count; i++) {
		const struct dwarf_line *line = &lines->items[i];
		while (next < count && functions->items[next].start <= line->address)
			next++;
		const struct function *before = next ? &functions->items[next - 1] : NULL;
		if (before && line->address - before->start < before->size)
			continue;
		if (next < count && functions->items[next].start - line->address < line->size)
			continue;
		TRY(add_instruction(functions, line));
	}
	array_sort(functions->items, functions->count, sizeof(*functions->items),
		   compare_functions);
	return NULL;
}

static bool is_scope(const struct symbol *symbol)
{
	return !strcmp(symbol->name, quirk_write_expire_scope);
}

/* Beside the function, in its unit: crash looks in its scope. */
static void write_scope(struct exporting *exporting)
{
	struct dwarf_type type;
	struct type integer;
	int64_t value;
	struct error *error = target_find_type(exporting->target, NULL, "int", &integer);
	if (!error && exported_type_elsewhere(&exporting->kernel, integer, &type) &&
	    quirk_write_expire(exporting->target, &value)) {
		dwarf_entry(&exporting->dwarf, DWARF_CONSTANT, type);
		dwarf_name(&exporting->dwarf, "write_expire");
		dwarf_signed(&exporting->dwarf, value);
	}
	error_free(error);
}

/* Of a function that a tool asks for: where it is, and nothing of what it takes. */
static void write_unprototyped(struct exporting *exporting, const char *name,
			       const struct function *function)
{
	struct dwarf *dwarf = &exporting->dwarf;
	dwarf_entry(dwarf, DWARF_UNPROTOTYPED, (struct dwarf_type){ DWARF_VOID, 0 });
	dwarf_name(dwarf, name);
	dwarf_address(dwarf, function->start);
	dwarf_u32(dwarf, function->size);
	exporting->summary.functions++;
}

static void write_function(struct exporting *exporting, const struct function *function)
{
	struct dwarf *dwarf = &exporting->dwarf;
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	struct btf_type prototype;
	struct dwarf_type result;
	if (function->symbol == NO_SYMBOL)
		return;
	symtab_get_into(exporting->target->symbols, function->symbol, name, &symbol);
	if (!function->prototype) {
		write_unprototyped(exporting, symbol.name, function);
		return;
	}
	struct type type = { function->types->btf, function->prototype };
	if (!type_get(type, &prototype) ||
	    !exported_type_elsewhere(function->types, (struct type){ type.btf, prototype.type },
				     &result))
		return;
	dwarf_entry(dwarf,
		    exported_is_global(exporting, &symbol) ? DWARF_FUNCTION : DWARF_STATIC_FUNCTION,
		    result);
	dwarf_name(dwarf, symbol.name);
	dwarf_address(dwarf, function->start);
	dwarf_u32(dwarf, function->size);
	exported_parameters(function->types, dwarf, &prototype);
	if (is_scope(&symbol))
		write_scope(exporting);
	exporting->summary.functions++;
}

/* The functions from `first` on that make one unit. */
static size_t count_unit(const struct functions *functions, size_t first)
{
	size_t count = 1;
	for (size_t i = first; i + 1 < functions->count && count < QUIRK_FUNCTIONS_PER_UNIT;
	     i++, count++) {
		const struct function *one = &functions->items[i], *next = one + 1;
		if (next->types != one->types ||
		    next->start - (one->start + one->size) > UNIT_GAP_MAX)
			break;
	}
	return count;
}

static void write_unit(struct exporting *exporting, const struct function *first, size_t count)
{
	const struct exported_lines *all = &exporting->lines;
	const struct function *last = first + count - 1;
	const char *name = btf_name(first->types->btf);
	uint64_t end = last->start + last->size;
	uint32_t size = (uint32_t)(end - first->start);
	size_t from = exported_lines_from(all, first->start);
	struct dwarf_lines lines = { .items = all->items + from,
				     .count = exported_lines_from(all, end) - from,
				     .names = (const char *const *)all->names,
				     .name_count = all->name_count,
				     .folder = quirk_folder };
	if (lines.count)
		dwarf_lines_unit_begin(&exporting->dwarf, name, first->start, size, &lines);
	else
		dwarf_code_unit_begin(&exporting->dwarf, name, first->start, size);
	for (size_t i = 0; i < count; i++)
		write_function(exporting, first + i);
	dwarf_unit_end(&exporting->dwarf);
}

struct error *export_functions(struct exporting *exporting)
{
	struct functions functions = { .exporting = exporting };
	struct error *error = collect(&functions);
	array_sort(functions.items, functions.count, sizeof(*functions.items), compare_functions);
	make_disjoint(&functions);
	if (!error)
		error = export_collect_lines(exporting);
	if (!error)
		error = add_instructions(&functions);
	for (size_t i = 0, count; !error && i < functions.count; i += count) {
		count = count_unit(&functions, i);
		write_unit(exporting, &functions.items[i], count);
	}
	free(functions.items);
	return error;
}
