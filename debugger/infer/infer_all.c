// SPDX-License-Identifier: GPL-3.0-or-later
/* The whole kernel: types spread along pointers until nothing is new; then its modules. */
#include "debugger/infer/infer.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/interrupt.h"
#include "base/workers.h"
#include "debugger/infer/evidence/code.h"
#include "debugger/infer/evidence/pointers.h"
#include "debugger/infer/hints/hint_types.h"
#include "debugger/infer/known/names_family.h"
#include "debugger/infer/number_tables.h"
#include "debugger/infer/one.h"
#include "debugger/infer/siblings.h"
#include "debugger/infer/solve/agree.h"
#include "debugger/infer/store/cache.h"
#include "debugger/infer/store/kept.h"
#include "debugger/target/object.h"
#include <stdlib.h>
#include <string.h>

#define ROUNDS_MAX    4
#define LIKELY_SCORE  5 /* points of a guess, from which on others learn from it */
#define LIKELY_MARGIN 2
#define CLEAR_MARGIN  8

/* What one thread works with. */
struct member {
	struct knowledge knowledge; /* a copy */
	struct one one;
	struct solver solver;
	struct layout *layout; /* of the module at hand, NULL */
};

struct whole {
	struct target *target;
	const struct infer_options *options;
	struct knowledge *knowledge;
	const struct layout *layout; /* of the kernel's types */
	struct member *members;
	unsigned int member_count;
	struct inference *inference;
	const struct subjects *subjects;
	struct code_clues code;
	struct answer *answers;
	uint32_t *open; /* the subjects, in the end the modules, that are asked in this round */
	struct pointer_walk *walk;
	typing_visitor *visit;
	void *context;
};

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

/* A guess that others learn from along its pointers: a struct that is far ahead of all others. */
static bool is_clear(const struct whole *whole, const struct answer *answer)
{
	return answer->confidence == CONFIDENCE_GUESS && answer->margin >= CLEAR_MARGIN &&
	       layout_is_compound(whole->layout, answer->type);
}

static struct error *set_type(struct whole *whole, size_t index)
{
	const struct answer *answer = &whole->answers[index];
	struct typed typed = { whole->subjects->items[index].address, whole->layout, answer->type,
			       answer->count };
	return knowledge_set_type(whole->knowledge, &typed);
}

static struct error *spread_all(struct whole *whole, bool with_guesses, size_t *ret_new)
{
	const struct layout *layout = whole->layout;
	for (size_t i = 0; i < whole->subjects->count; i++) {
		const struct answer *answer = &whole->answers[i];
		const struct subject *subject = &whole->subjects->items[i];
		bool is_known = answer->confidence >= CONFIDENCE_INFERRED ||
				(with_guesses && is_clear(whole, answer));
		if (!is_known || subject->module)
			continue;
		TRY(set_type(whole, i));
		TRY(pointer_walk_add(whole->walk, layout, subject->address, answer->type,
				     answer->count));
	}
	return pointer_walk_run(whole->walk, ret_new);
}

static bool points_at_typed(struct one *one, const struct subject *subject)
{
	uint32_t size = one_read(one, subject);
	bool big_endian = one->knowledge->target->facts->big_endian;
	for (uint32_t i = 0; i + 8 <= size; i++) {
		uint64_t value = load_u64(one->bytes + i, big_endian);
		if (is_kernel_pointer(value) && knowledge_type_at(one->knowledge, value))
			return true;
	}
	return false;
}

/* Whether a new fact only repeats the answer. */
static bool repeats(const struct whole *whole, const struct subject *subject,
		    const struct answer *answer, const struct fact *fact)
{
	const struct layout *layout = whole->layout;
	uint64_t offset = fact->address - subject->address;
	uint32_t size = layout_size(layout, answer->type);
	uint32_t wanted = layout_id(layout, fact->clue.type);
	if (answer->count && offset / size < answer->count)
		offset %= size;
	return fact->clue.kind == CLUE_OBJECT && wanted && offset < size &&
	       layout_match(layout, answer->type, (uint32_t)offset, wanted) == LIKE_EXACTLY;
}

/* Whether the facts after the first `known` ones can change the answer. */
static bool has_news(struct whole *whole, const struct subject *subject,
		     const struct answer *answer, size_t known)
{
	bool is_settled = answer->confidence >= CONFIDENCE_INFERRED;
	const struct fact *fact;
	size_t cursor = 0;
	while ((fact = knowledge_news(whole->knowledge, subject->address, subject->room, known,
				      &cursor)))
		if (!is_settled || !repeats(whole, subject, answer, fact))
			return true;
	return false;
}

