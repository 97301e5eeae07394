// SPDX-License-Identifier: GPL-3.0-or-later
/* The type of one symbol. */
#include "debugger/infer/infer.h"

#include "debugger/infer/hints/hints.h"
#include "debugger/infer/known/subjects.h"
#include "debugger/infer/whole.h"
#include "debugger/target/object.h"
#include <stdlib.h>
#include <string.h>

#define LISTED_MAX 24 /* candidates */

/*
 * What is answered comes first. The table may have named it, bytes may have ended it, the whole
 * pass may have learned it: the candidates have another length then, or another type.
 */
static void lead_with(const struct solver *solver, const struct answer *answer,
		      struct typing *typing)
{
	struct candidate first = { .type = typing->type, .score = answer->score };
	struct candidate *items = typing->candidates;
	size_t at = 0, count = typing->candidate_count;
	if (answer->confidence == CONFIDENCE_UNKNOWN)
		return;
	while (at < count && !type_equal(items[at].type, typing->type) &&
	       (solver->items[at].type != answer->type ||
		solver->items[at].count != answer->count || answer->string_size))
		at++;
	if (at < count) {
		first = items[at];
		first.type = typing->type;
	} else if (count == LISTED_MAX) {
		at--;
	} else {
		typing->candidate_count++;
	}
	memmove(items + 1, items, at * sizeof(*items));
	items[0] = first;
}

static struct error *list_candidates(const struct solver *solver, const struct answer *answer,
				     struct typing *typing)
{
	size_t count = solver->count < LISTED_MAX ? solver->count : LISTED_MAX;
	typing->candidates = calloc(LISTED_MAX, sizeof(*typing->candidates));
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
	lead_with(solver, answer, typing);
	return NULL;
}

static struct error *list_rows(struct one *one, const struct answer *answer, struct typing *typing)
{
	if (!one->knowledge->hints)
		return NULL;
	typing->rows = calloc(HINTS_A_NAME, sizeof(*typing->rows));
	if (!typing->rows)
		return error_no_memory();
	typing->row_count = agree_rows(&one->question, one->solver, answer, typing->rows);
	return NULL;
}

/* The candidates of a guess; of what is to be explained, the clues and the table's rows, too. */
static struct error *explain_typing(struct one *one, const struct answer *answer,
				    struct typing *typing)
{
	if (!one->explains && typing->confidence != CONFIDENCE_GUESS)
		return NULL;
	solver_judge_all(one->solver);
	TRY(list_candidates(one->solver, answer, typing));
	if (!one->explains)
		return NULL;
	TRY(list_rows(one, answer, typing));
	typing->clues = one->clues;
	one->clues = (struct clues){ 0 };
	return NULL;
}

/* `known`: the answer, where the whole pass has given it; NULL. */
static struct error *infer_with(struct one *one, const struct symbol *symbol,
				const struct subject *subject, const struct answer *known,
				struct typing *ret)
{
	struct answer answer;
	struct typing typing;
	TRY(one_ask(one, subject, symbol, NULL));
	TRY(one_conclude(one, &answer));
	if (known)
		answer = *known;
	TRY(typing_of_answer(&answer, &typing));
	struct error *error = explain_typing(one, &answer, &typing);
	if (error) {
		typing_deinit(&typing);
		return error;
	}
	*ret = typing;
	return NULL;
}

static struct error *infer_subject(struct knowledge *knowledge, const struct subject *subject,
				   const struct symbol *symbol, bool explain,
				   const struct answer *known, struct typing *ret)
{
	const struct layout *layout;
	struct solver solver = { 0 };
	TRY(knowledge_layout(knowledge, subject->module, &layout));
	struct one *one = calloc(1, sizeof(*one));
	struct error *error = one ? solver_init(&solver, layout) : error_no_memory();
	if (!error) {
		one->knowledge = knowledge;
		one->refines = true;
		one->explains = explain;
		one->solver = &solver;
		error = infer_with(one, symbol, subject, known, ret);
		one_end(one);
	}
	solver_deinit(&solver);
	free(one);
	return error;
}

