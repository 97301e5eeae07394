// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/known/knowledge.h"

#include "base/array.h"
#include "base/workers.h"
#include "debugger/infer/hints/hint_types.h"
#include "debugger/infer/hints/hints.h"
#include "debugger/infer/known/inference.h"
#include "debugger/infer/known/names_family.h"
#include "debugger/target/object.h"
#include <stdlib.h>
#include <string.h>

/* 7.3 has 60,000 in its tables; a module may say that it has any number. */
#define FACTS_MAX (1u << 20)

/* So many may share the prototypes of their name, which then still say something. */
#define FUNCTIONS_A_PROTOTYPE 2

static void find_constants(struct knowledge *knowledge)
{
	const struct symtab *symbols = knowledge->target->symbols;
	if (!symtab_address(symbols, "__start_rodata", &knowledge->constants_start) ||
	    !symtab_address(symbols, "__end_rodata", &knowledge->constants_end))
		knowledge->constants_start = knowledge->constants_end = 0;
	if (!symtab_address(symbols, "__start_ro_after_init", &knowledge->boot_start) ||
	    !symtab_address(symbols, "__end_ro_after_init", &knowledge->boot_end))
		knowledge->boot_start = knowledge->boot_end = 0;
}

bool knowledge_is_constant(const struct knowledge *knowledge, uint64_t address)
{
	return address >= knowledge->constants_start && address < knowledge->constants_end &&
	       (address < knowledge->boot_start || address >= knowledge->boot_end);
}

struct error *knowledge_create(struct target *target, struct knowledge **ret)
{
	struct knowledge *knowledge = calloc(1, sizeof(*knowledge));
	if (!knowledge)
		return error_no_memory();
	knowledge->target = target;
	find_constants(knowledge);
	struct error *error = hint_types_create(target, &knowledge->hint_types);
	if (error) {
		free(knowledge);
		return error;
	}
	*ret = knowledge;
	return NULL;
}

void knowledge_destroy(struct knowledge *knowledge)
{
	if (!knowledge)
		return;
	for (size_t i = 0; i < knowledge->view_count; i++)
		layout_destroy(knowledge->views[i].layout);
	free(knowledge->views);
	address_map_deinit(&knowledge->functions);
	address_map_deinit(&knowledge->blocks);
	free(knowledge->facts);
	families_destroy(knowledge->families);
	name_uses_destroy(knowledge->name_uses);
	address_map_deinit(&knowledge->typed);
	slabs_destroy(knowledge->slabs);
	hint_types_destroy(knowledge->hint_types);
	hints_destroy(knowledge->hints);
	free(knowledge);
}

void knowledge_share(const struct knowledge *knowledge, struct knowledge *copy)
{
	struct knowledge own = *copy;
	*copy = *knowledge;
	copy->is_shared = true;
	copy->functions = own.functions;
	copy->blocks = own.blocks;
	copy->slabs = own.slabs;
	copy->no_slabs = own.no_slabs;
	if (knowledge->hints)
		copy->typed = own.typed;
}

void knowledge_unshare(struct knowledge *copy)
{
	address_map_deinit(&copy->functions);
	address_map_deinit(&copy->blocks);
	slabs_destroy(copy->slabs);
	if (copy->hints)
		address_map_deinit(&copy->typed);
	*copy = (struct knowledge){ 0 };
}

struct error *knowledge_slabs(struct knowledge *knowledge, struct slabs **ret)
{
	struct error *error = NULL;
	if (!knowledge->slabs && !knowledge->no_slabs) {
		error = slabs_create(knowledge->target, &knowledge->slabs);
		knowledge->no_slabs = error;
	}
	*ret = knowledge->slabs;
	return error_only_fatal(error);
}