/* Is it worth to ask again? There are news, or what it points at is known since the first round. */
static bool is_open(struct whole *whole, size_t index, int round, size_t known)
{
	const struct subject *subject = &whole->subjects->items[index];
	const struct answer *answer = &whole->answers[index];
	return !round ||
	       (round == 1 && answer->confidence < CONFIDENCE_INFERRED && answer->may_point &&
		points_at_typed(&whole->members[0].one, subject)) ||
	       has_news(whole, subject, answer, known);
}

/* Gives each thread's copy what is known by now. */
static struct error *share(struct whole *whole)
{
	TRY(knowledge_prepare(whole->knowledge));
	for (unsigned int i = 0; i < whole->member_count; i++)
		knowledge_share(whole->knowledge, &whole->members[i].knowledge);
	return NULL;
}

static struct error *solve_open(void *context, unsigned int worker, size_t number)
{
	struct whole *whole = context;
	return solve_one(whole, &whole->members[worker].one, whole->open[number]);
}

static struct error *guess_open(void *context, unsigned int worker, size_t number)
{
	struct whole *whole = context;
	struct answer *answer = &whole->answers[whole->open[number]];
	TRY(solve_open(context, worker, number));
	if (answer->confidence > CONFIDENCE_GUESS)
		answer->confidence = CONFIDENCE_GUESS;
	return NULL;
}

static struct error *run_work(struct whole *whole, struct work work)
{
	work.context = whole;
	work.progress = whole->options->progress;
	work.what = "types of globals";
	return workers_run(&work, whole->member_count);
}

/* What is asked in one round does not depend on what else is asked in it. */
static struct error *solve_round(struct whole *whole, int round, size_t known)
{
	static const unsigned int percents[ROUNDS_MAX + 1] = { 40, 65, 80, 83, 85 };
	struct work work = {
		.block = 32, .step = solve_open, .from = percents[round], .to = percents[round + 1]
	};
	TRY(share(whole));
	for (size_t i = 0; i < whole->subjects->count; i++)
		if (!whole->subjects->items[i].module && is_open(whole, i, round, known))
			whole->open[work.count++] = (uint32_t)i;
	return run_work(whole, work);
}

static struct error *solve_kernel(struct whole *whole)
{
	size_t facts = 0;
	for (int round = 0; round < ROUNDS_MAX; round++) {
		size_t found = 0;
		TRY(solve_round(whole, round, facts));
		facts = whole->knowledge->fact_count;
		if (round + 1 < ROUNDS_MAX)
			TRY(spread_all(whole, false, &found));
		if (!found && round)
			break;
	}
	return NULL;
}

/* Do others learn from it? What looks like one struct often looks like its kin as well: a guess
 * would teach them all. */
static bool is_likely(const struct whole *whole, const struct answer *answer)
{
	return answer->confidence >= CONFIDENCE_INFERRED ||
	       (answer->score >= LIKELY_SCORE && answer->margin >= LIKELY_MARGIN &&
		(answer->count || !layout_is_compound(whole->layout, answer->type)));
}

/* Learns from the variables that are typed by now which names go with which types. */
static struct error *learn_names(struct whole *whole, bool with_guesses)
{
	struct families *families;
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	TRY(families_create(&families));
	families_destroy(whole->knowledge->families);
	whole->knowledge->families = families;
	for (size_t i = 0; i < whole->subjects->count; i++) {
		const struct answer *answer = &whole->answers[i];
		bool is_known = is_likely(whole, answer) ||
				(with_guesses && answer->confidence == CONFIDENCE_GUESS &&
				 layout_is_compound(whole->layout, answer->type));
		if (!is_known || (answer->sources & 1u << SOURCE_TABLE) ||
		    whole->subjects->items[i].module)
			continue;
		symtab_get_into(whole->target->symbols, whole->subjects->items[i].symbol, name,
				&symbol);
		TRY(families_learn(families, symbol.name, answer->type));
	}
	families_settle(families);
	return NULL;
}

/* What clues did not settle is asked once more, with all types that its bytes allow. */
static struct error *refine_kernel(struct whole *whole)
{
	struct work work = { .block = 16, .step = solve_open, .from = 85, .to = 92 };
	TRY(learn_names(whole, false));
	TRY(share(whole));
	for (unsigned int i = 0; i < whole->member_count; i++)
		whole->members[i].one.refines = true;
	for (size_t i = 0; i < whole->subjects->count; i++)
		if (!whole->subjects->items[i].module &&
		    whole->answers[i].confidence < CONFIDENCE_INFERRED)
			whole->open[work.count++] = (uint32_t)i;
	return run_work(whole, work);
}

