// SPDX-License-Identifier: GPL-3.0-or-later
/* The sources are asked, the solver decides, types spread along pointers until nothing is new. */
#include "debugger/infer/infer.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/infer/agree.h"
#include "debugger/infer/code.h"
#include "debugger/infer/hints.h"
#include "debugger/infer/knowledge.h"
#include "debugger/infer/pointers.h"
#include "debugger/infer/solve.h"
#include "debugger/infer/sources.h"
#include "debugger/target/object.h"
#include <stdlib.h>
#include <string.h>

#define SYMBOL_BYTES_MAX 4096 /* of a symbol, looked at */
#define ROUNDS_MAX	 4

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
	uint8_t bytes[SYMBOL_BYTES_MAX];
};

static enum subject_place place_of(char kind)
{
	return strchr("rR", kind) ? PLACE_RODATA : strchr("bB", kind) ? PLACE_BSS : PLACE_DATA;
}

static struct error *ask(struct one *one, const struct subject *subject,
			 const struct symbol *symbol, const struct clues *code)
{
	struct error *why;
	struct question *question = &one->question;
	*question = (struct question){ .knowledge = one->knowledge,
				       .subject = subject,
				       .symbol = symbol,
				       .layout = one->solver->layout,
				       .bytes = one->bytes,
				       .is_constant = place_of(symbol->kind) == PLACE_RODATA };
	size_t size = subject->room < sizeof(one->bytes) ? (size_t)subject->room
							 : sizeof(one->bytes);
	question->size = (uint32_t)memory_read_some(one->knowledge->target->memory,
						    subject->address, one->bytes, size, &why);
	error_free(why);
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
					    .context = question };
	return solve(one->solver, &one->input);
}

/* The solver's answer and the table's. */
static struct error *conclude(struct one *one, struct answer *ret)
{
	struct answer answer = answer_of(one->solver);
	if (one->knowledge->hints)
		TRY(agree_with_hints(&one->question, one->solver, &answer));
	*ret = answer;
	return NULL;
}

static struct error *typing_of(const struct layout *layout, const struct answer *answer,
			       struct typing *ret)
{
	struct scored item = { .type = answer->type, .count = answer->count };
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
	if (!answer->hinted.btf)
		return scored_type(layout, &item, &ret->type);
	if (answer->count)
		return type_array_of(answer->hinted, answer->count / answer->row, &ret->type);
	ret->type = answer->hinted;
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
	TRY(typing_of(one->solver->layout, &answer, &typing));
	error = explain ? explain_typing(one, &typing) : NULL;
	if (error) {
		typing_deinit(&typing);
		return error;
	}
	*ret = typing;
	return NULL;
}

/* The table, unless it is turned off; `without`: a kernel whose own rows do not count. */
static struct error *use_hints(struct knowledge *knowledge, const struct infer_options *options)
{
	if (options && options->no_hints)
		return NULL;
	TRY(hints_create(&knowledge->hints));
	knowledge->hint_kernels = 0xff;
	if (options && options->without)
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
		one->solver = &solver;
		error = infer_with(one, symbol, subject, explain, ret);
		clues_deinit(&one->clues);
	}
	solver_deinit(&solver);
	free(one);
	return error;
}

/* What was learnt for one question serves the next. */
static struct error *kept_knowledge(struct inference *inference,
				    const struct infer_options *options, struct knowledge **ret)
{
	if (!inference->knowledge) {
		TRY(knowledge_create(inference->target, &inference->knowledge));
		inference->knowledge_destroy = knowledge_destroy;
		TRY(use_hints(inference->knowledge, options));
	}
	*ret = inference->knowledge;
	return NULL;
}

struct error *infer_symbol(struct target *target, const struct infer_options *options,
			   const struct symbol *symbol, bool explain, struct typing *ret)
{
	struct subject subject;
	if (!subject_of_symbol(target, symbol, &subject)) {
		*ret = (struct typing){ 0 };
		return NULL;
	}
	struct knowledge *knowledge = NULL;
	struct inference *inference;
	struct error *error = inference_get(target, &inference);
	bool is_kept = !error;
	error_free(error);
	error = is_kept ? kept_knowledge(inference, options, &knowledge)
			: knowledge_create(target, &knowledge);
	if (!error)
		error = infer_subject(knowledge, &subject, symbol, explain, ret);
	if (!is_kept)
		knowledge_destroy(knowledge);
	return error;
}

/* --- all of them ---------------------------------------------------------------------------- */

struct whole {
	struct target *target;
	struct knowledge *knowledge;
	struct one *one;
	struct solver solver; /* of the kernel */
	struct inference *inference;
	const struct subjects *subjects;
	struct code_clues code;
	struct answer *answers;
	struct pointer_walk *walk;
	typing_visitor *visit;
	void *context;
};

