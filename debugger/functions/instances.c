// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/functions/instances.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/functions/instance_table.h"
#include "debugger/infer/known/inference.h"
#include "debugger/prototypes/instance_judge.h"
#include "debugger/target/object.h"
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* Judges by code alone, without tables of function pointers. */
static struct error *ask(struct target *target, const struct symbol *symbol,
			 struct function_instance *ret)
{
	struct inference *inference;
	*ret = (struct function_instance){ .symbol = *symbol };
	TRY(inference_get(target, &inference));
	const struct btf *btf = target_symbol_btf(target, symbol);
	if (btf && symbol->module)
		TRY(inference_add_module(inference, target_module(target, symbol->module)));
	ret->why = "there is no BTF of it";
	if (btf)
		(void)instance_function(&inference->callees, btf, symbol, ret);
	return NULL;
}

/* --- tables ---------------------------------------------------------------------------------- */

/* Whether a better proof than `most` is still wanted and possible. */
static bool is_open(const struct function_instance *instance, enum instance_proof most)
{
	return instance->proof < most && instance->candidates && !instance->is_clone;
}

/* Takes what a table of function pointers says, unless the code refutes that prototype. */
static void take_prototype(struct target *target, const struct table_question *answer,
			   struct function_instance *instance)
{
	struct functions functions;
	if (!answer->prototype.btf || answer->is_contradictory)
		return;
	instance_functions(target_symbol_btf(target, &instance->symbol), instance->symbol.name,
			   &functions);
	for (uint32_t i = 0; i < functions.count; i++) {
		if (!is_same_prototype(functions.prototypes[i], answer->prototype))
			continue;
		if (instance->refuted == functions.distinct)
			return;
		instance->function = (struct type){ functions.btf, functions.ids[i] };
		instance->proof = INSTANCE_TABLE;
		instance->why = "a table that points at it";
		return;
	}
	instance->function = (struct type){ NULL, 0 };
	instance->proof = INSTANCE_UNPROVED;
	instance->refuted = functions.distinct;
	instance->why = "a table that points at it takes other arguments";
}

static struct error *ask_tables(struct target *target, struct function_instance *instances,
				size_t count, enum instance_proof most)
{
	struct table_question *questions = calloc(count + 1, sizeof(*questions));
	size_t open = 0;
	if (!questions)
		return error_no_memory();
	for (size_t i = 0; i < count; i++)
		if (is_open(&instances[i], most))
			questions[open++].address = instances[i].symbol.address;
	struct error *error = table_prototypes(target, questions, open);
	for (size_t i = 0; !error && i < count; i++) {
		if (!is_open(&instances[i], most))
			continue;
		for (size_t at = 0; at < open; at++)
			if (questions[at].address == instances[i].symbol.address)
				take_prototype(target, &questions[at], &instances[i]);
	}
	free(questions);
	return error;
}

/* --- all of a name --------------------------------------------------------------------------- */

static bool is_pattern(const char *name)
{
	return strpbrk(name, "*?[");
}

/* "name" or "name.isra.0" */
static bool is_named(const char *symbol, const char *name)
{
	size_t length = strlen(name);
	if (is_pattern(name))
		return !fnmatch(name, symbol, 0);
	return !strncmp(symbol, name, length) && (!symbol[length] || symbol[length] == '.');
}

static bool has_several(struct target *target, const struct symbol *symbol)
{
	struct functions functions;
	const struct btf *btf = target_symbol_btf(target, symbol);
	if (!btf)
		return false;
	instance_functions(btf, symbol->name, &functions);
	return functions.distinct > 1 ||
	       (functions.distinct &&
		instance_addresses(target->symbols, symbol->module, symbol->name) > 1);
}

struct collected {
	struct function_instance *items;
	size_t count, capacity;
};

static struct error *collect(struct target *target, const char *name, struct collected *ret)
{
	char buffer[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	uint32_t count = symtab_count(target->symbols);
	for (uint32_t i = 0; i < count; i++) {
		if (!(i & 1023))
			TRY(interrupt_check());
		symtab_get_into(target->symbols, i, buffer, &symbol);
		if (!symtab_is_function(target->symbols, &symbol) ||
		    (name ? !is_named(symbol.name, name) : !has_several(target, &symbol)))
			continue;
		if (!array_reserve(&ret->items, &ret->capacity, ret->count + 1))
			return error_no_memory();
		symtab_get(target->symbols, i, &symbol);
		TRY(ask(target, &symbol, &ret->items[ret->count]));
		ret->count++;
	}
	return NULL;
}

struct error *function_instances(struct target *target, const char *name,
				 function_instance_visitor *visit, void *context)
{
	const struct module *modules;
	struct collected all = { .items = NULL };
	/* The tables are asked of a few functions; of many, where it matters most. */
	bool is_few = name && !is_pattern(name);
	enum instance_proof most = is_few ? INSTANCE_TAGGED : INSTANCE_ONLY;
	TRY(target_need_symbols(target));
	target_modules(target, &modules);
	struct error *error = collect(target, name, &all);
	if (!error)
		error = ask_tables(target, all.items, all.count, most);
	for (size_t i = 0; !error && i < all.count; i++)
		error = visit(context, &all.items[i]);
	free(all.items);
	return error;
}
