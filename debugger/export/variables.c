// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/array.h"
#include "debugger/declare/declare.h"
#include "debugger/export/dwarf_codes.h"
#include "debugger/export/quirks.h"
#include "debugger/infer/known/per_cpu.h"
#include "debugger/infer/symbol_type.h"
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define FLEXIBLE_DEPTH_MAX 8	   /* structs at the end of structs */
#define UNTYPED_SIZE_MAX   0x18000 /* bytes; cpu_bit_bitmap has 65 KiB on a kernel for 8192 CPUs */

/* --- sizes --------------------------------------------------------------------------------- */

/* The array at the end, of which the type does not say how long it is. */
static bool flexible_end(struct type type, struct btf_member *ret)
{
	struct btf_type record;
	for (int depth = 0; depth < FLEXIBLE_DEPTH_MAX && type_get_resolved(type, &record);
	     depth++) {
		if (record.kind == BTF_ARRAY)
			return depth && !record.array_count;
		if (record.kind != BTF_STRUCT || !record.vlen ||
		    !btf_member(&record, record.vlen - 1, ret))
			return false;
		type = (struct type){ record.btf, ret->type };
	}
	return false;
}

/*
 * init_mm's cpu_bitmap has a bit for each CPU that the kernel was built for, as a cpumask has. Of
 * arrays of other names nothing says how long they are.
 */
static bool flexible_size(struct target *target, const struct btf_member *member, uint64_t *ret)
{
	struct type mask;
	if (strcmp(member->name, "cpu_bitmap") != 0)
		return false;
	struct error *error = target_find_type(target, NULL, "struct cpumask", &mask);
	bool found = !error && type_size(mask, ret);
	error_free(error);
	return found;
}

/* What the type says: up to the next symbol there may be other things. */
static void set_size(struct exporting *exporting, const struct symbol *symbol, struct type type)
{
	struct btf_member member;
	uint64_t size, behind = 0;
	if (symbol->number >= exporting->size_count || !type_size(type, &size))
		return;
	if (flexible_end(type, &member) && (!flexible_size(exporting->target, &member, &behind) ||
					    size > symbol->size || behind > symbol->size - size))
		return;
	size += behind;
	/* An empty one (struct lock_class_key) has its address and nothing behind it. */
	exporting->sizes[symbol->number] = size ? size : 1;
}

/*
 * Behind the last objects of .rodata lie all strings, which are no part of them: gdb would write
 * <symbol+offset> for each pointer to one. A symbol without a type of which the next one is that
 * far away claims its own address alone.
 */
static void bound_untyped(struct exporting *exporting)
{
	const struct symtab *symbols = exporting->target->symbols;
	uint32_t count = symtab_kernel_count(symbols);
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	uint64_t start, end;
	if (!symtab_address(symbols, "__start_rodata", &start) ||
	    !symtab_address(symbols, "__end_rodata", &end))
		return;
	for (uint32_t i = 0; i < count; i++) {
		symtab_get_into(symbols, i, name, &symbol);
		if (!exporting->sizes[i] && symbol.address >= start && symbol.address < end &&
		    symbol.size > UNTYPED_SIZE_MAX)
			exporting->sizes[i] = 1;
	}
}

/* --- types --------------------------------------------------------------------------------- */

static bool is_between(const struct symtab *symbols, const char *start_symbol,
		       const char *end_symbol, uint64_t address)
{
	uint64_t start, end;
	return symtab_address(symbols, start_symbol, &start) &&
	       symtab_address(symbols, end_symbol, &end) && address >= start && address < end;
}

/* In .rodata by its declaration: what is only read after the boot has a part of its own. */
static bool is_constant(const struct symtab *symbols, uint64_t address)
{
	return is_between(symbols, "__start_rodata", "__end_rodata", address) &&
	       !is_between(symbols, "__start_ro_after_init", "__end_ro_after_init", address);
}

/* What is declared const: inference has no qualifiers, for they change nothing that it asks. */
static struct error *type_constant(struct type type, struct type *ret)
{
	struct btf_type record;
	struct type element;
	*ret = type;
	if (!type_get(type, &record) || record.kind == BTF_CONST)
		return NULL;
	if (record.kind != BTF_ARRAY)
		return type_qualified(type, BTF_CONST, ret);
	if (!type_target(type, &element) || !type_get(element, &record) ||
	    record.kind == BTF_CONST || record.kind == BTF_ARRAY)
		return NULL;
	uint32_t count = type_get(type, &record) ? record.array_count : 0;
	TRY(type_qualified(element, BTF_CONST, &element));
	return type_array_of(element, count, ret);
}

static struct error *add_variable(void *context, const struct symbol *symbol, struct type type,
				  enum type_origin origin)
{
	struct exporting *exporting = context;
	enum confidence least = exporting->options->guesses ? CONFIDENCE_GUESS
							    : CONFIDENCE_INFERRED;
	if (exporting->only && !export_is_of(exporting->only, symbol))
		return NULL;
	quirk_asked_type(exporting->target, symbol, &type, &origin);
	bool is_wanted = type.btf && origin_confidence(origin) >= least &&
			 !(symbol->module && exporting->options->no_modules);
	if (!is_wanted && !exporting->options->tiers)
		return NULL;
	if (is_wanted && origin != ORIGIN_USER)
		TRY(quirk_array_type(exporting->target, symbol, type, &type));
	if (is_wanted && is_constant(exporting->target->symbols, symbol->address))
		TRY(type_constant(type, &type));
	if (!array_reserve(&exporting->variables, &exporting->variable_capacity,
			   exporting->variable_count + 1))
		return error_no_memory();
	exporting->variables[exporting->variable_count++] =
		(struct exported_variable){ symbol->number, type, origin, is_wanted, false };
	if (is_wanted)
		set_size(exporting, symbol, type);
	return NULL;
}