/* Only its bytes and its name say what it is, and not clearly. */
static bool is_vague(const struct answer *answer)
{
	return answer->margin < CLEAR_MARGIN && !(answer->sources & 1u << SOURCE_CODE);
}

/*
 * Asks those anew of whom what was refined has news since the first `known` facts, at first also
 * those whose names may have kin by now. What rests on a guess is none but a guess.
 */
static struct error *guess_news(struct whole *whole, size_t known, bool is_first)
{
	struct work work = { .block = 16, .step = guess_open, .from = 92, .to = 94 };
	TRY(share(whole));
	for (size_t i = 0; i < whole->subjects->count; i++)
		if (!whole->subjects->items[i].module &&
		    whole->answers[i].confidence < CONFIDENCE_INFERRED &&
		    ((is_first && is_vague(&whole->answers[i])) ||
		     has_news(whole, &whole->subjects->items[i], &whole->answers[i], known)))
			whole->open[work.count++] = (uint32_t)i;
	return run_work(whole, work);
}

/* Tells those that tables of pointers lead to what all of them are. */
static struct error *teach_pointees(struct whole *whole)
{
	uint32_t *types = calloc(whole->subjects->count + 1, sizeof(*types));
	struct error *error = types ? share(whole) : error_no_memory();
	for (size_t i = 0; !error && i < whole->subjects->count; i++)
		error = siblings_find(&whole->members[0].one, whole->answers, i, types);
	for (size_t i = 0; !error && i < whole->subjects->count; i++) {
		struct clue clue = { .kind = CLUE_OBJECT,
				     .source = SOURCE_POINTER,
				     .type = { whole->layout->btf, types[i] },
				     .how = "explains all that a table points at so" };
		if (types[i])
			error = knowledge_add_fact(whole->knowledge,
						   whole->subjects->items[i].address, &clue);
	}
	for (size_t i = 0; !error && i < whole->subjects->count; i++)
		error = number_table_teach(whole->knowledge, whole->layout, whole->answers, types,
					   i);
	free(types);
	return error;
}

/* Tables point at tables: each round leads one step further. */
static struct error *refine_again(struct whole *whole)
{
	for (int round = 0; round < ROUNDS_MAX; round++) {
		size_t known = whole->knowledge->fact_count, found;
		TRY(spread_all(whole, true, &found));
		if (!round) {
			TRY(learn_names(whole, true));
			TRY(teach_pointees(whole));
		} else if (whole->knowledge->fact_count == known) {
			break;
		}
		TRY(guess_news(whole, known, !round));
	}
	for (size_t i = 0; i < whole->subjects->count; i++)
		number_table_lengthen(whole->knowledge, whole->layout, whole->answers, i);
	return NULL;
}

/* For the modules, whose variables point at the kernel's. */
static struct error *settle_types(struct whole *whole)
{
	for (size_t i = 0; i < whole->subjects->count; i++)
		if (whole->answers[i].confidence >= CONFIDENCE_INFERRED &&
		    !whole->subjects->items[i].module)
			TRY(set_type(whole, i));
	return NULL;
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
	TRY(share(whole));
	return run_work(whole, work);
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
		clues_deinit(&whole->members[i].one.clues);
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
	struct work work = { .block = 32, .step = solve_open, .from = 40, .to = 95 };
	TRY(share(whole));
	for (unsigned int i = 0; i < whole->member_count; i++)
		whole->members[i].one.refines = true;
	for (size_t i = 0; i < whole->subjects->count; i++)
		if (!whole->subjects->items[i].module)
			whole->open[work.count++] = (uint32_t)i;
	return run_work(whole, work);
}

/*
 * Without the shipped table, which says of most pointers what they point at, variables learn from
 * one another.
 */
static struct error *solve_together(struct whole *whole)
{
	TRY(pointer_walk_create(whole->knowledge, &whole->walk));
	TRY(solve_kernel(whole));
	TRY(refine_kernel(whole));
	TRY(refine_again(whole));
	return settle_types(whole);
}

static struct error *infer_whole(struct whole *whole)
{
	TRY(prepare(whole));
	TRY(whole->knowledge->hints ? solve_each(whole) : solve_together(whole));
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
