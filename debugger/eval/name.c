// SPDX-License-Identifier: GPL-3.0-or-later
/* What a name in an expression means: a symbol, a per-CPU variable on a CPU, an enumerator. */
#include "debugger/declare/declare.h"
#include "debugger/declare/nearest.h"
#include "debugger/eval/convert.h"
#include "debugger/eval/tree.h"
#include "debugger/infer/symbol_type.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LISTED_MAX 8 /* symbols in a message */

/* --- symbols ------------------------------------------------------------------------------- */

static bool is_kernel_word(const char *module)
{
	return !strcmp(module, "vmlinux") || !strcmp(module, "kernel");
}

/* Whether the symbol is one that the node's module and address allow. */
static bool is_meant(const struct node *node, const struct symbol *symbol)
{
	if (is_kernel_word(node->module) && symbol->module)
		return false;
	return !node->has_address || node->address == symbol->address;
}

/* The symbols that a name may mean. */
struct candidates {
	struct symbol best;
	uint32_t best_rank;
	uint32_t count, best_count; /* all; those of the best rank */
};

/* People print variables; the kernel's come before a module's. Lower is likelier. */
static uint32_t symbol_rank(const struct target *target, const struct symbol *symbol)
{
	return 2 * symtab_is_function(target->symbols, symbol) + (symbol->module != NULL);
}

static void add_candidate(const struct target *target, struct candidates *candidates,
			  const struct symbol *symbol)
{
	uint32_t rank = symbol_rank(target, symbol);
	bool is_better = !candidates->count || rank < candidates->best_rank;
	candidates->count++;
	if (!is_better && rank > candidates->best_rank)
		return;
	/* The table has the same symbol twice. */
	if (!is_better && symbol->address == candidates->best.address)
		return;
	if (is_better) {
		candidates->best = *symbol;
		candidates->best_rank = rank;
		candidates->best_count = 0;
	}
	candidates->best_count++;
}

/* The next symbol that the node may mean; a cursor of 0 begins. */
static bool next_symbol(struct target *target, const struct node *node, uint64_t *cursor,
			struct symbol *ret)
{
	bool anywhere = !*node->module || is_kernel_word(node->module);
	while (target_find_symbol(target, anywhere ? NULL : node->module, node->name, cursor, ret))
		if (is_meant(node, ret))
			return true;
	return false;
}

static void find_symbols(struct target *target, const struct node *node,
			 struct candidates *candidates)
{
	struct symbol symbol;
	uint64_t cursor = 0;
	candidates->count = candidates->best_count = 0;
	while (next_symbol(target, node, &cursor, &symbol))
		add_candidate(target, candidates, &symbol);
}

/* "module:name@address", for messages; behind a comma where the list has begun. */
static void list_symbol(const struct symbol *symbol, char *list, size_t size)
{
	size_t used = strlen(list);
	snprintf(list + used, size - used, "%s%s%s%.96s@%" PRIx64, used ? ", " : "",
		 symbol->module ? symbol->module : "", symbol->module ? ":" : "", symbol->name,
		 symbol->address);
}

/* The first of those of the best rank. */
static void list_best(struct target *target, const struct node *node,
		      const struct candidates *candidates, char *list, size_t size)
{
	struct symbol symbol;
	uint64_t cursor = 0;
	uint32_t listed = 0;
	*list = 0;
	while (listed < LISTED_MAX && next_symbol(target, node, &cursor, &symbol)) {
		bool again = symbol.address == candidates->best.address &&
			     symbol.number != candidates->best.number;
		if (again || symbol_rank(target, &symbol) != candidates->best_rank)
			continue;
		list_symbol(&symbol, list, size);
		listed++;
	}
}

