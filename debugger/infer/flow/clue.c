// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/flow/clue.h"

#include "base/array.h"

/* So many equal clues are kept; more would not make a type any surer. */
#define EQUAL_MAX 4

static bool is_equal(const struct clue *a, const struct clue *b)
{
	return a->kind == b->kind && a->source == b->source && a->offset == b->offset &&
	       a->size == b->size && a->type.id == b->type.id && a->type.btf == b->type.btf;
}

bool clues_add(struct clues *clues, const struct clue *clue)
{
	unsigned int equal = 0;
	for (size_t i = 0; i < clues->count; i++) {
		if (!is_equal(&clues->items[i], clue))
			continue;
		if (clues->items[i].where == clue->where || ++equal == EQUAL_MAX)
			return true;
	}
	if (!array_reserve(&clues->items, &clues->capacity, clues->count + 1))
		return false;
	clues->items[clues->count++] = *clue;
	return true;
}

void clues_deinit(struct clues *clues)
{
	free(clues->items);
	*clues = (struct clues){ 0 };
}
