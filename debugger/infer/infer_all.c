// SPDX-License-Identifier: GPL-3.0-or-later
/* The whole kernel, on all processors; then its modules. */
#include "debugger/infer/infer.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "base/workers.h"
#include "debugger/infer/hints/hint_types.h"
#include "debugger/infer/store/cache.h"
#include "debugger/infer/whole.h"
#include "debugger/target/object.h"
#include <stdlib.h>
#include <string.h>

static struct error *solve_one(struct whole *whole, struct one *one, size_t index)
{
	const struct subject *subject = &whole->subjects->items[index];
	struct answer *answer = &whole->answers[index];
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	symtab_get_into(whole->target->symbols, subject->symbol, name, &symbol);
	TRY(one_ask(one, subject, &symbol, &whole->code.items[index]));
	TRY(one_conclude(one, answer));
	/* All addresses of the kernel have such a byte. */
	answer->may_point = memchr(one->bytes, 0xff, one->question.size) != NULL;
	return NULL;
}

static struct error *visit_one(struct whole *whole, size_t index)
{
	const struct subject *subject = &whole->subjects->items[index];
	struct typing typing;
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	symtab_get_into(whole->target->symbols, subject->symbol, name, &symbol);
	TRY(typing_of_answer(&whole->answers[index], &typing));
	struct error *error = whole->visit(whole->context, subject, &symbol, &typing);
	typing_deinit(&typing);
	return error;
}

struct error *whole_share(struct whole *whole)
{
	TRY(knowledge_prepare(whole->knowledge));
	for (unsigned int i = 0; i < whole->member_count; i++)
		knowledge_share(whole->knowledge, &whole->members[i].knowledge);
	return NULL;
}

struct error *whole_solve_open(void *context, unsigned int worker, size_t number)
{
	struct whole *whole = context;
	return solve_one(whole, &whole->members[worker].one, whole->open[number]);
}

struct error *whole_run(struct whole *whole, struct work work)
{
	work.context = whole;
	work.progress = whole->options->progress;
	work.what = "types of globals";
	return workers_run(&work, whole->member_count);
}

static struct error *solve_in_module(struct whole *whole, struct one *one,
				     const struct module *module)
{
	for (size_t i = 0; i < whole->subjects->count; i++)
		if (whole->subjects->items[i].module == module)
			TRY(solve_one(whole, one, i));
	return NULL;
}

/* Each module has types of its own, which are laid out upon the kernel's. */
static struct error *solve_module(void *context, unsigned int worker, size_t number)
{
	struct whole *whole = context;
	struct member *member = &whole->members[worker];
	const struct module *modules;
	target_modules(whole->target, &modules);
	const struct module *module = &modules[whole->open[number]];
	const struct btf *btf = target_module_btf(whole->target, module);
	if (!btf || btf == whole->layout->btf) {
		if (member->solver.layout != whole->layout)
			TRY(solver_use(&member->solver, whole->layout));
		return solve_in_module(whole, &member->one, module);
	}
	TRY(layout_replace(btf, whole->layout, &member->layout));
	TRY(solver_use(&member->solver, member->layout));
	return solve_in_module(whole, &member->one, module);
}

/* How many subjects a module has. */
struct module_share {
	uint32_t module;
	uint32_t subjects;
};

static int compare_shares(const void *left, const void *right)
{
	const struct module_share *a = left, *b = right;
	if (a->subjects != b->subjects)
		return a->subjects < b->subjects ? 1 : -1;
	return a->module < b->module ? -1 : a->module > b->module;
}

/* Those with the most to do begin, so that the threads end together. */
static struct error *list_modules(struct whole *whole, size_t *ret_count)
{
	const struct module *modules;
	size_t count = target_modules(whole->target, &modules), used = 0;
	struct module_share *shares = calloc(count + 1, sizeof(*shares));
	if (!shares)
		return error_no_memory();
	for (size_t i = 0; i < count; i++)
		shares[i].module = (uint32_t)i;
	for (size_t i = 0; i < whole->subjects->count; i++)
		if (whole->subjects->items[i].module)
			shares[whole->subjects->items[i].module - modules].subjects++;
	array_sort(shares, count, sizeof(*shares), compare_shares);
	for (; used < count && shares[used].subjects; used++)
		whole->open[used] = shares[used].module;
	free(shares);
	*ret_count = used;
	return NULL;
}

static struct error *solve_modules(struct whole *whole)
{
	struct work work = { .block = 1, .step = solve_module, .from = 95, .to = 100 };
	TRY(list_modules(whole, &work.count));
	TRY(whole_share(whole));
	return whole_run(whole, work);
}

/* The kernel's first, then those of modules in the order of these. */
static struct error *visit_all(struct whole *whole)
{
	const struct module *modules;
	size_t count = target_modules(whole->target, &modules);
	for (size_t m = 0; m <= count; m++) {
		const struct module *module = m ? &modules[m - 1] : NULL;
		for (size_t i = 0; i < whole->subjects->count; i++)
			if (whole->subjects->items[i].module == module)
				TRY(visit_one(whole, i));
	}
	return NULL;
}

/* Whatever is made when first asked for is made before there are threads. */
static void prepare_shared(struct whole *whole)
{
	const struct module *modules;
	const struct cpu *cpus;
	size_t count = target_modules(whole->target, &modules);
	(void)target_cpus(whole->target, &cpus);
	btf_make_indexes(whole->target->btf);
	for (size_t i = 0; i < count; i++)
		btf_make_indexes(target_module_btf(whole->target, &modules[i]));
	for (size_t i = 0; whole->knowledge->hints && i < whole->subjects->count; i++) {
		const struct subject *subject = &whole->subjects->items[i];
		const struct btf *btf =
			subject->module ? target_module_btf(whole->target, subject->module) : NULL;
		char name[SYMBOL_NAME_SIZE];
		struct symbol symbol;
		symtab_get_into(whole->target->symbols, subject->symbol, name, &symbol);
		hint_types_prepare(whole->knowledge->hint_types, whole->knowledge->hints,
				   whole->knowledge->hint_kernels, btf ? btf : whole->target->btf,
				   &symbol);
	}
}