/* The prototype of a function, from the BTF of who has it. */
static bool find_function(struct target *target, const struct symbol *symbol, struct type *ret)
{
	const struct btf *btf = target->btf;
	struct btf_type record;
	uint64_t cursor = 0;
	if (symbol->module) {
		const struct module *module = target_module(target, symbol->module);
		btf = module ? target_module_btf(target, module) : NULL;
	}
	uint32_t id = btf ? btf_find(btf, BTF_FUNC, symbol->name, &cursor) : 0;
	if (!id || !btf_get(btf, id, &record))
		return false;
	*ret = (struct type){ btf, record.type };
	return true;
}

struct error *cpu_select(struct evaluation *evaluation, const struct node *node,
			 const struct cpu **ret)
{
	*ret = NULL;
	if (node->cpu_choice == CPU_ALL) {
		*ret = evaluation->cpu;
	} else if (node->cpu_choice == CPU_ONE) {
		return error_prefix(target_find_cpu(evaluation->target, node->cpu, ret),
				    "column %u", node->column);
	} else if (evaluation->per_cpu) {
		*ret = evaluation->per_cpu;
	}
	return NULL;
}

static struct error *place_symbol(struct evaluation *evaluation, const struct node *node,
				  const struct symbol *symbol, struct value *ret)
{
	const struct cpu *cpu;
	ret->address = symbol->address;
	if (symbol->per_cpu) {
		TRY(cpu_select(evaluation, node, &cpu));
		evaluation->used_per_cpu |= !node->cpu_choice;
		if (!cpu && !evaluation->types_only)
			return error_create(ERROR_USAGE,
					    "column %u: per-CPU variable: say %s:0 or %s:a",
					    node->column, node->name, node->name);
		ret->address += cpu ? cpu->per_cpu_offset : 0;
		return NULL;
	}
	if (node->cpu_choice)
		return error_create(ERROR_USAGE, "column %u: %s is not a per-CPU variable",
				    node->column, node->name);
	return NULL;
}

static struct error *evaluate_symbol(struct evaluation *evaluation, const struct node *node,
				     const struct symbol *symbol, struct value *ret)
{
	struct value value = { .target = evaluation->target,
			       .in_memory = true,
			       .raw_size = symbol->size,
			       .is_symbol = true,
			       .symbol = symbol->number };
	struct verdict verdict;
	TRY(symbol_verdict(evaluation->target, symbol, &verdict));
	value.type = verdict.type;
	value.origin = verdict.origin;
	value.at_most = verdict.at_most;
	if (!value.type.btf && symtab_is_function(evaluation->target->symbols, symbol) &&
	    find_function(evaluation->target, symbol, &value.type))
		value.origin = symbol->module ? ORIGIN_MODULE : ORIGIN_KERNEL;
	TRY(place_symbol(evaluation, node, symbol, &value));
	*ret = value;
	return NULL;
}

/* Several that are as likely: the user has to choose, an arbitrary one would be a guess. */
static struct error *ambiguous(struct target *target, const struct node *node,
			       const struct candidates *candidates)
{
	uint32_t more = candidates->best_count > LISTED_MAX ? candidates->best_count - LISTED_MAX
							    : 0;
	char list[1200], rest[48] = "";
	list_best(target, node, candidates, list, sizeof(list));
	if (more)
		snprintf(rest, sizeof(rest), " and %u more", more);
	return error_create(ERROR_USAGE, "column %u: %u %s are called \"%s\"; say which: %s%s",
			    node->column, candidates->best_count,
			    symtab_is_function(target->symbols, &candidates->best) ? "functions"
										   : "variables",
			    node->name, list, rest);
}

static struct error *evaluate_best(struct evaluation *evaluation, const struct node *node,
				   const struct candidates *candidates, struct value *ret)
{
	/* An address says enough, even where two things lie at it. */
	if (candidates->best_count > 1 && !node->has_address)
		return ambiguous(evaluation->target, node, candidates);
	if (candidates->count > 1 && !node->has_address) {
		char list[128] = "";
		list_symbol(&candidates->best, list, sizeof(list));
		snprintf(evaluation->note, sizeof(evaluation->note),
			 "%u symbols of this name; this one is %s", candidates->count, list);
	}
	return evaluate_symbol(evaluation, node, &candidates->best, ret);
}

