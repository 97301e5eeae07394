// SPDX-License-Identifier: GPL-3.0-or-later
/* The choice among candidates. */
#include "debugger/infer/solve/solve.h"

#include "base/array.h"
#include "debugger/infer/solve/array_length.h"
#include <stdlib.h>
#include <string.h>

#define ARRAYS_MAX 4

#define UP_CAST_HOLDERS 5 /* structs that begin with a type, from which on it is a base of many */
#define OWN_DEPTH	1 /* of what begins with a type: what begins with that, too */

#define GUESS_MIN    -60 /* points; below that, nothing is said */
#define REJECTED_MIN 0	 /* points; of what something contradicts */

#define GAP_MAX 4096 /* bytes; a larger one is something else's, or a larger type's */

#define NO_POINTS (-1000000) /* less than any candidate has */

struct error *solver_init(struct solver *solver, const struct layout *layout)
{
	*solver = (struct solver){ .matches = calloc(MATCHES_CACHE, sizeof(*solver->matches)) };
	return solver->matches ? solver_use(solver, layout) : error_no_memory();
}

struct error *solver_use(struct solver *solver, const struct layout *layout)
{
	solver->layout = layout;
	memset(solver->matches, 0, MATCHES_CACHE * sizeof(*solver->matches));
	if (layout->end < solver->mark_count)
		return NULL;
	/* Marks of earlier questions have other stamps. */
	free(solver->marks);
	solver->marks = calloc((size_t)layout->end + 1, sizeof(*solver->marks));
	solver->mark_count = solver->marks ? layout->end + 1 : 0;
	return solver->marks ? NULL : error_no_memory();
}

void solver_deinit(struct solver *solver)
{
	free(solver->marks);
	free(solver->items);
	free(solver->wishes);
	free(solver->matches);
	*solver = (struct solver){ 0 };
}

/* --- the choice -------------------------------------------------------------------------- */

static int compare_scored(const void *left, const void *right)
{
	const struct scored *a = left, *b = right;
	if (!a->rejected != !b->rejected)
		return a->rejected ? 1 : -1;
	if (a->score != b->score)
		return a->score < b->score ? 1 : -1;
	if (a->is_direct != b->is_direct)
		return a->is_direct ? -1 : 1;
	if (!a->count != !b->count)
		return a->count ? 1 : -1;
	return a->type < b->type ? -1 : a->type > b->type;
}

struct scored *solver_consider(struct solver *solver, uint32_t type, uint32_t count)
{
	struct scored *item = solver_find(solver, type, count);
	if (item)
		return item;
	size_t before = solver->count;
	solver_add(solver, (struct scored){ .type = type,
					    .count = count,
					    .prior = points_of(solver, RULE_SEARCHED) });
	if (solver->count == before)
		return NULL;
	item = &solver->items[before];
	solver_check(solver, item);
	return item;
}

bool solver_is_outgrown(const struct solver *solver)
{
	const struct layout *layout = solver->layout;
	const struct scored *best = solver->items;
	if (!solver->count || !best->count || best->is_proved ||
	    !layout_is_compound(layout, best->type) ||
	    solver->input->in_use <= layout_size(layout, best->type))
		return false;
	/* Another of them is known. */
	for (size_t i = 0; i < solver->wish_count; i++)
		if (solver->wishes[i].type && solver->wishes[i].source != SOURCE_NAME &&
		    solver->wishes[i].offset >= layout_size(layout, best->type))
			return false;
	for (uint32_t i = layout->records[best->type].holders; i != HOLDER_NONE;
	     i = layout->holders[i].next)
		if (!layout->holders[i].offset &&
		    layout_size(layout, layout->holders[i].type) <= solver->input->subject->room)
			return true;
	return false;
}

static struct error *refine(struct solver *solver)
{
	if (solver->count)
		solver->settled = solver->items[0];
	solver->settled_margin = solver_margin(solver);
	struct error *error = solver->input->refine(solver->input->context, solver);
	if (error)
		return error;
	if (solver->out_of_memory)
		return error_no_memory();
	if (solver->count)
		array_sort(solver->items, solver->count, sizeof(*solver->items), compare_scored);
	return NULL;
}

void solver_judge_all(struct solver *solver)
{
	for (size_t i = 0; i < solver->count; i++)
		if (!solver->items[i].is_judged)
			solver_judge(solver, &solver->items[i]);
	array_sort(solver->items, solver->count, sizeof(*solver->items), compare_scored);
}

static bool is_twin(const struct solver *solver, uint32_t type, const struct scored *best)
{
	return type == best->type || layout_compare(solver->layout, type, best->type) != LIKE_NOT;
}

/* Of those that are judged, the points of the best but one that is no twin of it. */
static int second_points(const struct solver *solver)
{
	const struct scored *best = NULL;
	int second = NO_POINTS;
	for (size_t i = 0; i < solver->count; i++) {
		const struct scored *item = &solver->items[i];
		if (item->is_judged && (!best || compare_scored(item, best) < 0))
			best = item;
	}
	for (size_t i = 0; i < solver->count; i++) {
		const struct scored *item = &solver->items[i];
		if (item->is_judged && !item->rejected && item->score > second &&
		    !is_twin(solver, item->type, best))
			second = item->score;
	}
	return second;
}