static bool find_in_cache(struct remembered *kept, const struct infer_options *options,
			  const struct subject *subject, const struct symbol *symbol,
			  struct answer *ret)
{
	struct cache *cache = kept_cache(kept, options);
	return cache && cache_find(cache, subject, symbol, ret);
}

/*
 * Without the shipped table variables learn from one another, so all are asked before one is
 * answered for: whatever was asked before, the answer is the same.
 */
static struct error *infer_learned(struct inference *inference, const struct infer_options *options,
				   const struct subject *subject, const struct symbol *symbol,
				   bool explain, struct typing *ret)
{
	struct remembered *kept = inference->remembered;
	uint64_t offset;
	if (!kept->answers)
		TRY(infer_together(inference, options, kept));
	const struct subject *known = subject_at(&inference->subjects, subject->address, &offset);
	bool has_answer = known && !offset && known->symbol == subject->symbol;
	const struct answer *answer = has_answer ? &kept->answers[known - inference->subjects.items]
						 : NULL;
	if (answer && !explain)
		return typing_of_answer(answer, ret);
	return infer_subject(kept->knowledge, subject, symbol, explain, answer, ret);
}

static struct error *infer_kept(struct inference *inference, const struct infer_options *options,
				const struct subject *subject, const struct symbol *symbol,
				bool explain, struct typing *ret)
{
	struct remembered *kept;
	struct answer answer;
	TRY(kept_get(inference, &kept));
	/* `whatis -v` shows evidence, which the cache does not have. */
	if (!explain && find_in_cache(kept, options, subject, symbol, &answer))
		return typing_of_answer(&answer, ret);
	if (options->no_hints)
		return infer_learned(inference, options, subject, symbol, explain, ret);
	TRY(infer_use_hints(kept->knowledge, options));
	return infer_subject(kept->knowledge, subject, symbol, explain, NULL, ret);
}

/* Takes the candidates of what nobody wants explained. */
static void keep_guess(struct remembered *kept, const struct symbol *symbol, struct typing *typing)
{
	free(kept->guesses);
	kept->guesses = typing->candidates;
	kept->guess_count = typing->candidate_count;
	kept->guess_symbol = symbol->number;
	typing->candidates = NULL;
	typing->candidate_count = 0;
}

struct error *infer_symbol(struct target *target, const struct infer_options *options,
			   const struct symbol *symbol, bool explain, struct typing *ret)
{
	struct infer_options settled = infer_options_settle(target, options);
	struct subject subject;
	if (!subject_of_symbol(target, symbol, &subject)) {
		*ret = (struct typing){ 0 };
		return NULL;
	}
	struct knowledge *knowledge = NULL;
	struct inference *inference;
	struct error *error = inference_get(target, &inference);
	if (!error) {
		TRY(infer_kept(inference, &settled, &subject, symbol, explain, ret));
		if (!explain && !options)
			keep_guess(inference->remembered, symbol, ret);
		return NULL;
	}
	error_free(error);
	error = knowledge_create(target, &knowledge);
	if (!error)
		error = infer_use_hints(knowledge, &settled);
	if (!error)
		error = infer_subject(knowledge, &subject, symbol, explain, NULL, ret);
	knowledge_destroy(knowledge);
	return error;
}

struct error *infer_candidates(struct target *target, const struct symbol *symbol,
			       struct typing *ret)
{
	struct inference *inference;
	struct error *error = inference_get(target, &inference);
	struct remembered *kept = error ? NULL : inference->remembered;
	error_free(error);
	/* Else it came from the cache, or another one was made since. */
	if (!kept || !kept->guesses || kept->guess_symbol != symbol->number)
		return infer_symbol(target, NULL, symbol, true, ret);
	*ret = (struct typing){ .candidates = kept->guesses, .candidate_count = kept->guess_count };
	kept->guesses = NULL;
	return NULL;
}