/* --- enumerators ----------------------------------------------------------------------------- */

/* In one level of BTF alone: btf_find_enumerator() looks into the kernel again for each module. */
static bool find_own_enumerator(const struct btf *btf, const char *name, struct type *ret_type,
				struct btf_enumerator *ret)
{
	struct btf_type record;
	for (uint32_t id = btf_start_id(btf); id < btf_end_id(btf) && btf_get(btf, id, &record);
	     id++) {
		if (record.kind != BTF_ENUM && record.kind != BTF_ENUM64)
			continue;
		for (uint32_t i = 0; btf_enumerator(&record, i, ret); i++) {
			if (strcmp(ret->name, name) != 0)
				continue;
			*ret_type = (struct type){ btf, id };
			return true;
		}
	}
	return false;
}

/* The kernel's, then those that only a module has. */
static bool find_enumerator(struct target *target, const char *name, struct type *ret_type,
			    struct btf_enumerator *ret)
{
	const struct module *modules;
	*ret_type = (struct type){ target->btf, 0 };
	if (!target->btf)
		return false;
	if (btf_find_enumerator(target->btf, name, &ret_type->id, ret))
		return true;
	size_t count = target_modules(target, &modules);
	for (size_t i = 0; i < count; i++) {
		const struct btf *btf = target_module_btf(target, &modules[i]);
		if (btf && find_own_enumerator(btf, name, ret_type, ret))
			return true;
	}
	return false;
}

/* C: an enumerator is an int when it fits; gcc gives others the type of the enum. */
static struct error *evaluate_enumerator(struct target *target, struct type type, int64_t number,
					 struct value *ret)
{
	if (number >= INT32_MIN && number <= INT32_MAX)
		return value_set_integer(target, class_int, (uint64_t)number, ret);
	*ret = (struct value){
		.target = target, .type = type, .scalar = (uint64_t)number, .origin = ORIGIN_CAST
	};
	return NULL;
}

/* --- errors -------------------------------------------------------------------------------- */

static bool is_all_hexadecimal(const char *name)
{
	return strspn(name, "0123456789abcdefABCDEF") == strlen(name);
}

static struct error *no_such_module(struct target *target, const struct node *node)
{
	struct nearest nearest;
	const struct module *modules;
	char hint[96];
	nearest_init(&nearest, node->module, strlen(node->module));
	size_t count = target_modules(target, &modules);
	for (size_t i = 0; i < count; i++)
		nearest_offer(&nearest, modules[i].name);
	/* The module's name stands right before the symbol's. */
	return error_create(ERROR_NOT_FOUND, "column %u: no module \"%s\" is loaded%s",
			    node->column - (uint32_t)strlen(node->module) - 1, node->module,
			    nearest_hint(&nearest, hint, sizeof(hint)));
}

static struct error *no_such_symbol(struct target *target, const struct node *node)
{
	struct nearest nearest;
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	char hint[96];
	uint32_t count = symtab_count(target->symbols);
	nearest_init(&nearest, node->name, strlen(node->name));
	for (uint32_t i = symtab_kernel_count(target->symbols); i < count; i++) {
		symtab_get_into(target->symbols, i, name, &symbol);
		if (symbol.module && !strcmp(symbol.module, node->module))
			nearest_offer(&nearest, symbol.name);
	}
	return error_create(ERROR_NOT_FOUND, "column %u: module %s has no symbol \"%s\"%s",
			    node->column, node->module, node->name,
			    nearest_hint(&nearest, hint, sizeof(hint)));
}

