/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Growing arrays on the heap, without a type of their own: pointer, count, capacity. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include "base/large.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Makes room for `count` elements of `size` bytes in *items; false without memory. */
static inline bool array_reserve_bytes(void **items, size_t *capacity, size_t count, size_t size)
{
	if (count <= *capacity)
		return true;
	size_t wanted = *capacity ? *capacity : 8;
	while (wanted < count) {
		if (wanted > (size_t)-1 / 2 / size)
			return false;
		wanted *= 2;
	}
	void *grown = *items ? realloc(*items, wanted * size) : large_malloc(wanted * size);
	if (!grown)
		return false;
	*items = grown;
	*capacity = wanted;
	return true;
}

#define array_reserve(items, capacity, count)                                                      \
	array_reserve_bytes((void **)(items), (capacity), (count), sizeof(**(items)))

/*
 * qsort() and bsearch() that allow the array that never got an element, which is NULL. The cast is
 * for C libraries whose bsearch() gives a const pointer into a const array.
 */
static inline void array_sort(void *items, size_t count, size_t size,
			      int (*compare)(const void *, const void *))
{
	if (count)
		qsort(items, count, size, compare);
}

static inline void *array_search(const void *key, const void *items, size_t count, size_t size,
				 int (*compare)(const void *, const void *))
{
	return count ? (void *)bsearch(key, items, count, size, compare) : NULL;
}

/*
 * Where in an ordered array something belongs: how many of the numbers 0 to `count` - 1 fulfil
 * `condition`, which speaks of `i` and holds up to some number and for none after it. Of the type
 * of `count`.
 */
#define array_bound(count, i, condition)                                                           \
	({                                                                                         \
		__typeof__((count) + 0) low_ = 0, high_ = (count);                                 \
		while (low_ < high_) {                                                             \
			__typeof__(low_) i = low_ + (high_ - low_) / 2;                            \
			if (condition)                                                             \
				low_ = i + 1;                                                      \
			else                                                                       \
				high_ = i;                                                         \
		}                                                                                  \
		low_;                                                                              \
	})

#define ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define container_of(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))

#endif
