// SPDX-License-Identifier: GPL-3.0-or-later
/* The sources are asked, the solver decides, types spread along pointers until nothing is new. */
#include "debugger/infer/infer.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/interrupt.h"
#include "debugger/infer/agree.h"
#include "debugger/infer/cache.h"
#include "debugger/infer/code.h"
#include "debugger/infer/hint_types.h"
#include "debugger/infer/hints.h"
#include "debugger/infer/knowledge.h"
#include "debugger/infer/names_family.h"
#include "debugger/infer/pointers.h"
#include "debugger/infer/solve.h"
#include "debugger/infer/sources.h"
#include "debugger/infer/workers.h"
#include "debugger/target/object.h"
#include <stdlib.h>
#include <string.h>

#define SYMBOL_BYTES_MAX 4096 /* of a symbol, looked at */
#define ROUNDS_MAX	 4
#define LIKELY_SCORE	 7 /* points of a guess, from which on others learn from it */
#define LIKELY_MARGIN	 3

const char *confidence_name(enum confidence confidence)
{
	static const char *const names[] = { "unknown", "guess", "inferred", "certain" };
	return names[confidence];
}

void typing_deinit(struct typing *typing)
{
	free(typing->candidates);
	clues_deinit(&typing->clues);
	*typing = (struct typing){ 0 };
}

const struct source sources[] = {
	{ "tables", tables_collect },
	{ "own data", own_data_collect },
	{ "slab", slab_collect },
	{ "names", names_collect },
};
const size_t source_count = ARRAY_COUNT(sources);

/* --- one subject ---------------------------------------------------------------------------- */

struct one {
	struct knowledge *knowledge;
	struct solver *solver;
	struct clues clues;
	struct question question;
	struct solver_input input;
	bool refines; /* asks own_data_refine() too */
	uint8_t bytes[SYMBOL_BYTES_MAX];
};

static enum subject_place place_of(char kind)
{
	return strchr("rR", kind) ? PLACE_RODATA : strchr("bB", kind) ? PLACE_BSS : PLACE_DATA;
}

/* Returns how many of the symbol's bytes there are. */
static uint32_t read_bytes(struct one *one, const struct subject *subject)
{
	struct error *why;
	size_t size = subject->room < sizeof(one->bytes) ? (size_t)subject->room
							 : sizeof(one->bytes);
	size = memory_read_some(one->knowledge->target->memory, subject->address, one->bytes, size,
				&why);
	error_free(why);
	return (uint32_t)size;
}

/* The question, with the symbol's bytes. */
static void read_subject(struct one *one, const struct subject *subject,
			 const struct symbol *symbol)
{
	struct question *question = &one->question;
	*question = (struct question){ .knowledge = one->knowledge,
				       .subject = subject,
				       .symbol = symbol,
				       .layout = one->solver->layout,
				       .bytes = one->bytes,
				       .is_constant = place_of(symbol->kind) == PLACE_RODATA };
	question->size = read_bytes(one, subject);
	question->is_zero =
		!question->size ||
		(!one->bytes[0] && !memcmp(one->bytes, one->bytes + 1, question->size - 1));
}

static struct error *ask(struct one *one, const struct subject *subject,
			 const struct symbol *symbol, const struct clues *code)
{
	struct question *question = &one->question;
	read_subject(one, subject, symbol);
	TRY(agree_on_pointees(question));
	names_prepare(question);
	one->clues.count = 0;
	for (size_t i = 0; code && i < code->count; i++)
		if (!clues_add(&one->clues, &code->items[i]))
			return error_no_memory();
	for (size_t i = 0; i < source_count; i++)
		TRY(sources[i].collect(question, &one->clues));
	one->input = (struct solver_input){ .subject = subject,
					    .clues = &one->clues,
					    .place = place_of(symbol->kind),
					    .judge = own_data_judge,
					    .judge_name = names_judge,
					    .refine = one->refines ? own_data_refine : NULL,
					    .context = question };
	return solve(one->solver, &one->input);
}

/* The solver's answer and the table's. */
static struct error *conclude(struct one *one, struct answer *ret)
{
	const struct layout *layout = one->solver->layout;
	struct answer answer = answer_of(one->solver);
	if (one->knowledge->hints)
		TRY(agree_with_hints(&one->question, one->solver, &answer));
	agree_with_bytes(&one->question, &answer);
	if (answer.confidence != CONFIDENCE_UNKNOWN && !answer.spelled.btf) {
		answer.spelled = (struct type){ layout->btf, layout_shown(layout, answer.type) };
		answer.row = 1;
	}
	*ret = answer;
	return NULL;
}