static struct error *add_inferred(void *context, const struct subject *subject,
				  const struct symbol *symbol, const struct typing *typing)
{
	struct exporting *exporting = context;
	struct verdict verdict;
	(void)subject;
	TRY(verdict_of_typing(exporting->target, symbol, typing, false, &verdict));
	return add_variable(exporting, symbol, verdict.type, verdict.origin);
}

static int compare_symbols(const void *a, const void *b)
{
	const struct exported_variable *left = a, *right = b;
	return left->symbol < right->symbol ? -1 : left->symbol > right->symbol;
}

static void sort_variables(struct exporting *exporting)
{
	array_sort(exporting->variables, exporting->variable_count, sizeof(*exporting->variables),
		   compare_symbols);
}

/*
 * Of several symbols at one address inference is asked about one; the others have a type if they
 * are declared (jiffies, which is jiffies_64).
 */
static struct error *add_aliases(struct exporting *exporting)
{
	struct target *target = exporting->target;
	size_t known = 0, known_count = exporting->variable_count;
	uint32_t count = symtab_kernel_count(target->symbols);
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	struct type type;
	enum type_origin origin;
	for (uint32_t i = 0; i < count; i++) {
		while (known < known_count && exporting->variables[known].symbol < i)
			known++;
		symtab_peek(target->symbols, i, &symbol);
		if ((known < known_count && exporting->variables[known].symbol == i) ||
		    symbol.per_cpu || symtab_is_text(target->symbols, symbol.address))
			continue;
		symtab_get_into(target->symbols, i, name, &symbol);
		TRY(declared_symbol_type(target, &symbol, &type, &origin));
		if (origin == ORIGIN_DECLARED || origin == ORIGIN_USER)
			TRY(add_variable(exporting, &symbol, type, origin));
	}
	return NULL;
}

struct error *export_collect_variables(struct exporting *exporting)
{
	struct infer_options options = { .progress = exporting->options->progress };
	const struct module *modules;
	/* Their symbols are not there before they are asked for. */
	(void)target_modules(exporting->target, &modules);
	exporting->size_count = symtab_count(exporting->target->symbols);
	exporting->sizes = calloc((size_t)exporting->size_count + 1, sizeof(*exporting->sizes));
	if (!exporting->sizes)
		return error_no_memory();
	TRY(per_cpu_visit(exporting->target, add_variable, exporting));
	TRY(infer_all(exporting->target, &options, add_inferred, exporting));
	sort_variables(exporting);
	TRY(add_aliases(exporting));
	sort_variables(exporting);
	bound_untyped(exporting);
	return NULL;
}

bool exported_is_global(const struct exporting *exporting, const struct symbol *symbol)
{
	struct btf_type record;
	uint64_t cursor = 0;
	uint32_t id = 0;
	if (symbol->per_cpu && !symbol->module)
		id = btf_find(exporting->target->btf, BTF_VAR, symbol->name, &cursor);
	if (id && btf_get(exporting->target->btf, id, &record))
		return record.extra != 0;
	return symbol->kind >= 'A' && symbol->kind <= 'Z';
}

uint8_t exported_binding(const struct exporting *exporting, const struct symbol *symbol)
{
	if (symbol->kind == 'W' || symbol->kind == 'V')
		return STB_WEAK;
	return exported_is_global(exporting, symbol) ? STB_GLOBAL : STB_LOCAL;
}

static void write_variable(struct exporting *exporting, const struct symbol *symbol,
			   struct dwarf_type type)
{
	struct dwarf *dwarf = &exporting->dwarf;
	dwarf_entry(dwarf,
		    exported_is_global(exporting, symbol) ? DWARF_VARIABLE : DWARF_STATIC_VARIABLE,
		    type);
	dwarf_name(dwarf, symbol->name);
	if (exporting->only)
		dwarf_location(dwarf, DW_OP_addr, symbol->address);
	else if (symbol->module)
		quirk_module_location(dwarf, symbol->address);
	else if (symbol->per_cpu && !(symbol->address >> 63))
		dwarf_location(dwarf, DW_OP_addr, symbol->address);
	else
		dwarf_location(dwarf, DW_OP_addr, link_address(exporting, symbol->address));
	exporting->summary.variables++;
}

void export_variables(struct exporting *exporting, struct exported_types *types, const char *module)
{
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	struct dwarf_type type;
	uint32_t last = HASH_NONE;
	for (size_t i = 0; i < exporting->variable_count; i++) {
		struct exported_variable *variable = &exporting->variables[i];
		if (!variable->is_wanted)
			continue;
		symtab_peek(exporting->target->symbols, variable->symbol, &symbol);
		bool is_ours = module ? symbol.module && !strcmp(symbol.module, module)
				      : !symbol.module;
		if (!is_ours || variable->symbol == last)
			continue;
		last = variable->symbol;
		symtab_get_into(exporting->target->symbols, variable->symbol, name, &symbol);
		if (*symbol.name &&
		    exported_type(types, &exporting->dwarf, variable->type, &type)) {
			write_variable(exporting, &symbol, type);
			variable->is_written = true;
		}
	}
}
