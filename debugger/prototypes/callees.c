// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/prototypes/callees.h"

#include "debugger/prototypes/instance.h"

#include <stdlib.h>
#include <string.h>

/* Names of one address that are tried. */
#define ALIASES_MAX 8

bool level_of_module(struct target *target, const struct levels *levels, const char *module,
		     uint16_t *ret)
{
	*ret = 0;
	if (!module)
		return levels->count > 0;
	const struct module *found = target_module(target, module);
	if (!found)
		return false;
	size_t level = LEVEL_MODULES + (size_t)(found - target->modules);
	if (level >= levels->count || !levels->items[level])
		return false;
	*ret = (uint16_t)level;
	return true;
}

/* --- one name -------------------------------------------------------------------------------- */

static bool is_only_symbol(const struct callees *callees, const struct symbol *symbol)
{
	struct symtab *symbols = callees->target->symbols;
	struct symbol found;
	uint64_t cursor = 0;
	return symtab_find_own(symbols, symbol->module, symbol->name, &cursor, &found) &&
	       !symtab_find_own(symbols, symbol->module, symbol->name, &cursor, &found);
}

/* The only FUNC of the name in the level itself; 0: none, or several. */
static uint32_t only_function(const struct btf *btf, const char *name)
{
	uint64_t cursor = 0;
	uint32_t id = btf_find(btf, BTF_FUNC, name, &cursor);
	if (!id || id < btf_start_id(btf))
		return 0;
	uint32_t next = btf_find(btf, BTF_FUNC, name, &cursor);
	return next && next >= btf_start_id(btf) ? 0 : id;
}

/* The level that has a function, unless it is a clone, whose parameters are others. */
static bool level_of_function(const struct callees *callees, const struct symbol *symbol,
			      uint16_t *ret)
{
	return !strchr(symbol->name, '.') && symbol_is_text(symbol) &&
	       level_of_module(callees->target, callees->levels, symbol->module, ret);
}

static struct kind prototype_of(const struct callees *callees, uint16_t level, uint32_t id)
{
	struct btf_type function;
	if (!id || !btf_get(callees->levels->items[level], id, &function))
		return (struct kind){ 0, 0 };
	return kind_of(callees->levels, level, function.type);
}

static struct kind unique_prototype(const struct callees *callees, const struct symbol *symbol)
{
	uint16_t level;
	uint32_t id = 0;
	if (level_of_function(callees, symbol, &level))
		id = only_function(callees->levels->items[level], symbol->name);
	return id && is_only_symbol(callees, symbol) ? prototype_of(callees, level, id)
						     : (struct kind){ 0, 0 };
}

/* What the code of one of several functions of a name bears out. */
static struct kind proved_prototype(struct callees *callees, const struct symbol *symbol)
{
	struct function_instance instance = { .proof = INSTANCE_UNPROVED };
	uint16_t level;
	if (!level_of_function(callees, symbol, &level))
		return (struct kind){ 0, 0 };
	return prototype_of(callees, level,
			    instance_function(callees, callees->levels->items[level], symbol,
					      &instance));
}

/* --- one address ----------------------------------------------------------------------------- */

/* The other names of a kernel function; all that have a prototype must have the same. */
static struct kind prototype_of_aliases(const struct callees *callees, const struct symbol *symbol)
{
	struct symtab *symbols = callees->target->symbols;
	struct kind found = unique_prototype(callees, symbol);
	if (symbol->module)
		return found;
	for (int step = -1; step <= 1; step += 2) {
		for (uint32_t i = 1; i <= ALIASES_MAX; i++) {
			char name[SYMBOL_NAME_SIZE];
			struct symbol alias;
			uint32_t number = symbol->number + (uint32_t)step * i;
			if (number >= symtab_kernel_count(symbols))
				break;
			symtab_get_into(symbols, number, name, &alias);
			if (alias.address != symbol->address)
				break;
			struct kind other = unique_prototype(callees, &alias);
			if (found.id && other.id && !kind_is(found, other))
				return (struct kind){ 0, 0 };
			if (!found.id)
				found = other;
		}
	}
	return found;
}