/* Needs no layout: that of a module is gone by then. Makes types, so one thread only. */
static struct error *typing_of(const struct answer *answer, struct typing *ret)
{
	*ret = (struct typing){ .confidence = answer->confidence,
				.count_is_proved = answer->count_is_proved,
				.score = answer->score,
				.margin = answer->margin,
				.sources = answer->sources };
	if (answer->confidence == CONFIDENCE_UNKNOWN)
		return NULL;
	ret->origin = answer->confidence == CONFIDENCE_CERTAIN	  ? ORIGIN_CERTAIN
		      : answer->confidence == CONFIDENCE_INFERRED ? ORIGIN_INFERRED
								  : ORIGIN_GUESSED;
	if (answer->count)
		return type_array_of(answer->spelled, answer->count / answer->row, &ret->type);
	ret->type = answer->spelled;
	return NULL;
}

/* The best candidates and the clues, for `whatis -v`. Takes the clues. */
static struct error *explain_typing(struct one *one, struct typing *typing)
{
	const struct solver *solver = one->solver;
	size_t count = solver->count < 24 ? solver->count : 24;
	typing->candidates = calloc(count + 1, sizeof(*typing->candidates));
	if (!typing->candidates)
		return error_no_memory();
	for (size_t i = 0; i < count; i++) {
		struct candidate *candidate = &typing->candidates[i];
		TRY(scored_type(solver->layout, &solver->items[i], &candidate->type));
		candidate->score = solver->items[i].score;
		candidate->rejected = solver->items[i].rejected;
		candidate->rejected_by = solver->items[i].rejected_by;
		typing->candidate_count++;
	}
	typing->clues = one->clues;
	one->clues = (struct clues){ 0 };
	return NULL;
}

static struct error *infer_with(struct one *one, const struct symbol *symbol,
				const struct subject *subject, bool explain, struct typing *ret)
{
	struct inference *inference;
	struct clues code = { 0 };
	/* Without code, the rest still says something. */
	struct error *error = inference_get(one->knowledge->target, &inference);
	if (!error)
		error = code_clues(inference, subject, &code);
	bool is_fatal = error &&
			(error->kind == ERROR_NO_MEMORY || error->kind == ERROR_INTERRUPTED);
	if (!is_fatal) {
		error_free(error);
		error = ask(one, subject, symbol, &code);
	}
	clues_deinit(&code);
	if (error)
		return error;
	struct answer answer;
	struct typing typing;
	TRY(conclude(one, &answer));
	TRY(typing_of(&answer, &typing));
	error = explain ? explain_typing(one, &typing) : NULL;
	if (error) {
		typing_deinit(&typing);
		return error;
	}
	*ret = typing;
	return NULL;
}

/* What is asked for, and what holds for the whole session. */
static struct infer_options settle(const struct target *target, const struct infer_options *options)
{
	struct infer_options settled = options ? *options : (struct infer_options){ 0 };
	settled.no_hints |= target->no_hints;
	/* Scores want what inference says today. */
	settled.no_cache |= target->no_cache || settled.without;
	return settled;
}

/* The table, unless it is turned off; `without`: a kernel whose own rows do not count. */
static struct error *use_hints(struct knowledge *knowledge, const struct infer_options *options)
{
	if (options->no_hints || knowledge->hints)
		return NULL;
	TRY(hints_create(&knowledge->hints));
	knowledge->hint_kernels = 0xff;
	if (options->without)
		knowledge->hint_kernels &=
			(uint8_t)~hints_kernel(knowledge->hints, options->without);
	return NULL;
}

static struct error *infer_subject(struct knowledge *knowledge, const struct subject *subject,
				   const struct symbol *symbol, bool explain, struct typing *ret)
{
	const struct layout *layout;
	struct solver solver = { 0 };
	TRY(knowledge_layout(knowledge, subject->module, &layout));
	struct one *one = calloc(1, sizeof(*one));
	struct error *error = one ? solver_init(&solver, layout) : error_no_memory();
	if (!error) {
		one->knowledge = knowledge;
		one->refines = true;
		one->solver = &solver;
		error = infer_with(one, symbol, subject, explain, ret);
		clues_deinit(&one->clues);
	}
	solver_deinit(&solver);
	free(one);
	return error;
}