struct error *knowledge_layout(struct knowledge *knowledge, const struct module *module,
			       const struct layout **ret)
{
	const struct btf *btf = module ? target_module_btf(knowledge->target, module) : NULL;
	btf = btf ? btf : knowledge->target->btf;
	if (!btf)
		return target_need_btf(knowledge->target);
	for (size_t i = 0; i < knowledge->view_count; i++) {
		if (knowledge->views[i].btf == btf) {
			*ret = knowledge->views[i].layout;
			return NULL;
		}
	}
	if (!array_reserve(&knowledge->views, &knowledge->view_capacity, knowledge->view_count + 1))
		return error_no_memory();
	struct view *view = &knowledge->views[knowledge->view_count];
	view->btf = btf;
	const struct layout *base = NULL;
	for (size_t i = 0; i < knowledge->view_count; i++)
		if (knowledge->views[i].btf == btf_base(btf))
			base = knowledge->views[i].layout;
	struct error *error = layout_create(btf, base, &view->layout);
	if (error)
		return error;
	knowledge->view_count++;
	*ret = view->layout;
	return NULL;
}

/* Of these one reads the kernel's memory and looks types up, the other goes through all types. */
enum { STEP_TABLES, STEP_NAME_USES, STEPS };

struct preparation {
	struct knowledge *knowledge;
	const struct layout *layout;
};

static struct error *prepare_step(void *context, unsigned int worker, size_t number)
{
	const struct preparation *preparation = context;
	struct knowledge *knowledge = preparation->knowledge;
	(void)worker;
	if (number == STEP_TABLES)
		return tables_read(knowledge);
	return knowledge->name_uses ? NULL
				    : name_uses_create(preparation->layout, &knowledge->name_uses);
}

struct error *knowledge_prepare(struct knowledge *knowledge)
{
	struct preparation preparation = { .knowledge = knowledge };
	struct work work = {
		.count = STEPS, .block = 1, .step = prepare_step, .context = &preparation
	};
	if (knowledge->is_prepared) {
		/* Threads that share them sort nothing. */
		knowledge_first_fact(knowledge, 0);
		return NULL;
	}
	TRY(knowledge_layout(knowledge, NULL, &preparation.layout));
	TRY(workers_run(&work, STEPS));
	habits_of_all(preparation.layout, &knowledge->habits);
	knowledge_first_fact(knowledge, 0);
	knowledge->is_prepared = true;
	return NULL;
}

/* --- functions ----------------------------------------------------------------------------- */

/* Functions of that name, up to `most`. */
static uint32_t count_functions(struct target *target, const struct symbol *symbol, uint32_t most)
{
	struct symbol other;
	uint64_t cursor = 0;
	uint32_t count = 0;
	while (count < most &&
	       symtab_find(target->symbols, symbol->module, symbol->name, &cursor, &other))
		count += symtab_is_function(target->symbols, &other);
	return count;
}

/* What the code of a function says whose name is not the only one. */
static struct type prototype_by_code(const struct knowledge *knowledge, uint64_t address)
{
	struct inference *inference = inference_kept(knowledge->target);
	struct callee callee = { .kind = CALLEE_UNKNOWN };
	if (inference && knowledge->is_shared)
		callees_known(&inference->callees, address, &callee);
	else if (inference)
		callees_find(&inference->callees, address, &callee);
	if (callee.kind != CALLEE_TYPED)
		return (struct type){ NULL, 0 };
	return (struct type){ inference->levels.items[callee.prototype.level],
			      callee.prototype.id };
}

static void add_likely(struct function_entry *entry, struct type prototype)
{
	for (uint32_t i = 0; i < entry->likely_count; i++)
		if (entry->likely[i].id == prototype.id)
			return;
	if (entry->likely_count < PROTOTYPES_A_NAME)
		entry->likely[entry->likely_count++] = prototype;
}

static void find_prototype(const struct knowledge *knowledge, const struct symbol *symbol,
			   struct function_entry *entry)
{
	struct target *target = knowledge->target;
	struct btf_type record;
	const struct btf *btf = target_symbol_btf(target, symbol);
	uint64_t cursor = 0;
	uint32_t id, count = 0;
	/* gcc's clones take other parameters than their name says. */
	if (!btf || strchr(symbol->name, '.'))
		return;
	while ((id = btf_find(btf, BTF_FUNC, symbol->name, &cursor))) {
		if ((count && id < btf_start_id(btf)) || !btf_get(btf, id, &record))
			break;
		add_likely(entry, (struct type){ btf, record.type });
		count++;
	}
	if (!count)
		return;
	uint32_t most = count * FUNCTIONS_A_PROTOTYPE + 1;
	uint32_t functions = count_functions(target, symbol, most);
	entry->prototype = count == 1 && functions == 1
				   ? entry->likely[0]
				   : prototype_by_code(knowledge, symbol->address);
	/* An encoder may have left out the one in question. */
	if (functions == most)
		entry->likely_count = 0;
}