/* Judges those that can get `least` points or more; false: there are no others to judge. */
static bool judge_some(struct solver *solver, int least)
{
	bool others = false;
	for (size_t i = 0; i < solver->count; i++) {
		struct scored *item = &solver->items[i];
		if (item->is_judged || !solver_may_stand(item))
			continue;
		if (item->score + solver->input->judge_most < least)
			others = true;
		else
			solver_judge(solver, item);
	}
	return others;
}

/* Judges until no other can be the best, or the one that it is compared with. */
static void judge_best(struct solver *solver)
{
	int least = NO_POINTS, second;
	for (size_t i = 0; i < solver->count; i++)
		if (solver_may_stand(&solver->items[i]) && solver->items[i].score > least)
			least = solver->items[i].score;
	while (judge_some(solver, least)) {
		second = second_points(solver);
		if (second >= least)
			break;
		least = second != NO_POINTS ? second : least - solver->input->judge_most;
	}
	size_t judged = 0;
	for (size_t i = 0; i < solver->count; i++) {
		struct scored item = solver->items[i];
		if (!item.is_judged)
			continue;
		solver->items[i] = solver->items[judged];
		solver->items[judged++] = item;
	}
	array_sort(solver->items, judged, sizeof(*solver->items), compare_scored);
	/* All are contradicted: the best of them may still do as a guess. */
	if (!judged || solver->items->rejected)
		solver_judge_all(solver);
}

/* What a table of the kernel says and nothing contradicts needs no rivals. */
static bool settle_by_table(struct solver *solver)
{
	for (size_t i = 0; i < solver->wish_count; i++)
		if (solver->wishes[i].kind == CLUE_WHOLE)
			solver_grow_seed(solver, &solver->wishes[i]);
	for (size_t i = 0; i < solver->count; i++)
		solver_check(solver, &solver->items[i]);
	return solver->count == 1 && solver_confidence(solver) == CONFIDENCE_CERTAIN;
}

/* Puts the last one, which is judged, where it belongs among those that are. */
static void put_in_order(struct solver *solver)
{
	size_t last = solver->count - 1, at = 0;
	struct scored item = solver->items[last];
	while (at < last && solver->items[at].is_judged &&
	       compare_scored(&solver->items[at], &item) < 0)
		at++;
	memmove(&solver->items[at + 1], &solver->items[at], (last - at) * sizeof(item));
	solver->items[at] = item;
}

/*
 * What holds a thing that clues name is offered alone. An array of the best is one, too, if it is
 * of what is never alone, or if the name is that of several and more than one is in use.
 */
static void add_arrays(struct solver *solver)
{
	const struct layout *layout = solver->layout;
	const struct solver_input *input = solver->input;
	struct scored best[ARRAYS_MAX];
	size_t count = solver->count < ARRAYS_MAX ? solver->count : ARRAYS_MAX;
	for (size_t i = 0; i < count; i++)
		best[i] = solver->items[i];
	for (size_t i = 0; i < count; i++) {
		uint32_t type = best[i].type, size = layout_size(layout, type);
		uint64_t most = input->subject->room / size;
		bool is_many = array_ends_with_empty(layout, type) ||
			       (input->says_many && input->in_use > size);
		if (best[i].count || best[i].rejected || !layout_is_compound(layout, type) ||
		    most < 2 || !is_many || solver_find(solver, type, 1))
			continue;
		size_t before = solver->count;
		solver_add(solver,
			   (struct scored){ .type = type,
					    .count = (uint32_t)most,
					    .prior = (int16_t)(best[i].prior +
							       solver_array_prior(solver, type)) });
		if (solver->count == before)
			continue;
		solver_check(solver, &solver->items[before]);
		put_in_order(solver);
	}
}

struct error *solve(struct solver *solver, const struct solver_input *input)
{
	solver->input = input;
	solver->count = 0;
	solver->out_of_memory = false;
	solver->stamp++;
	solver->settled = (struct scored){ .type = 0 };
	if (!solver_read_clues(solver))
		return error_no_memory();
	if (input->judge_most && settle_by_table(solver))
		return NULL;
	solver->count = 0;
	solver_grow(solver);
	if (solver->out_of_memory)
		return error_no_memory();
	for (size_t i = 0; i < solver->count; i++)
		solver_check_clues(solver, &solver->items[i]);
	if (input->judge_most)
		judge_best(solver);
	else
		solver_judge_all(solver);
	add_arrays(solver);
	return NULL;
}

struct error *solver_refine(struct solver *solver)
{
	bool is_counted = solver->count && solver->items->is_counted && !solver->items->rejected;
	if (!solver->input->refine || is_counted ||
	    solver_confidence(solver) >= CONFIDENCE_INFERRED)
		return NULL;
	solver_judge_all(solver);
	return refine(solver);
}

