// SPDX-License-Identifier: GPL-3.0-or-later
/* What a name in an expression means: a symbol, a per-CPU variable on a CPU, an enumerator. */
#include "debugger/declare/declare.h"
#include "debugger/declare/nearest.h"
#include "debugger/eval/convert.h"
#include "debugger/eval/tree.h"
#include "debugger/infer/symbol_type.h"
#include "debugger/target/object.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- symbols ------------------------------------------------------------------------------- */

static bool is_text(const struct symbol *symbol)
{
	return strchr("tTwW", symbol->kind) != NULL;
}

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

/*
 * The first variable of the kernel, else of a module, else a function: people print variables.
 * `*ret_count`: how many there are; 0: none.
 */
static void find_symbol(struct target *target, const struct node *node, struct symbol *ret,
			uint32_t *ret_count)
{
	bool anywhere = !*node->module || is_kernel_word(node->module);
	struct symbol symbol;
	uint64_t cursor = 0;
	*ret_count = 0;
	while (target_find_symbol(target, anywhere ? NULL : node->module, node->name, &cursor,
				  &symbol)) {
		if (!is_meant(node, &symbol))
			continue;
		if (!(*ret_count)++ || (is_text(ret) && !is_text(&symbol)))
			*ret = symbol;
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

static struct error *select_cpu(struct evaluation *evaluation, const struct node *node,
				const struct cpu **ret)
{
	if (node->cpu_choice == CPU_ALL) {
		*ret = evaluation->cpu;
	} else if (node->cpu_choice == CPU_ONE) {
		*ret = target_cpu(evaluation->target, node->cpu);
		if (!*ret)
			return error_create(ERROR_USAGE, "column %u: there is no CPU %u",
					    node->column, node->cpu);
	} else if (!evaluation->types_only) {
		return error_create(ERROR_USAGE, "column %u: per-CPU variable: say %s:0 or %s:a",
				    node->column, node->name, node->name);
	}
	return NULL;
}

static struct error *place_symbol(struct evaluation *evaluation, const struct node *node,
				  const struct symbol *symbol, struct value *ret)
{
	ret->address = symbol->address;
	if (symbol->per_cpu) {
		const struct cpu *cpu = NULL;
		TRY(select_cpu(evaluation, node, &cpu));
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
			       .raw_size = symbol->size };
	TRY(symbol_type(evaluation->target, symbol, &value.type, &value.origin));
	if (!value.type.btf && is_text(symbol) &&
	    find_function(evaluation->target, symbol, &value.type))
		value.origin = symbol->module ? ORIGIN_MODULE : ORIGIN_KERNEL;
	TRY(place_symbol(evaluation, node, symbol, &value));
	*ret = value;
	return NULL;
}

/* --- enumerators ----------------------------------------------------------------------------- */

static bool find_enumerator(const struct btf *btf, const char *name, struct type *ret_type,
			    int64_t *ret)
{
	struct btf_type record;
	struct btf_enumerator enumerator;
	for (uint32_t id = 1; id < btf_end_id(btf) && btf_get(btf, id, &record); id++) {
		if (record.kind != BTF_ENUM && record.kind != BTF_ENUM64)
			continue;
		for (uint32_t i = 0; btf_enumerator(&record, i, &enumerator); i++) {
			if (strcmp(enumerator.name, name))
				continue;
			*ret_type = (struct type){ btf, id };
			*ret = enumerator.value;
			return true;
		}
	}
	return false;
}

/* C: an enumerator is an int when it fits. */
static struct error *evaluate_enumerator(struct target *target, int64_t number, struct value *ret)
{
	bool fits = number >= INT32_MIN && number <= INT32_MAX;
	return value_set_integer(target, (struct arithmetic){ fits ? 4 : 8, fits || number < 0 },
				 number, ret);
}

/* --- errors -------------------------------------------------------------------------------- */

static bool is_all_hexadecimal(const char *name)
{
	return strspn(name, "0123456789abcdefABCDEF") == strlen(name);
}

static struct error *no_such_name(struct target *target, const struct node *node)
{
	struct nearest nearest;
	char hint[96];
	if (*node->module && !is_kernel_word(node->module)) {
		if (!target_module(target, node->module))
			return error_create(ERROR_NOT_FOUND,
					    "column %u: no module \"%s\" is loaded", node->column,
					    node->module);
		return error_create(ERROR_NOT_FOUND, "column %u: module %s has no symbol \"%s\"",
				    node->column, node->module, node->name);
	}
	if (node->has_address)
		return error_create(ERROR_NOT_FOUND, "column %u: no symbol \"%s\" at 0x%" PRIx64,
				    node->column, node->name, node->address);
	if (is_all_hexadecimal(node->name))
		return error_create(
			ERROR_NOT_FOUND,
			"column %u: no symbol or enumerator \"%s\"; hexadecimal needs 0x in front",
			node->column, node->name);
	TRY(target_need_symbols(target));
	nearest_init(&nearest, node->name, strlen(node->name));
	nearest_offer_symbols(&nearest, target);
	return error_create(ERROR_NOT_FOUND, "column %u: no symbol or enumerator \"%s\"%s",
			    node->column, node->name, nearest_hint(&nearest, hint, sizeof(hint)));
}

struct error *name_evaluate(struct evaluation *evaluation, const struct node *node,
			    struct value *ret)
{
	struct target *target = evaluation->target;
	struct symbol symbol;
	uint32_t count;
	find_symbol(target, node, &symbol, &count);
	if (count > 1)
		snprintf(evaluation->note, sizeof(evaluation->note),
			 "%u symbols of this name; this one is %s%s%.64s@%" PRIx64, count,
			 symbol.module ? symbol.module : "", symbol.module ? ":" : "", symbol.name,
			 symbol.address);
	if (count)
		return evaluate_symbol(evaluation, node, &symbol, ret);
	struct type type;
	int64_t number;
	if (target->btf && !*node->module && !node->has_address && !node->cpu_choice &&
	    find_enumerator(target->btf, node->name, &type, &number))
		return evaluate_enumerator(target, number, ret);
	return no_such_name(target, node);
}
