// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A block is first asked as a whole, by vectors: hardly any has a reference. Then byte by byte.
 */
#include "debugger/code/references.h"

#include "base/bytes.h"
#include <stdbool.h>
#include <string.h>

#define LANES	   4
#define BLOCK	   512	       /* bytes */
#define FURTHEST   4	       /* most bytes of an instruction after its displacement */
#define UPPER_HALF 0x80000000u /* unsigned as signed comparison: what SSE2 has */

typedef uint32_t lanes __attribute__((vector_size(LANES * sizeof(uint32_t)), aligned(1)));
typedef int32_t signed_lanes __attribute__((vector_size(LANES * sizeof(int32_t))));

/* `word` at `place` may be a displacement or an immediate to [first, first + size). */
struct test {
	uint32_t displacement, displacement_size; /* word + place - displacement < size */
	uint32_t immediate, immediate_size;
};

static bool is_reference(const struct test *test, uint32_t word, uint32_t place)
{
	return word + place - test->displacement < test->displacement_size ||
	       word - test->immediate < test->immediate_size;
}

/* Whether any place in the block's BLOCK bytes passes; reads REFERENCE_SIZE - 1 bytes more. */
static bool block_has_any(const struct test *test, const uint8_t *bytes, uint32_t place)
{
	signed_lanes any = { 0 };
	lanes step, ordinal;
	for (uint32_t i = 0; i < LANES; i++) {
		ordinal[i] = i * REFERENCE_SIZE - test->displacement;
		step[i] = UPPER_HALF;
	}
	int32_t near = (int32_t)(test->displacement_size - UPPER_HALF);
	int32_t immediate = (int32_t)(test->immediate_size - UPPER_HALF);
	for (uint32_t phase = 0; phase < REFERENCE_SIZE; phase++) {
		for (uint32_t i = 0; i < BLOCK; i += LANES * REFERENCE_SIZE) {
			lanes words;
			memcpy(&words, bytes + phase + i, sizeof(words));
			lanes targets = words + ordinal + (place + phase + i) - step;
			any |= (signed_lanes)targets < near;
			targets = words - test->immediate - step;
			any |= (signed_lanes)targets < immediate;
		}
	}
	int32_t sum = 0;
	for (int i = 0; i < LANES; i++)
		sum |= any[i];
	return sum;
}

void references_find(const struct reference_scan *scan, const uint8_t *bytes, size_t count,
		     uint64_t address)
{
	if (!scan->size || scan->size > INT32_MAX || count < REFERENCE_SIZE)
		return;
	struct test test = {
		.displacement = (uint32_t)scan->first - REFERENCE_SIZE - FURTHEST,
		.displacement_size = (uint32_t)scan->size + FURTHEST,
		.immediate = (uint32_t)scan->first,
		.immediate_size = (uint32_t)scan->size,
	};
	size_t places = count - REFERENCE_SIZE + 1;
	for (size_t i = 0; i < places; i += BLOCK) {
		size_t end = places - i < BLOCK ? places : i + BLOCK;
		/* The last, partial block is not worth a vector. */
		if (end - i == BLOCK && !block_has_any(&test, bytes + i, (uint32_t)(address + i)))
			continue;
		for (size_t at = i; at < end; at++)
			if (is_reference(&test, load_u32(bytes + at, false),
					 (uint32_t)(address + at)))
				scan->visit(scan->context, address + at);
	}
}