/* What was learnt for one question serves the next. */
static struct error *kept_knowledge(struct inference *inference, struct knowledge **ret)
{
	if (!inference->knowledge) {
		TRY(knowledge_create(inference->target, &inference->knowledge));
		inference->knowledge_destroy = knowledge_destroy;
	}
	*ret = inference->knowledge;
	return NULL;
}

static void forget_cache(struct knowledge *knowledge)
{
	cache_close(knowledge->cache);
	knowledge->cache = NULL;
	knowledge->cache_asked = false;
}

/* The results of an earlier session, looked for once; NULL: none. */
static struct cache *kept_cache(struct knowledge *knowledge, const struct infer_options *options)
{
	struct cache_key key;
	if (options->no_cache)
		return NULL;
	if (knowledge->cache_asked && knowledge->cache_no_hints == options->no_hints)
		return knowledge->cache;
	forget_cache(knowledge);
	if (cache_key_of(knowledge->target, options, &key))
		knowledge->cache = cache_open(knowledge->target, &key);
	knowledge->cache_asked = true;
	knowledge->cache_no_hints = options->no_hints;
	return knowledge->cache;
}

static struct error *infer_kept(struct inference *inference, const struct infer_options *options,
				const struct subject *subject, const struct symbol *symbol,
				bool explain, struct typing *ret)
{
	struct knowledge *knowledge;
	struct answer answer;
	TRY(kept_knowledge(inference, &knowledge));
	/* Only the evidence itself explains. */
	struct cache *cache = explain ? NULL : kept_cache(knowledge, options);
	if (cache && cache_find(cache, subject, symbol, &answer))
		return typing_of(&answer, ret);
	TRY(use_hints(knowledge, options));
	return infer_subject(knowledge, subject, symbol, explain, ret);
}

struct error *infer_symbol(struct target *target, const struct infer_options *options,
			   const struct symbol *symbol, bool explain, struct typing *ret)
{
	struct infer_options settled = settle(target, options);
	struct subject subject;
	if (!subject_of_symbol(target, symbol, &subject)) {
		*ret = (struct typing){ 0 };
		return NULL;
	}
	struct knowledge *knowledge = NULL;
	struct inference *inference;
	struct error *error = inference_get(target, &inference);
	if (!error)
		return infer_kept(inference, &settled, &subject, symbol, explain, ret);
	error_free(error);
	error = knowledge_create(target, &knowledge);
	if (!error)
		error = use_hints(knowledge, &settled);
	if (!error)
		error = infer_subject(knowledge, &subject, symbol, explain, ret);
	knowledge_destroy(knowledge);
	return error;
}

/* --- all of them ---------------------------------------------------------------------------- */

/* What one thread works with. */
struct member {
	struct knowledge knowledge; /* a copy */
	struct one one;
	struct solver solver; /* of the kernel's types */
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
	uint32_t *open; /* the subjects that are asked in this round */
	struct pointer_walk *walk;
	typing_visitor *visit;
	void *context;
};

static struct error *solve_one(struct whole *whole, struct one *one, size_t index)
{
	const struct subject *subject = &whole->subjects->items[index];
	struct answer *answer = &whole->answers[index];
	struct symbol symbol;
	symtab_get(whole->target->symbols, subject->symbol, &symbol);
	TRY(ask(one, subject, &symbol,
		index < whole->code.count ? &whole->code.items[index] : NULL));
	TRY(conclude(one, answer));
	/* All addresses of the kernel have such a byte. */
	answer->may_point = memchr(one->bytes, 0xff, one->question.size) != NULL;
	return NULL;
}

static struct error *visit_one(struct whole *whole, size_t index)
{
	const struct subject *subject = &whole->subjects->items[index];
	struct typing typing;
	struct symbol symbol;
	symtab_get(whole->target->symbols, subject->symbol, &symbol);
	TRY(typing_of(&whole->answers[index], &typing));
	struct error *error = whole->visit(whole->context, subject, &symbol, &typing);
	typing_deinit(&typing);
	return error;
}