static struct error *solve_one(struct whole *whole, size_t index)
{
	const struct subject *subject = &whole->subjects->items[index];
	struct symbol symbol;
	if (index % 256 == 0)
		TRY(interrupt_check());
	symtab_get(whole->target->symbols, subject->symbol, &symbol);
	TRY(ask(whole->one, subject, &symbol,
		index < whole->code.count ? &whole->code.items[index] : NULL));
	return conclude(whole->one, &whole->answers[index]);
}

static struct error *visit_one(struct whole *whole, size_t index)
{
	const struct subject *subject = &whole->subjects->items[index];
	struct typing typing;
	struct symbol symbol;
	symtab_get(whole->target->symbols, subject->symbol, &symbol);
	TRY(typing_of(whole->one->solver->layout, &whole->answers[index], &typing));
	struct error *error = whole->visit(whole->context, subject, &symbol, &typing);
	typing_deinit(&typing);
	return error;
}

static struct error *spread_all(struct whole *whole, size_t *ret_new)
{
	const struct layout *layout = whole->solver.layout;
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

/* Is it worth to ask again? Facts came after the first `known` ones, or what it points at may be
 * known now. */
static bool is_open(const struct whole *whole, size_t index, int round, size_t known)
{
	const struct subject *subject = &whole->subjects->items[index];
	if (!round || (round == 1 && whole->answers[index].confidence < CONFIDENCE_INFERRED))
		return true;
	return knowledge_has_news(whole->knowledge, subject->address, subject->room, known);
}

static struct error *solve_kernel(struct whole *whole)
{
	size_t facts = 0;
	whole->one->solver = &whole->solver;
	for (int round = 0; round < ROUNDS_MAX; round++) {
		size_t found = 0;
		for (size_t i = 0; i < whole->subjects->count; i++)
			if (!whole->subjects->items[i].module && is_open(whole, i, round, facts))
				TRY(solve_one(whole, i));
		facts = whole->knowledge->fact_count;
		if (round + 1 < ROUNDS_MAX)
			TRY(spread_all(whole, &found));
		if (!found && round)
			break;
	}
	for (size_t i = 0; i < whole->subjects->count; i++)
		if (!whole->subjects->items[i].module)
			TRY(visit_one(whole, i));
	return NULL;
}

/* Each module has types of its own; they are laid out for as long as it takes. */
static struct error *solve_module(struct whole *whole, const struct module *module)
{
	const struct layout *layout;
	struct solver solver;
	TRY(knowledge_layout(whole->knowledge, module, &layout));
	TRY(solver_init(&solver, layout));
	struct error *error = NULL;
	whole->one->solver = &solver;
	for (size_t i = 0; i < whole->subjects->count && !error; i++) {
		if (whole->subjects->items[i].module != module)
			continue;
		error = solve_one(whole, i);
		if (!error)
			error = visit_one(whole, i);
	}
	solver_deinit(&solver);
	if (layout != whole->solver.layout)
		knowledge_drop_layout(whole->knowledge, layout);
	return error;
}

static struct error *solve_modules(struct whole *whole)
{
	const struct module *modules;
	size_t count = target_modules(whole->target, &modules);
	for (size_t i = 0; i < count; i++)
		TRY(solve_module(whole, &modules[i]));
	return NULL;
}

static struct error *prepare(struct whole *whole)
{
	TRY(knowledge_create(whole->target, &whole->knowledge));
	whole->one = calloc(1, sizeof(*whole->one));
	if (!whole->one)
		return error_no_memory();
	whole->one->knowledge = whole->knowledge;
	TRY(pointer_walk_create(whole->knowledge, &whole->walk));
	TRY(inference_get(whole->target, &whole->inference));
	TRY(code_clues_all(whole->inference, 0, &whole->code));
	whole->subjects = &whole->inference->subjects;
	whole->answers = calloc(whole->subjects->count + 1, sizeof(*whole->answers));
	return whole->answers ? NULL : error_no_memory();
}

struct error *infer_all(struct target *target, const struct infer_options *options,
			typing_visitor *visit, void *context)
{
	struct whole whole = { .target = target, .visit = visit, .context = context };
	const struct layout *layout;
	struct error *error = prepare(&whole);
	if (!error)
		error = use_hints(whole.knowledge, options);
	if (!error)
		error = knowledge_layout(whole.knowledge, NULL, &layout);
	if (!error)
		error = solver_init(&whole.solver, layout);
	if (!error)
		error = solve_kernel(&whole);
	if (!error)
		error = solve_modules(&whole);
	pointer_walk_destroy(whole.walk);
	solver_deinit(&whole.solver);
	if (whole.one)
		clues_deinit(&whole.one->clues);
	free(whole.one);
	code_clues_deinit(&whole.code);
	free(whole.answers);
	knowledge_destroy(whole.knowledge);
	return error;
}
