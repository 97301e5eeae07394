/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A budget of memory, in bytes, for what is kept of a dump: rows, texts, lists. How much there is
 * of these is for the dump to say, and a forged one says without end; so whoever keeps them takes
 * the memory from the dump's budget first and gives it back afterwards.
 */
#ifndef BASE_BUDGET_H
#define BASE_BUDGET_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget {
	uint64_t limit; /* 0: it has no end */
	uint64_t used;
};

/* For what comes from so many bytes of memory. */
void budget_init(struct budget *budget, uint64_t memory);
/* ERROR_BOUND, and nothing is taken, when less is left. A NULL budget has no end, here and below.
 */
struct error *budget_take(struct budget *budget, uint64_t size) MUST_CHECK;
void budget_give_back(struct budget *budget, uint64_t size);
uint64_t budget_left(const struct budget *budget);

/* array_reserve() out of a budget. Errors: ERROR_BOUND, no memory; the array stays as it is. */
struct error *budget_reserve_bytes(struct budget *budget, void **items, size_t *capacity,
				   size_t count, size_t size) MUST_CHECK;
#define budget_reserve(budget, items, capacity, count)                                             \
	budget_reserve_bytes((budget), (void **)(items), (capacity), (count), sizeof(**(items)))
/* free() of such an array. */
#define budget_release(budget, items, capacity)                                                    \
	do {                                                                                       \
		free(items);                                                                       \
		budget_give_back((budget), (uint64_t)(capacity) * sizeof(*(items)));               \
	} while (0)

#endif