/* The name goes into the caller's buffer: of the tens of thousands that are called none is kept. */
static bool function_at(const struct callees *callees, uint64_t address,
			char name[SYMBOL_NAME_SIZE], struct symbol *ret)
{
	uint64_t offset;
	return symtab_by_address_into(callees->target->symbols, address, name, ret, &offset) &&
	       !offset;
}

enum helper callees_helper(const struct callees *callees, uint64_t address, uint8_t *ret_register)
{
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	if (!address || !function_at(callees, address, name, &symbol))
		return HELPER_NONE;
	return callees->lowering->helper(symbol.name, ret_register);
}

static struct callee ask_unique(const struct callees *callees, const struct symbol *symbol)
{
	struct callee callee = { .kind = CALLEE_UNKNOWN };
	callee.helper = callees->lowering->helper(symbol->name, &callee.helper_register);
	if (callee.helper != HELPER_NONE) {
		callee.kind = CALLEE_HELPER;
		return callee;
	}
	callee.prototype = prototype_of_aliases(callees, symbol);
	if (callee.prototype.id)
		callee.kind = CALLEE_TYPED;
	return callee;
}

static struct callee ask_code(struct callees *callees, const struct symbol *symbol)
{
	struct callee callee = { .prototype = proved_prototype(callees, symbol) };
	callee.kind = callee.prototype.id ? CALLEE_TYPED : CALLEE_UNKNOWN;
	return callee;
}

static struct callee ask(struct callees *callees, uint64_t address)
{
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	struct callee callee = { .kind = CALLEE_UNKNOWN };
	if (!function_at(callees, address, name, &symbol))
		return callee;
	callee = ask_unique(callees, &symbol);
	return callee.kind == CALLEE_UNKNOWN ? ask_code(callees, &symbol) : callee;
}

void callees_find_unique(const struct callees *callees, uint64_t address, struct callee *ret)
{
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	*ret = (struct callee){ .kind = CALLEE_UNKNOWN };
	if (address && function_at(callees, address, name, &symbol))
		*ret = ask_unique(callees, &symbol);
}

static struct callee_entry *entry_of(const struct callees *callees, uint64_t address)
{
	return address_map_find(&callees->known, sizeof(struct callee_entry), address);
}

/* Without memory it is not kept. */
static void keep(struct callees *callees, uint64_t address, const struct callee *callee)
{
	struct callee_entry *entry = address_map_add(&callees->known, sizeof(*entry), address);
	if (entry)
		entry->callee = *callee;
}

void callees_known(const struct callees *callees, uint64_t address, struct callee *ret)
{
	const struct callee_entry *entry = entry_of(callees, address);
	*ret = entry ? entry->callee : (struct callee){ .kind = CALLEE_UNKNOWN };
}

void callees_find(struct callees *callees, uint64_t address, struct callee *ret)
{
	callees_known(callees, address, ret);
	if (!address || callees->complete || entry_of(callees, address))
		return;
	*ret = ask(callees, address);
	keep(callees, address, ret);
}

void callees_add_unique(struct callees *callees, uint64_t address, const struct callee *unique)
{
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	struct callee callee = *unique;
	if (entry_of(callees, address))
		return;
	if (unique->kind == CALLEE_UNKNOWN && function_at(callees, address, name, &symbol))
		callee = ask_code(callees, &symbol);
	keep(callees, address, &callee);
}

void callees_find_judged(struct callees *callees, uint64_t address, struct callee *ret)
{
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	uint64_t offset;
	callees_find(callees, address, ret);
	struct callee_entry *entry = entry_of(callees, address);
	if (ret->kind != CALLEE_TYPED || !entry)
		return;
	if (!entry->is_judged &&
	    symtab_by_address_into(callees->target->symbols, address, name, &symbol, &offset)) {
		struct type prototype = kind_type(callees->levels, ret->prototype);
		entry->is_judged = true;
		entry->is_refuted = is_refuted_by_code(callees, &symbol, prototype);
	}
	if (entry->is_refuted)
		*ret = (struct callee){ .kind = CALLEE_UNKNOWN };
}

void callees_deinit(struct callees *callees)
{
	address_map_deinit(&callees->known);
}
