// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Clues from all code. Whatever is asked of the target is asked before the threads start; they
 * take blocks of functions in any order, and the findings are put together in the order of blocks.
 */
#include "base/array.h"
#include "base/interrupt.h"
#include "base/workers.h"
#include "debugger/infer/evidence/code_private.h"
#include "debugger/target/object.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE	  256 /* functions */
#define FUNCTION_SIZE_MAX (1u << 20)

struct findings {
	struct finding *items;
	size_t count, capacity;
};

struct all;

/* What one thread works on. */
struct worker {
	struct all *all;
	struct flow *flow; /* NULL: not begun */
	struct findings *block;
};

struct all {
	struct inference *inference;
	struct flow_world world;
	unsigned int threads;
	struct callee *unique; /* by function */
	struct kind *known;    /* by subject */
	struct findings *blocks;
	size_t block_count;
	struct worker workers[WORKERS_MAX];
	atomic_bool failed; /* no memory */
};

/* --- functions ------------------------------------------------------------------------------- */

static int compare_functions(const void *a, const void *b)
{
	const struct function_range *left = a, *right = b;
	return left->address < right->address ? -1 : left->address > right->address;
}

/* The room before a function's entry, which is nops (6.2 on). */
static bool is_padding(const char *name)
{
	return name[0] == '_' && (!strncmp(name, "__pfx_", 6) || !strncmp(name, "__cfi_", 6));
}

static struct error *list_functions(struct inference *inference)
{
	struct symtab *symbols = inference->target->symbols;
	uint32_t count = symtab_count(symbols);
	if (inference->functions)
		return NULL;
	for (uint32_t i = 0; i < count; i++) {
		char name[SYMBOL_NAME_SIZE];
		struct symbol symbol;
		symtab_peek(symbols, i, &symbol);
		if (symbol.per_cpu || !symbol_is_text(&symbol))
			continue;
		symtab_get_into(symbols, i, name, &symbol);
		if (!symbol.size || symbol.size > FUNCTION_SIZE_MAX || is_padding(symbol.name) ||
		    !text_bytes(&inference->text, symbol.address, symbol.size))
			continue;
		if (!array_reserve(&inference->functions, &inference->function_capacity,
				   inference->function_count + 1))
			return error_no_memory();
		inference->functions[inference->function_count++] =
			(struct function_range){ symbol.address, (uint32_t)symbol.size };
	}
	array_sort(inference->functions, inference->function_count, sizeof(*inference->functions),
		   compare_functions);
	size_t kept = 0;
	for (size_t i = 0; i < inference->function_count; i++)
		if (!i || inference->functions[i].address != inference->functions[kept - 1].address)
			inference->functions[kept++] = inference->functions[i];
	inference->function_count = kept;
	return NULL;
}

static struct error *find_unique(void *context, unsigned int worker, size_t number)
{
	struct all *all = context;
	(void)worker;
	callees_find_unique(&all->inference->callees, all->inference->functions[number].address,
			    &all->unique[number]);
	return NULL;
}

/* Threads find the functions whose name is the only one; the code of others is read by one. */
static struct error *find_callees(struct all *all)
{
	struct inference *inference = all->inference;
	struct work work = { .count = inference->function_count,
			     .block = 512,
			     .step = find_unique,
			     .context = all };
	all->unique = calloc(inference->function_count + 1, sizeof(*all->unique));
	if (!all->unique || !symtab_make_indexes(inference->target->symbols))
		return error_no_memory();
	for (size_t i = 0; i < inference->levels.count; i++)
		btf_make_indexes(inference->levels.items[i]);
	TRY(workers_run(&work, all->threads));
	for (size_t i = 0; i < inference->function_count; i++)
		callees_add_unique(&inference->callees, inference->functions[i].address,
				   &all->unique[i]);
	return NULL;
}

/* Everything that threads ask for. */
static struct error *prepare(struct all *all)
{
	struct inference *inference = all->inference;
	TRY(inference_add_modules(inference));
	TRY(text_load(&inference->text));
	TRY(text_load(&inference->strings));
	inference_read_edges(inference);
	if (!inference->subjects.items)
		TRY(subjects_init(&inference->subjects, inference->target));
	TRY(list_functions(inference));
	TRY(find_callees(all));
	all->known = calloc(inference->subjects.count + 1, sizeof(*all->known));
	all->block_count = (inference->function_count + BLOCK_SIZE - 1) / BLOCK_SIZE;
	all->blocks = calloc(all->block_count + 1, sizeof(*all->blocks));
	if (!all->known || !all->blocks)
		return error_no_memory();
	for (size_t i = 0; i < inference->subjects.count; i++)
		all->known[i] = known_subject(inference, &inference->subjects.items[i]);
	return interrupt_check();
}

/* --- threads --------------------------------------------------------------------------------- */

static bool known_of_all(void *context, uint64_t address, struct kind *ret, int64_t *ret_offset)
{
	const struct all *all = context;
	const struct subjects *subjects = &all->inference->subjects;
	uint64_t offset;
	const struct subject *subject = subject_at(subjects, address, &offset);
	if (!subject)
		return false;
	*ret = all->known[subject - subjects->items];
	*ret_offset = (int64_t)offset;
	return ret->id;
}

static void callee_of_all(void *context, uint64_t address, struct callee *ret)
{
	const struct all *all = context;
	callees_find(&all->inference->callees, address, ret);
}

