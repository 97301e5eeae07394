// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A second look where clues do not settle it: all types of BTF whose outline fits are candidates
 * too, and each candidate is measured by how well it explains the symbol's bytes.
 */
#include "debugger/infer/own_data_fit.h"
#include "debugger/infer/solve.h"

#define TYPED_MIN      7
#define SEARCHED_PRIOR -4
#define AGAINST_MAX    3
#define ROOM_MIN       16
#define SEARCHED_MAX   16
#define MEASURED_MAX   64
#define BITS_A_POINT   1
#define PENALTY_MAX    40
#define STRUCT_PRIOR   (11 * FIT_BIT)
#define COST_MAX       (1 << 24)

static int measure(const struct question *question, struct fit *fit, const struct scored *item)
{
	int cost = fit_cost(fit, item->type, item->count, COST_MAX);
	cost += fit_prior(question->layout, item->type, item->is_direct);
	if (!item->is_direct || layout_kind(question->layout, item->type) == BTF_PTR)
		cost -= fit_name(fit, item->type);
	return cost;
}

struct error *own_data_refine(void *context, struct solver *solver)
{
	const struct question *question = context;
	struct fitted found[SEARCHED_MAX];
	int costs[MEASURED_MAX + SEARCHED_MAX], best = FIT_IMPOSSIBLE;
	/* Of what is so small, access says more than one value. */
	if (question->subject->room <= ROOM_MIN || !question->size)
		return NULL;
	struct fit *fit = fit_create(question);
	if (!fit)
		return NULL;
	if (solver->count > MEASURED_MAX)
		solver->count = MEASURED_MAX;
	bool is_named = solver->count && solver->items->typed >= TYPED_MIN;
	size_t count = is_named ? 0 : fit_search(fit, found, SEARCHED_MAX);
	for (size_t i = 0; i < count; i++)
		(void)solver_consider(solver, found[i].type, found[i].count);
	for (size_t i = 0; i < solver->count; i++) {
		struct scored *item = &solver->items[i];
		/* This is the finer judge of bytes. */
		if (item->data < 0 && item->against <= AGAINST_MAX && item->rejected_by != 1) {
			item->score = (int16_t)(item->score - item->data);
			item->rejected = NULL;
		}
		/* So does the prior by how many types are alike. */
		if (item->prior < SEARCHED_PRIOR &&
		    layout_is_compound(question->layout, item->type))
			item->score = (int16_t)(item->score + SEARCHED_PRIOR - item->prior);
		costs[i] = measure(question, fit, &solver->items[i]);
		if (!solver->items[i].rejected && costs[i] < best)
			best = costs[i];
	}
	fit_destroy(fit);
	for (size_t i = 0; i < solver->count; i++) {
		int points = (costs[i] - best) / (BITS_A_POINT * FIT_BIT);
		struct scored *item = &solver->items[i];
		item->is_refined = true;
		item->score =
			(int16_t)(item->score - (points < PENALTY_MAX ? points : PENALTY_MAX));
	}
	return NULL;
}