static struct error *recruit(struct whole *whole)
{
	unsigned int wanted = whole->options->threads;
	whole->member_count = wanted && wanted < WORKERS_MAX ? wanted : workers_count();
	whole->members = calloc(whole->member_count, sizeof(*whole->members));
	if (!whole->members)
		return error_no_memory();
	for (unsigned int i = 0; i < whole->member_count; i++) {
		struct member *member = &whole->members[i];
		TRY(solver_init(&member->solver, whole->layout));
		member->one.knowledge = &member->knowledge;
		member->one.solver = &member->solver;
	}
	return NULL;
}

static struct error *prepare(struct whole *whole)
{
	TRY(knowledge_create(whole->target, &whole->knowledge));
	TRY(infer_use_hints(whole->knowledge, whole->options));
	whole->inference->progress = whole->options->progress;
	struct error *error =
		code_clues_all(whole->inference, whole->options->threads, &whole->code);
	whole->inference->progress = NULL;
	if (error)
		return error;
	whole->subjects = whole->knowledge->subjects = &whole->inference->subjects;
	whole->answers = calloc(whole->subjects->count + 1, sizeof(*whole->answers));
	whole->open = calloc(whole->subjects->count + 1, sizeof(*whole->open));
	if (!whole->answers || !whole->open)
		return error_no_memory();
	TRY(knowledge_layout(whole->knowledge, NULL, &whole->layout));
	prepare_shared(whole);
	return recruit(whole);
}

static void whole_deinit(struct whole *whole)
{
	for (unsigned int i = 0; whole->members && i < whole->member_count; i++) {
		solver_deinit(&whole->members[i].solver);
		layout_destroy(whole->members[i].layout);
		one_end(&whole->members[i].one);
		knowledge_unshare(&whole->members[i].knowledge);
	}
	free(whole->members);
	pointer_walk_destroy(whole->walk);
	code_clues_deinit(&whole->code);
	free(whole->answers);
	free(whole->open);
	knowledge_destroy(whole->knowledge);
}

/*
 * Each variable by its own evidence, as a question for it alone finds it: so both give one answer.
 */
static struct error *solve_each(struct whole *whole)
{
	struct work work = { .block = 32, .step = whole_solve_open, .from = 40, .to = 95 };
	TRY(whole_share(whole));
	for (unsigned int i = 0; i < whole->member_count; i++)
		whole->members[i].one.refines = true;
	for (size_t i = 0; i < whole->subjects->count; i++)
		if (!whole->subjects->items[i].module)
			whole->open[work.count++] = (uint32_t)i;
	return whole_run(whole, work);
}

static struct error *infer_whole(struct whole *whole)
{
	TRY(prepare(whole));
	TRY(whole->knowledge->hints ? solve_each(whole) : whole_learn(whole));
	return solve_modules(whole);
}

/* The answers of an earlier session, all of them, if each is right for this dump. */
static struct error *take_whole(struct whole *whole, struct remembered *kept,
				struct subjects *subjects)
{
	struct cache *cache = kept_cache(kept, whole->options);
	struct error *error = cache ? subjects_init(subjects, whole->target) : NULL;
	if (!cache || error)
		return error;
	whole->answers = calloc(subjects->count + 1, sizeof(*whole->answers));
	if (!whole->answers)
		return error_no_memory();
	if (cache_take_all(cache, subjects, whole->answers)) {
		whole->subjects = subjects;
		return NULL;
	}
	free(whole->answers);
	whole->answers = NULL;
	return interrupt_check();
}

/* For the next session, and for the next question of this one. */
static void keep_whole(struct whole *whole, struct remembered *kept)
{
	struct cache_key key;
	if (whole->options->no_cache || !cache_key_of(whole->target, whole->options, &key))
		return;
	cache_keep(whole->target, &key, whole->subjects, whole->answers);
	kept_forget_cache(kept);
}

/* What was learned explains each answer, so it stays with them. */
static void remember_whole(struct whole *whole, struct remembered *kept)
{
	knowledge_destroy(kept->knowledge);
	kept->knowledge = whole->knowledge;
	kept->answers = whole->answers;
	whole->knowledge = NULL;
	whole->answers = NULL;
}

struct error *infer_together(struct inference *inference, const struct infer_options *options,
			     struct remembered *kept)
{
	struct whole whole = { .target = inference->target,
			       .options = options,
			       .inference = inference };
	struct error *error = infer_whole(&whole);
	if (!error) {
		keep_whole(&whole, kept);
		remember_whole(&whole, kept);
	}
	whole_deinit(&whole);
	return error;
}

struct error *infer_all(struct target *target, const struct infer_options *options,
			typing_visitor *visit, void *context)
{
	struct infer_options settled = infer_options_settle(target, options);
	struct whole whole = {
		.target = target, .options = &settled, .visit = visit, .context = context
	};
	struct subjects subjects = { .items = NULL };
	struct remembered *kept;
	TRY(inference_get(target, &whole.inference));
	TRY(kept_get(whole.inference, &kept));
	struct error *error = take_whole(&whole, kept, &subjects);
	if (!error && !whole.subjects) {
		error = infer_whole(&whole);
		if (!error)
			keep_whole(&whole, kept);
	}
	progress_end(settled.progress);
	if (!error)
		error = visit_all(&whole);
	whole_deinit(&whole);
	subjects_deinit(&subjects);
	return error;
}