static bool per_cpu_of_all(void *context, uint64_t offset, struct kind *ret, int64_t *ret_offset)
{
	const struct all *all = context;
	return per_cpu_find(&all->inference->per_cpu, offset, ret, ret_offset);
}

static bool string_of_all(void *context, uint64_t address, char *buffer, size_t size)
{
	const struct all *all = context;
	return text_string(&all->inference->strings, address, buffer, size);
}

static void emit_finding(void *context, const struct finding *finding)
{
	struct worker *worker = context;
	struct findings *block = worker->block;
	if (!array_reserve(&block->items, &block->capacity, block->count + 1))
		atomic_store(&worker->all->failed, true);
	else
		block->items[block->count++] = *finding;
}

static void run_block(struct worker *worker, struct flow *flow, size_t block)
{
	struct inference *inference = worker->all->inference;
	size_t end = (block + 1) * BLOCK_SIZE;
	worker->block = &worker->all->blocks[block];
	for (size_t i = block * BLOCK_SIZE; i < end && i < inference->function_count; i++) {
		const struct function_range *range = &inference->functions[i];
		struct flow_function function = {
			.code = { text_bytes(&inference->text, range->address, range->size),
				  range->size, range->address },
		};
		callees_find(&inference->callees, range->address, &function.self);
		code_function_edges(inference, &function);
		struct error *error = flow_run(flow, &function);
		if (error)
			atomic_store(&worker->all->failed, true);
		error_free(error);
	}
}

static struct error *run_step(void *context, unsigned int number, size_t block)
{
	struct all *all = context;
	struct worker *worker = &all->workers[number];
	if (!worker->flow)
		worker->flow = flow_create(&all->world, worker);
	if (!worker->flow)
		return error_no_memory();
	run_block(worker, worker->flow, block);
	return atomic_load(&all->failed) ? error_no_memory() : NULL;
}

static struct error *run_next_step(void *context, unsigned int number, size_t block)
{
	return run_step(context, number, block + 1);
}

/* The first block before there are threads: the decoder's library makes tables of its own then. */
static struct error *run_threads(struct all *all)
{
	struct work work = { .count = all->block_count ? all->block_count - 1 : 0,
			     .block = 1,
			     .step = run_next_step,
			     .context = all,
			     .progress = all->inference->progress,
			     .what = "types of globals",
			     .to = 40 };
	struct error *error = NULL;
	for (unsigned int i = 0; i < WORKERS_MAX; i++)
		all->workers[i] = (struct worker){ .all = all };
	if (all->block_count)
		error = run_step(all, 0, 0);
	if (!error)
		error = workers_run(&work, all->threads);
	for (unsigned int i = 0; i < WORKERS_MAX; i++)
		flow_destroy(all->workers[i].flow);
	return error;
}

/* --- putting together ------------------------------------------------------------------------ */

static struct error *add_findings(struct all *all, const struct findings *block, uint16_t *counts,
				  struct code_clues *clues)
{
	const struct subjects *subjects = &all->inference->subjects;
	for (size_t i = 0; i < block->count; i++) {
		const struct finding *finding = &block->items[i];
		struct clue clue;
		uint64_t offset;
		const struct subject *subject = subject_at(subjects, finding->address, &offset);
		if (!subject || code_is_literal(finding, subject) ||
		    counts[subject - subjects->items] == CODE_FINDINGS_MAX)
			continue;
		counts[subject - subjects->items]++;
		TRY(code_finding_clue(all->inference, finding, subject, &clue));
		if (!clues_add(&clues->items[subject - subjects->items], &clue))
			return error_no_memory();
	}
	return NULL;
}

static struct error *collect(struct all *all, struct code_clues *ret)
{
	struct code_clues clues = { NULL, all->inference->subjects.count };
	uint16_t *counts = calloc(clues.count + 1, sizeof(*counts));
	clues.items = calloc(clues.count + 1, sizeof(*clues.items));
	if (!clues.items || !counts) {
		free(clues.items);
		free(counts);
		return error_no_memory();
	}
	for (size_t i = 0; i < all->block_count; i++) {
		struct error *error = add_findings(all, &all->blocks[i], counts, &clues);
		free(all->blocks[i].items);
		all->blocks[i].items = NULL;
		if (error) {
			code_clues_deinit(&clues);
			free(counts);
			return error;
		}
	}
	free(counts);
	*ret = clues;
	return NULL;
}

struct error *code_clues_all(struct inference *inference, unsigned int threads,
			     struct code_clues *ret)
{
	struct all all = { .inference = inference, .threads = threads ? threads : workers_count() };
	struct error *error = prepare(&all);
	if (!error) {
		code_world_init(inference, &all.world);
		all.world.context = &all;
		all.world.callee = callee_of_all;
		all.world.per_cpu = per_cpu_of_all;
		all.world.known = known_of_all;
		all.world.string = string_of_all;
		all.world.emit = emit_finding;
		all.world.emits_per_cpu = true;
		inference->callees.complete = true;
		error = run_threads(&all);
		inference->callees.complete = false;
	}
	if (!error)
		error = collect(&all, ret);
	for (size_t i = 0; all.blocks && i < all.block_count; i++)
		free(all.blocks[i].items);
	free(all.blocks);
	free(all.known);
	free(all.unique);
	return error;
}

void code_clues_deinit(struct code_clues *clues)
{
	for (size_t i = 0; i < clues->count; i++)
		clues_deinit(&clues->items[i]);
	free(clues->items);
	*clues = (struct code_clues){ NULL, 0 };
}
