// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A second look where clues do not settle it: all types of BTF whose outline fits are candidates
 * too, and each candidate is measured by how well it explains the symbol's bytes.
 */
#include "base/array.h"
#include "debugger/infer/evidence/own_data_fit.h"
#include "debugger/infer/known/names_family.h"
#include "debugger/infer/solve/solve.h"
#include <string.h>

#define TYPED_MIN	 7
#define SEARCHED_PRIOR	 -4
#define AGAINST_MAX	 3
#define ROOM_MIN	 16
#define KIN_POINTS_MIN	 7 /* bits that the name must tell */
#define SLACK_MAX	 64
#define POINTEE_BITS_MIN 9
#define SEARCHED_MAX	 16
#define MEASURED_MAX	 64
#define BITS_A_POINT	 1
#define PENALTY_MAX	 40
#define OTHERWISE_COST	 (30 * FIT_BIT)
#define COST_MAX	 (1 << 24)
#define APART_MIN	 3 /* places */
#define APART_COST	 (12 * FIT_BIT)
#define SELDOM_COST	 FIT_BIT

/* Numbers of 4 bytes most often have no sign in arrays, and one otherwise. */
static bool is_seldom(const struct question *question, const struct scored *item)
{
	const struct layout_record *record = &question->layout->records[item->type];
	bool has_sign = record->encoding & BTF_INT_SIGNED;
	return record->kind == BTF_INT && record->size == 4 && has_sign == (item->count != 0);
}

static int measure(const struct question *question, struct fit *fit, const struct scored *item)
{
	int cost = fit_cost(fit, item->type, item->count, COST_MAX);
	cost += fit_prior(fit, item->type, item->is_direct);
	if (!item->is_direct && is_seldom(question, item))
		cost += SELDOM_COST;
	if (!item->is_direct || layout_kind(question->layout, item->type) == BTF_PTR)
		cost -= fit_name(fit, item->type);
	return cost;
}

/* A number is read and written as a whole: is it, by all that code does? */
static bool is_accessed_otherwise(const struct solver *solver, const struct scored *item,
				  uint64_t *ret_where)
{
	uint32_t size = layout_size(solver->layout, item->type);
	bool is_accessed = false;
	for (size_t i = 0; i < solver->wish_count; i++) {
		const struct wish *wish = &solver->wishes[i];
		if (wish->source != SOURCE_CODE ||
		    (wish->kind != CLUE_ACCESS && wish->kind != CLUE_STRIDE))
			continue;
		if (wish->size == size)
			return false;
		is_accessed = true;
		*ret_where = wish->where;
	}
	return is_accessed && !layout_is_compound(solver->layout, item->type) &&
	       layout_kind(solver->layout, item->type) != BTF_ARRAY;
}

/*
 * Numbers that code takes from several places of their own, and never by an index, are members more
 * often than elements.
 */
static bool is_picked_apart(const struct solver *solver, const struct scored *item)
{
	uint32_t places = 0;
	uint64_t seen = 0;
	if (!item->count || item->is_proved || layout_is_compound(solver->layout, item->type))
		return false;
	for (size_t i = 0; i < solver->wish_count; i++) {
		const struct wish *wish = &solver->wishes[i];
		uint64_t bit = (uint64_t)1 << wish->offset / 4 % 64;
		if (wish->source != SOURCE_CODE || wish->kind != CLUE_ACCESS || seen & bit)
			continue;
		seen |= bit;
		places++;
	}
	return places >= APART_MIN;
}

/* There is no other evidence than the name: tries the types of variables with similar names. */
static void ask_kin(const struct question *question, struct solver *solver)
{
	struct name_word words[NAME_WORDS_MAX];
	struct kinship kin[NAMES_KIN_MAX];
	size_t word_count = name_words(question->symbol->name, words);
	size_t count = names_kin(question, words, word_count, kin);
	uint64_t room = question->subject->room;
	for (size_t i = 0; i < count; i++) {
		uint32_t size = layout_size(question->layout, kin[i].type);
		if (kin[i].points < KIN_POINTS_MIN || !size || size > room ||
		    room % size >= SLACK_MAX)
			continue;
		uint32_t elements = (uint32_t)(room / size);
		struct scored *item =
			solver_consider(solver, kin[i].type, elements > 1 ? elements : 0);
		if (!item)
			continue;
		item->is_refined = true;
		item->score = (int16_t)(item->score + kin[i].points);
	}
}

/* A pointer to a type that the name tells so many bits of. */
static void add_pointee(struct solver *solver, uint32_t target, int bits, int score)
{
	uint32_t pointer = solver->layout->records[target].pointer;
	struct scored *item =
		pointer && bits >= POINTEE_BITS_MIN ? solver_consider(solver, pointer, 0) : NULL;
	if (!item || item->rejected)
		return;
	item->is_refined = true;
	if (item->score < score + bits)
		item->score = (int16_t)(score + bits);
}

