// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/array.h"
#include "debugger/export/dwarf_codes.h"
#include "debugger/export/quirks.h"
#include "debugger/infer/per_cpu.h"
#include "debugger/infer/symbol_type.h"
#include <stdlib.h>
#include <string.h>

static struct error *add_variable(void *context, const struct symbol *symbol, struct type type,
				  enum type_origin origin)
{
	struct exporting *exporting = context;
	enum confidence least = exporting->options->guesses ? CONFIDENCE_GUESS
							    : CONFIDENCE_INFERRED;
	uint64_t size;
	bool is_wanted = type.btf && origin_confidence(origin) >= least &&
			 !(symbol->module && exporting->options->no_modules);
	if (!is_wanted && !exporting->options->tiers)
		return NULL;
	if (is_wanted)
		TRY(quirk_array_type(exporting->target, symbol, type, &type));
	if (!array_reserve(&exporting->variables, &exporting->variable_capacity,
			   exporting->variable_count + 1))
		return error_no_memory();
	exporting->variables[exporting->variable_count++] =
		(struct exported_variable){ symbol->number, type, origin, is_wanted, false };
	if (is_wanted && symbol->number < symtab_kernel_count(exporting->target->symbols) &&
	    type_size(type, &size))
		exporting->sizes[symbol->number] = size;
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

struct error *export_collect_variables(struct exporting *exporting)
{
	struct infer_options options = { .progress = exporting->options->progress };
	exporting->sizes = calloc((size_t)symtab_count(exporting->target->symbols) + 1,
				  sizeof(*exporting->sizes));
	if (!exporting->sizes)
		return error_no_memory();
	TRY(per_cpu_visit(exporting->target, add_variable, exporting));
	TRY(infer_all(exporting->target, &options, add_inferred, exporting));
	array_sort(exporting->variables, exporting->variable_count, sizeof(*exporting->variables),
		   compare_symbols);
	return NULL;
}

static void write_variable(struct exporting *exporting, const struct symbol *symbol,
			   struct dwarf_type type)
{
	struct dwarf *dwarf = &exporting->dwarf;
	bool is_global = symbol->kind >= 'A' && symbol->kind <= 'Z';
	dwarf_entry(dwarf, is_global ? DWARF_VARIABLE : DWARF_STATIC_VARIABLE, type);
	dwarf_name(dwarf, symbol->name);
	if (symbol->module)
		quirk_module_location(dwarf, symbol->address);
	else if (symbol->per_cpu && !(symbol->address >> 63))
		dwarf_location(dwarf, DW_OP_addr, symbol->address);
	else
		dwarf_location(dwarf, DW_OP_addr, link_address(exporting, symbol->address));
	exporting->summary.variables++;
}

void export_variables(struct exporting *exporting, struct exported_types *types, const char *module)
{
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
		symtab_get(exporting->target->symbols, variable->symbol, &symbol);
		if (*symbol.name &&
		    exported_type(types, &exporting->dwarf, variable->type, &type)) {
			write_variable(exporting, &symbol, type);
			variable->is_written = true;
		}
	}
}