static void offer_enumerators(struct nearest *nearest, const struct btf *btf)
{
	struct btf_type record;
	struct btf_enumerator enumerator;
	for (uint32_t id = 1; btf && id < btf_end_id(btf) && btf_get(btf, id, &record); id++) {
		if (record.kind != BTF_ENUM && record.kind != BTF_ENUM64)
			continue;
		for (uint32_t i = 0; btf_enumerator(&record, i, &enumerator); i++)
			nearest_offer(nearest, enumerator.name);
	}
}

/* "struct task_struct" where that is what has the name; NULL: nothing has. */
static const char *type_keyword(const struct target *target, const char *name)
{
	static const struct {
		enum btf_kind kind;
		const char *keyword;
	} kinds[] = { { BTF_STRUCT, "struct" },
		      { BTF_UNION, "union" },
		      { BTF_ENUM, "enum" },
		      { BTF_ENUM64, "enum" } };
	for (size_t i = 0; target->btf && i < sizeof(kinds) / sizeof(*kinds); i++) {
		uint64_t cursor = 0;
		if (btf_find(target->btf, kinds[i].kind, name, &cursor))
			return kinds[i].keyword;
	}
	return NULL;
}

static struct error *no_such_name(struct target *target, const struct node *node)
{
	struct nearest nearest;
	char hint[96];
	if (*node->module && !is_kernel_word(node->module))
		return target_module(target, node->module) ? no_such_symbol(target, node)
							   : no_such_module(target, node);
	if (node->has_address)
		return error_create(ERROR_NOT_FOUND, "column %u: no symbol \"%s\" at 0x%" PRIx64,
				    node->column, node->name, node->address);
	if (is_all_hexadecimal(node->name))
		return error_create(
			ERROR_NOT_FOUND,
			"column %u: no symbol or enumerator \"%s\"; hexadecimal needs 0x in front",
			node->column, node->name);
	TRY(target_need_symbols(target));
	const char *keyword = type_keyword(target, node->name);
	if (keyword)
		return error_create(ERROR_NOT_FOUND, "column %u: \"%s\" is a type: %s %s",
				    node->column, node->name, keyword, node->name);
	nearest_init(&nearest, node->name, strlen(node->name));
	nearest_offer_symbols(&nearest, target);
	offer_enumerators(&nearest, target->btf);
	if (!*nearest.best && target->btf)
		nearest_offer_types(&nearest, target->btf, BTF_TYPEDEF);
	return error_create(ERROR_NOT_FOUND, "column %u: no symbol or enumerator \"%s\"%s",
			    node->column, node->name, nearest_hint(&nearest, hint, sizeof(hint)));
}

/* A bare name: no module, address or CPU that would choose between symbols. */
static bool is_plain(const struct node *node)
{
	return !*node->module && !node->has_address && !node->cpu_choice;
}

static bool is_member_of_base(const struct evaluation *evaluation, const struct node *node)
{
	struct type_place place;
	return evaluation->base && evaluation->base->type.btf &&
	       type_find_member(evaluation->base->type, node->name, &place);
}

struct error *name_evaluate(struct evaluation *evaluation, const struct node *node,
			    struct value *ret)
{
	struct target *target = evaluation->target;
	struct candidates candidates;
	struct btf_enumerator enumerator;
	struct type type;
	if (is_current(node))
		return current_evaluate(evaluation, node, ret);
	if (is_plain(node) && is_member_of_base(evaluation, node))
		return at_column(node, value_member(evaluation->base, node->name, ret));
	if (is_plain(node) && evaluation->scope && evaluation->scope->find_argument) {
		const struct scope *scope = evaluation->scope;
		bool found = false;
		TRY(at_column(node, scope->find_argument(scope->register_context, node->name,
							 &found, ret)));
		if (found)
			return NULL;
	}
	find_symbols(target, node, &candidates);
	if (candidates.count)
		return evaluate_best(evaluation, node, &candidates, ret);
	if (is_plain(node) && find_enumerator(target, node->name, &type, &enumerator))
		return evaluate_enumerator(target, type, enumerator.value, ret);
	return no_such_name(target, node);
}
