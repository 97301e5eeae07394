// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/budget.h"

#include "base/array.h"
#include <inttypes.h>

/*
 * As much as the memory that it comes from: what is kept of an object takes about as many bytes as
 * the object does. Of less than this much no budget is made: a table of all symbols needs some.
 */
#define LIMIT_MIN ((uint64_t)64 << 20)

void budget_init(struct budget *budget, uint64_t memory)
{
	*budget = (struct budget){ .limit = memory > LIMIT_MIN ? memory : LIMIT_MIN };
}

uint64_t budget_left(const struct budget *budget)
{
	if (!budget || !budget->limit)
		return UINT64_MAX;
	return budget->limit > budget->used ? budget->limit - budget->used : 0;
}

struct error *budget_take(struct budget *budget, uint64_t size)
{
	if (size > budget_left(budget))
		return error_create(ERROR_BOUND,
				    "this is not all: it takes more than %" PRIu64
				    " MiB, as much as may be kept of this dump",
				    budget->limit >> 20);
	if (budget)
		budget->used += size;
	return NULL;
}

void budget_give_back(struct budget *budget, uint64_t size)
{
	if (budget)
		budget->used -= size;
}

/*
 * How many elements an array that is to have `count` gets: twice as many as it has, or where there
 * is no room for these, an eighth more.
 */
static size_t new_capacity(const struct budget *budget, size_t capacity, size_t count, size_t size)
{
	size_t left = (size_t)(budget_left(budget) / size), doubled = capacity ? capacity : 8;
	while (doubled < count && doubled <= SIZE_MAX / 2 / size)
		doubled *= 2;
	if (doubled >= count && doubled - capacity <= left)
		return doubled;
	size_t grown = capacity + capacity / 8;
	return grown > count && grown - capacity <= left ? grown : count;
}

struct error *budget_reserve_bytes(struct budget *budget, void **items, size_t *capacity,
				   size_t count, size_t size)
{
	if (count <= *capacity)
		return NULL;
	size_t wanted = new_capacity(budget, *capacity, count, size);
	if (wanted > SIZE_MAX / size)
		return error_no_memory();
	uint64_t added = (uint64_t)(wanted - *capacity) * size;
	TRY(budget_take(budget, added));
	void *grown = *items ? realloc(*items, wanted * size) : large_malloc(wanted * size);
	if (!grown) {
		budget_give_back(budget, added);
		return error_no_memory();
	}
	*items = grown;
	*capacity = wanted;
	return NULL;
}