int solver_margin(const struct solver *solver)
{
	if (!solver->count)
		return 0;
	const struct scored *best = solver->items;
	for (size_t i = 1; i < solver->count; i++) {
		const struct scored *next = &solver->items[i];
		if (next->rejected)
			break;
		if (!is_twin(solver, next->type, best))
			return best->score - next->score;
	}
	return best->score > 0 ? best->score : 0;
}

/* Whether a type that the module itself brought begins with one, or with what begins with it. */
static bool begins_own(const struct layout *layout, uint32_t type, unsigned int depth)
{
	for (uint32_t i = layout->records[type].holders; i != HOLDER_NONE;
	     i = layout->holders[i].next) {
		const struct holder *holder = &layout->holders[i];
		if (!holder->offset && (holder->type >= btf_start_id(layout->btf) ||
					(depth && begins_own(layout, holder->type, depth - 1))))
			return true;
	}
	return false;
}

/*
 * A module's pointer to what a struct of its own begins with: who calls the kernel with the address
 * of that member passes the pointer as it is.
 */
static bool may_be_own(const struct solver *solver, const struct scored *best)
{
	const struct layout *layout = solver->layout;
	uint32_t target = layout_target(layout, best->type);
	return btf_base(layout->btf) && layout_kind(layout, best->type) == BTF_PTR &&
	       layout_is_compound(layout, target) && target < btf_start_id(layout->btf) &&
	       begins_own(layout, target, OWN_DEPTH);
}

/*
 * A spinlock_t of a module, known from calls that take the raw_spinlock_t that it consists of. Of
 * the kernel's own the table knows most.
 */
static bool may_be_raw(const struct solver *solver, const struct scored *best)
{
	const struct layout *layout = solver->layout;
	if (!btf_base(layout->btf) || !layout->spinlock || best->type != layout->spinlock)
		return false;
	for (size_t i = 0; i < solver->wish_count; i++)
		if (solver->wishes[i].type == best->type)
			return false;
	return true;
}

/*
 * A pointer to what many structs begin with, known from one clue: the function that takes it may
 * serve all of them.
 */
static bool is_up_cast(const struct solver *solver, const struct scored *best)
{
	const struct layout *layout = solver->layout;
	uint32_t target = layout_target(layout, best->type), holders = 0, clues = 0;
	if (layout_kind(layout, best->type) != BTF_PTR || !layout_is_compound(layout, target))
		return false;
	for (uint32_t i = layout->records[target].holders; i != HOLDER_NONE;
	     i = layout->holders[i].next)
		holders += !layout->holders[i].offset;
	for (size_t i = 0; i < solver->wish_count; i++)
		clues += solver->wishes[i].type == best->type ? solver->wishes[i].times : 0;
	return holders >= UP_CAST_HOLDERS && clues < 3;
}

/* module_param(xres, uint, ...) takes an int, too: compilers are told not to mind the sign. */
static bool leaves_sign(const struct layout *layout, uint32_t type)
{
	const struct layout_record *record = &layout->records[type];
	return record->kind == BTF_INT && !(record->encoding & BTF_INT_BOOL);
}

/* What lies behind it is more than what sections are aligned to. */
static bool is_far_too_small(const struct solver *solver, const struct scored *best)
{
	return !best->count && best->gap < 0 &&
	       solver->input->subject->room - layout_size(solver->layout, best->type) >= GAP_MAX;
}

enum confidence solver_confidence(const struct solver *solver)
{
	const struct scored *best = solver->items;
	if (!solver->count || best->score <= GUESS_MIN)
		return CONFIDENCE_UNKNOWN;
	if (best->rejected)
		return best->rejected_by != NOWHERE && best->score >= REJECTED_MIN
			       ? CONFIDENCE_GUESS
			       : CONFIDENCE_UNKNOWN;
	if (best->is_fact && !best->against && best->data >= 0)
		return leaves_sign(solver->layout, best->type) && !best->is_exact
			       ? CONFIDENCE_INFERRED
			       : CONFIDENCE_CERTAIN;
	if (best->is_refined)
		return CONFIDENCE_GUESS;
	int margin = solver_margin(solver), strength = best->typed + best->data;
	/* Elements that are no structs look like the members of many. */
	if (best->count && !layout_is_compound(solver->layout, best->type) && !best->is_proved)
		return CONFIDENCE_GUESS;
	if (is_up_cast(solver, best) || may_be_own(solver, best) || may_be_raw(solver, best) ||
	    solver_is_outgrown(solver) || is_far_too_small(solver, best))
		return CONFIDENCE_GUESS;
	if (best->against > 3 || best->data < 0 || strength < 6 || margin < 4 || best->score < 4)
		return CONFIDENCE_GUESS;
	return CONFIDENCE_INFERRED;
}

struct error *scored_type(const struct layout *layout, const struct scored *item, struct type *ret)
{
	struct type type = { layout->btf, layout_shown(layout, item->type) };
	if (!item->count) {
		*ret = type;
		return NULL;
	}
	return type_array_of(type, item->count, ret);
}
