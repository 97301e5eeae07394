// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Without the shipped table variables learn from one another: types spread along pointers until
 * nothing is new, and what names go with is learned from those that are typed.
 */
#include "debugger/infer/whole.h"

#include "base/bytes.h"
#include "debugger/infer/known/names_family.h"
#include "debugger/infer/number_tables.h"
#include "debugger/infer/siblings.h"
#include "debugger/target/object.h"
#include <stdlib.h>

#define ROUNDS_MAX    4
#define LIKELY_SCORE  5 /* points of a guess, from which on others learn from it */
#define LIKELY_MARGIN 2
#define CLEAR_MARGIN  8

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

static struct error *guess_open(void *context, unsigned int worker, size_t number)
{
	struct whole *whole = context;
	struct answer *answer = &whole->answers[whole->open[number]];
	TRY(whole_solve_open(context, worker, number));
	if (answer->confidence > CONFIDENCE_GUESS)
		answer->confidence = CONFIDENCE_GUESS;
	return NULL;
}

/* What is asked in one round does not depend on what else is asked in it. */
static struct error *solve_round(struct whole *whole, int round, size_t known)
{
	static const unsigned int percents[ROUNDS_MAX + 1] = { 40, 65, 80, 83, 85 };
	struct work work = { .block = 32,
			     .step = whole_solve_open,
			     .from = percents[round],
			     .to = percents[round + 1] };
	TRY(whole_share(whole));
	for (size_t i = 0; i < whole->subjects->count; i++)
		if (!whole->subjects->items[i].module && is_open(whole, i, round, known))
			whole->open[work.count++] = (uint32_t)i;
	return whole_run(whole, work);
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
	struct work work = { .block = 16, .step = whole_solve_open, .from = 85, .to = 92 };
	TRY(learn_names(whole, false));
	TRY(whole_share(whole));
	for (unsigned int i = 0; i < whole->member_count; i++)
		whole->members[i].one.refines = true;
	for (size_t i = 0; i < whole->subjects->count; i++)
		if (!whole->subjects->items[i].module &&
		    whole->answers[i].confidence < CONFIDENCE_INFERRED)
			whole->open[work.count++] = (uint32_t)i;
	return whole_run(whole, work);
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
	TRY(whole_share(whole));
	for (size_t i = 0; i < whole->subjects->count; i++)
		if (!whole->subjects->items[i].module &&
		    whole->answers[i].confidence < CONFIDENCE_INFERRED &&
		    ((is_first && is_vague(&whole->answers[i])) ||
		     has_news(whole, &whole->subjects->items[i], &whole->answers[i], known)))
			whole->open[work.count++] = (uint32_t)i;
	return whole_run(whole, work);
}

/* Tells those that tables of pointers lead to what all of them are. */
static struct error *teach_pointees(struct whole *whole)
{
	uint32_t *types = calloc(whole->subjects->count + 1, sizeof(*types));
	struct error *error = types ? whole_share(whole) : error_no_memory();
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

struct error *whole_learn(struct whole *whole)
{
	TRY(pointer_walk_create(whole->knowledge, &whole->walk));
	TRY(solve_kernel(whole));
	TRY(refine_kernel(whole));
	TRY(refine_again(whole));
	return settle_types(whole);
}