static struct error *spread_all(struct whole *whole, size_t *ret_new)
{
	const struct layout *layout = whole->layout;
	for (size_t i = 0; i < whole->subjects->count; i++) {
		const struct answer *answer = &whole->answers[i];
		const struct subject *subject = &whole->subjects->items[i];
		struct typed typed = { subject->address, layout, answer->type, answer->count };
		if (answer->confidence < CONFIDENCE_INFERRED || subject->module)
			continue;
		TRY(knowledge_set_type(whole->knowledge, &typed));
		TRY(pointer_walk_add(whole->walk, layout, subject->address, answer->type,
				     answer->count));
	}
	return pointer_walk_run(whole->walk, ret_new);
}

static bool points_at_typed(struct one *one, const struct subject *subject)
{
	uint32_t size = read_bytes(one, subject);
	bool big_endian = one->knowledge->target->facts->big_endian;
	for (uint32_t i = 0; i + 8 <= size; i++) {
		uint64_t value = load_u64(one->bytes + i, big_endian);
		if (is_kernel_pointer(value) && knowledge_type_at(one->knowledge, value))
			return true;
	}
	return false;
}

/* Is it worth to ask again? Facts came after the first `known` ones, or what it points at is known
 * since the first round. */
static bool is_open(struct whole *whole, size_t index, int round, size_t known)
{
	const struct subject *subject = &whole->subjects->items[index];
	const struct answer *answer = &whole->answers[index];
	return !round ||
	       (round == 1 && answer->confidence < CONFIDENCE_INFERRED && answer->may_point &&
		points_at_typed(&whole->members[0].one, subject)) ||
	       knowledge_has_news(whole->knowledge, subject->address, subject->room, known);
}

/* The copies of the threads know what is known now. */
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
			TRY(spread_all(whole, &found));
		if (!found && round)
			break;
	}
	return NULL;
}

/* Names of what is typed by now teach what the rest may be. */
static struct error *learn_names(struct whole *whole)
{
	struct families *families;
	struct symbol symbol;
	TRY(families_create(&families));
	families_destroy(whole->knowledge->families);
	whole->knowledge->families = families;
	for (size_t i = 0; i < whole->subjects->count; i++) {
		const struct answer *answer = &whole->answers[i];
		bool is_likely = answer->confidence >= CONFIDENCE_INFERRED ||
				 (answer->score >= LIKELY_SCORE && answer->margin >= LIKELY_MARGIN);
		if (!is_likely || whole->subjects->items[i].module)
			continue;
		symtab_get(whole->target->symbols, whole->subjects->items[i].symbol, &symbol);
		TRY(families_learn(families, symbol.name, answer->type));
	}
	families_settle(families);
	return NULL;
}

/* What clues did not settle is asked once more, with all types that its bytes allow. */
static struct error *refine_kernel(struct whole *whole)
{
	struct work work = { .block = 16, .step = solve_open, .from = 85, .to = 94 };
	TRY(learn_names(whole));
	TRY(share(whole));
	for (unsigned int i = 0; i < whole->member_count; i++)
		whole->members[i].one.refines = true;
	for (size_t i = 0; i < whole->subjects->count; i++)
		if (!whole->subjects->items[i].module &&
		    whole->answers[i].confidence < CONFIDENCE_INFERRED)
			whole->open[work.count++] = (uint32_t)i;
	return run_work(whole, work);
}

static struct error *weigh_bytes(void *context, unsigned int worker, size_t number)
{
	struct whole *whole = context;
	struct one *one = &whole->members[worker].one;
	size_t index = whole->open[number];
	const struct subject *subject = &whole->subjects->items[index];
	struct symbol symbol;
	symtab_get(whole->target->symbols, subject->symbol, &symbol);
	read_subject(one, subject, &symbol);
	agree_with_bytes(&one->question, &whole->answers[index]);
	return NULL;
}

/* By now it is known what lies where pointers point at. */
static struct error *confirm_kernel(struct whole *whole)
{
	struct work work = { .block = 64, .step = weigh_bytes, .from = 94, .to = 95 };
	for (size_t i = 0; i < whole->subjects->count; i++) {
		const struct answer *answer = &whole->answers[i];
		const struct subject *subject = &whole->subjects->items[i];
		struct typed typed = { subject->address, whole->layout, answer->type,
				       answer->count };
		if (subject->module)
			continue;
		if (answer->confidence >= CONFIDENCE_INFERRED)
			TRY(knowledge_set_type(whole->knowledge, &typed));
		if (answer->is_open && answer->may_point)
			whole->open[work.count++] = (uint32_t)i;
	}
	TRY(share(whole));
	return run_work(whole, work);
}