static bool is_hash(const struct name_word *word)
{
	static const char *const endings[] = { "hash", "hashtable" };
	for (size_t i = 0; i < ARRAY_COUNT(endings); i++) {
		size_t length = strlen(endings[i]);
		if (word->length >= length &&
		    !strncmp(word->start + word->length - length, endings[i], length))
			return true;
	}
	return false;
}

/*
 * Used as a pointer, and nothing says to what. Hardly a variable is a void *: what its name says is
 * right more often.
 */
static void ask_pointees(const struct question *question, struct solver *solver)
{
	const struct layout *layout = question->layout;
	const struct outlines *outlines = layout->outlines;
	struct name_word words[NAME_WORDS_MAX];
	struct kinship kin[NAMES_KIN_MAX];
	size_t count = name_words(question->symbol->name, words);
	size_t kin_count = names_kin(question, words, count, kin);
	uint64_t bits = name_bits(words, count);
	int score = solver->items[0].score;
	/* "inode_hashtable" points at no inode, but at heads of chains. */
	if (count && is_hash(&words[count - 1])) {
		add_pointee(solver, layout_find(layout, BTF_STRUCT, "hlist_head"), POINTEE_BITS_MIN,
			    score - POINTEE_BITS_MIN + 1);
		return;
	}
	for (size_t i = 0; i < outlines->count; i++) {
		const struct outline *outline = &outlines->items[i];
		int points = outlines_name_points(outlines, outline, words, count, bits);
		if (points >= POINTEE_BITS_MIN)
			add_pointee(solver, outline->type, points, score - POINTEE_BITS_MIN);
	}
	for (size_t i = 0; i < kin_count; i++)
		if (layout_kind(layout, kin[i].type) == BTF_PTR)
			add_pointee(solver, layout_target(layout, kin[i].type), kin[i].points,
				    score - POINTEE_BITS_MIN);
}

static bool is_any_pointer(const struct solver *solver)
{
	const struct scored *best = solver->items;
	return solver->count && !best->count && !best->rejected &&
	       layout_kind(solver->layout, best->type) == BTF_PTR &&
	       !layout_target(solver->layout, best->type);
}

struct error *own_data_refine(void *context, struct solver *solver)
{
	const struct question *question = context;
	struct fitted found[SEARCHED_MAX];
	int costs[MEASURED_MAX + SEARCHED_MAX], best = FIT_IMPOSSIBLE;
	if (!solver->wish_count)
		ask_kin(question, solver);
	if (is_any_pointer(solver))
		ask_pointees(question, solver);
	/* So few bytes prove less than the way in which code accesses them. */
	bool is_small = question->subject->room <= ROOM_MIN;
	if ((is_small && solver_confidence(solver) != CONFIDENCE_UNKNOWN) || !question->size)
		return NULL;
	struct fit *fit = fit_borrow(question);
	if (!fit)
		return NULL;
	if (solver->count > MEASURED_MAX)
		solver->count = MEASURED_MAX;
	bool is_named = solver->count && !solver->items->rejected &&
			solver->items->typed >= TYPED_MIN &&
			!is_picked_apart(solver, solver->items) && !solver_is_outgrown(solver);
	size_t count = is_named ? 0 : fit_search(fit, found, SEARCHED_MAX);
	for (size_t i = 0; i < count; i++)
		(void)solver_consider(solver, found[i].type, found[i].count);
	for (size_t i = 0; i < solver->count; i++) {
		struct scored *item = &solver->items[i];
		uint64_t where;
		/* What bytes and gap gave or took in points is counted in bits instead, */
		item->score = (int16_t)(item->score - item->data - item->gap);
		if (item->data < 0 && item->against <= AGAINST_MAX && item->rejected_by != NOWHERE)
			item->rejected = NULL;
		/* and how rare the type is. */
		if (item->prior < SEARCHED_PRIOR &&
		    layout_is_compound(question->layout, item->type))
			item->score = (int16_t)(item->score + SEARCHED_PRIOR - item->prior);
		costs[i] = measure(question, fit, &solver->items[i]);
		if (is_picked_apart(solver, item))
			costs[i] += APART_COST;
		if (!item->rejected && is_accessed_otherwise(solver, item, &where)) {
			/* Text is copied by words. */
			if (layout_size(question->layout, item->type) == 1) {
				costs[i] += OTHERWISE_COST;
			} else {
				item->rejected = "is accessed in another size";
				item->rejected_by = where;
			}
		}
		if (!solver->items[i].rejected && costs[i] < best)
			best = costs[i];
	}
	fit_return(question, fit);
	for (size_t i = 0; i < solver->count; i++) {
		int points = (costs[i] - best) / (BITS_A_POINT * FIT_BIT);
		struct scored *item = &solver->items[i];
		item->is_refined = true;
		item->score =
			(int16_t)(item->score - (points < PENALTY_MAX ? points : PENALTY_MAX));
	}
	return NULL;
}