enum likeness function_compare(const struct function_entry *function, const struct layout *layout,
			       uint32_t type, bool *ret_proved)
{
	uint32_t proved = layout_id(layout, function->prototype);
	*ret_proved = proved != 0;
	if (proved)
		return layout_compare(layout, proved, type) == LIKE_EXACTLY ? LIKE_EXACTLY
									    : LIKE_NOT;
	for (uint32_t i = 0; i < function->likely_count; i++) {
		uint32_t likely = layout_id(layout, function->likely[i]);
		if (likely && layout_compare(layout, likely, type) == LIKE_EXACTLY)
			return LIKE_WEAKLY;
	}
	return LIKE_NOT;
}

const struct function_entry *knowledge_function(struct knowledge *knowledge, uint64_t address)
{
	static const struct function_entry nothing;
	struct address_map *functions = &knowledge->functions;
	/* Of data there is far more: none of it is kept. */
	if (!symtab_is_text(knowledge->target->symbols, address))
		return &nothing;
	struct function_entry *entry = address_map_find(functions, sizeof(*entry), address);
	if (entry)
		return entry;
	entry = address_map_add(functions, sizeof(*entry), address);
	if (!entry)
		return &nothing;
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	uint64_t offset;
	if (target_symbol_at_into(knowledge->target, address, name, &symbol, &offset) && !offset &&
	    symbol_is_text(&symbol)) {
		entry->is_function = true;
		find_prototype(knowledge, &symbol, entry);
	}
	return entry;
}

/* --- facts -------------------------------------------------------------------------------- */

struct error *knowledge_add_fact(struct knowledge *knowledge, uint64_t address,
				 const struct clue *clue)
{
	if (knowledge->fact_count == FACTS_MAX)
		return NULL;
	if (!array_reserve(&knowledge->facts, &knowledge->fact_capacity, knowledge->fact_count + 1))
		return error_no_memory();
	knowledge->facts[knowledge->fact_count] =
		(struct fact){ address, *clue, (uint32_t)knowledge->fact_count };
	knowledge->fact_count++;
	knowledge->facts_sorted = false;
	return NULL;
}

static int compare_facts(const void *left, const void *right)
{
	const struct fact *a = left, *b = right;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

size_t knowledge_first_fact(struct knowledge *knowledge, uint64_t address)
{
	if (!knowledge->facts_sorted && knowledge->fact_count)
		array_sort(knowledge->facts, knowledge->fact_count, sizeof(*knowledge->facts),
			   compare_facts);
	knowledge->facts_sorted = true;
	return array_bound(knowledge->fact_count, i, knowledge->facts[i].address < address);
}

const struct fact *knowledge_news(struct knowledge *knowledge, uint64_t address, uint64_t size,
				  size_t known, size_t *cursor)
{
	size_t i = *cursor ? *cursor : knowledge_first_fact(knowledge, address);
	for (; i < knowledge->fact_count && knowledge->facts[i].address - address < size; i++) {
		if (knowledge->facts[i].number < known)
			continue;
		*cursor = i + 1;
		return &knowledge->facts[i];
	}
	return NULL;
}

/* --- typed globals ------------------------------------------------------------------------- */

struct error *knowledge_set_type(struct knowledge *knowledge, const struct typed *typed)
{
	struct typed *entry = address_map_add(&knowledge->typed, sizeof(*entry), typed->address);
	if (!entry)
		return typed->address ? error_no_memory() : NULL;
	*entry = *typed;
	return NULL;
}

void knowledge_forget_types(struct knowledge *knowledge)
{
	address_map_clear(&knowledge->typed, sizeof(struct typed));
}

const struct typed *knowledge_type_at(const struct knowledge *knowledge, uint64_t address)
{
	return address_map_find(&knowledge->typed, sizeof(struct typed), address);
}