static struct error *solve_in_module(struct whole *whole, struct one *one,
				     const struct module *module)
{
	for (size_t i = 0; i < whole->subjects->count; i++)
		if (whole->subjects->items[i].module == module)
			TRY(solve_one(whole, one, i));
	return NULL;
}

/* Each module has types of its own; they are laid out for as long as it takes. */
static struct error *solve_module(void *context, unsigned int worker, size_t number)
{
	struct whole *whole = context;
	struct member *member = &whole->members[worker];
	const struct module *modules;
	target_modules(whole->target, &modules);
	const struct btf *btf = target_module_btf(whole->target, &modules[number]);
	if (!btf || btf == whole->layout->btf)
		return solve_in_module(whole, &member->one, &modules[number]);
	struct layout *layout;
	struct solver solver = { 0 };
	TRY(layout_create(btf, whole->layout, &layout));
	struct error *error = solver_init(&solver, layout);
	member->one.solver = &solver;
	if (!error)
		error = solve_in_module(whole, &member->one, &modules[number]);
	member->one.solver = &member->solver;
	solver_deinit(&solver);
	layout_destroy(layout);
	return error;
}

static struct error *solve_modules(struct whole *whole)
{
	const struct module *modules;
	TRY(share(whole));
	return run_work(whole, (struct work){ .count = target_modules(whole->target, &modules),
					      .block = 1,
					      .step = solve_module,
					      .from = 95,
					      .to = 100 });
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
static void prepare_types(struct whole *whole)
{
	const struct module *modules;
	size_t count = target_modules(whole->target, &modules);
	btf_make_indexes(whole->target->btf);
	for (size_t i = 0; i < count; i++)
		btf_make_indexes(target_module_btf(whole->target, &modules[i]));
	for (size_t i = 0; whole->knowledge->hints && i < whole->subjects->count; i++) {
		const struct subject *subject = &whole->subjects->items[i];
		const struct btf *btf =
			subject->module ? target_module_btf(whole->target, subject->module) : NULL;
		struct symbol symbol;
		symtab_get(whole->target->symbols, subject->symbol, &symbol);
		hint_types_prepare(whole->knowledge, btf ? btf : whole->target->btf, &symbol);
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
	TRY(use_hints(whole->knowledge, whole->options));
	TRY(pointer_walk_create(whole->knowledge, &whole->walk));
	whole->inference->progress = whole->options->progress;
	struct error *error =
		code_clues_all(whole->inference, whole->options->threads, &whole->code);
	whole->inference->progress = NULL;
	if (error)
		return error;
	whole->subjects = &whole->inference->subjects;
	whole->answers = calloc(whole->subjects->count + 1, sizeof(*whole->answers));
	whole->open = calloc(whole->subjects->count + 1, sizeof(*whole->open));
	if (!whole->answers || !whole->open)
		return error_no_memory();
	TRY(knowledge_layout(whole->knowledge, NULL, &whole->layout));
	prepare_types(whole);
	return recruit(whole);
}

static void whole_deinit(struct whole *whole)
{
	for (unsigned int i = 0; whole->members && i < whole->member_count; i++) {
		solver_deinit(&whole->members[i].solver);
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

static struct error *infer_whole(struct whole *whole)
{
	TRY(prepare(whole));
	TRY(solve_kernel(whole));
	TRY(refine_kernel(whole));
	TRY(confirm_kernel(whole));
	return solve_modules(whole);
}

/* The answers of an earlier session, all of them, if each is right for this dump. */
static struct error *take_whole(struct whole *whole, struct knowledge *kept,
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
static void keep_whole(struct whole *whole, struct knowledge *kept)
{
	struct cache_key key;
	if (whole->options->no_cache || !cache_key_of(whole->target, whole->options, &key))
		return;
	cache_keep(whole->target, &key, whole->subjects, whole->answers);
	forget_cache(kept);
}

struct error *infer_all(struct target *target, const struct infer_options *options,
			typing_visitor *visit, void *context)
{
	struct infer_options settled = settle(target, options);
	struct whole whole = {
		.target = target, .options = &settled, .visit = visit, .context = context
	};
	struct subjects subjects = { .items = NULL };
	struct knowledge *kept;
	TRY(inference_get(target, &whole.inference));
	TRY(kept_knowledge(whole.inference, &kept));
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
