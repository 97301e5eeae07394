// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/variable_search.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/interrupt.h"
#include <stdlib.h>

#define CHUNK_SIZE   (64u << 10)
#define SEARCHED_MAX (256u << 20) /* bytes of variables */

struct search {
	struct target *target;
	uint64_t start, size; /* where the pointers lead */
	uint64_t left;	      /* bytes that may still be read */
	uint8_t *chunk;
	uint64_t *places;
	size_t most, count;
};

static bool is_done(const struct search *search)
{
	return search->count == search->most || !search->left;
}

static void search_chunk(struct search *search, uint64_t address, size_t length)
{
	const struct memory *memory = search->target->memory;
	for (size_t i = 0; i + sizeof(uint64_t) <= length && search->count < search->most;
	     i += sizeof(uint64_t)) {
		uint64_t value =
			load_unsigned(search->chunk + i, sizeof(uint64_t), memory->big_endian);
		if (value - search->start < search->size)
			search->places[search->count++] = address + i;
	}
}

static struct error *search_range(struct search *search, uint64_t start, uint64_t size)
{
	start = (start + 7) & ~(uint64_t)7;
	for (uint64_t at = 0; at < size && !is_done(search); at += CHUNK_SIZE) {
		size_t length = size - at < CHUNK_SIZE ? (size_t)(size - at) : CHUNK_SIZE;
		length = length < search->left ? length : (size_t)search->left;
		TRY(interrupt_check());
		memory_read_filled(search->target->memory, start + at, search->chunk, length, 0);
		search->left -= length;
		search_chunk(search, start + at, length);
	}
	return NULL;
}

static struct error *search_modules(struct search *search)
{
	const struct module *modules;
	size_t count = target_modules(search->target, &modules);
	for (size_t i = 0; i < count && !is_done(search); i++)
		for (size_t k = 0; k < modules[i].region_count && !is_done(search); k++)
			TRY(search_range(search, modules[i].regions[k].start,
					 modules[i].regions[k].size));
	return NULL;
}

static struct error *search_kernel(struct search *search)
{
	static const struct {
		const char *start, *end;
	} ranges[] = { { "_sdata", "_edata" },
		       { "__start_rodata", "__end_rodata" },
		       { "__bss_start", "__bss_stop" } };
	for (size_t i = 0; i < ARRAY_COUNT(ranges) && !is_done(search); i++) {
		struct symbol start, end;
		uint64_t first = 0, second = 0;
		if (target_find_symbol(search->target, NULL, ranges[i].start, &first, &start) &&
		    target_find_symbol(search->target, NULL, ranges[i].end, &second, &end) &&
		    end.address > start.address)
			TRY(search_range(search, start.address, end.address - start.address));
	}
	return NULL;
}

struct error *variables_find_pointers(struct target *target, enum variables which, uint64_t start,
				      uint64_t size, uint64_t *places, size_t most,
				      size_t *ret_count)
{
	struct search search = { .target = target,
				 .start = start,
				 .size = size,
				 .left = SEARCHED_MAX,
				 .chunk = malloc(CHUNK_SIZE),
				 .places = places,
				 .most = most };
	if (!search.chunk)
		return error_no_memory();
	struct error *error = which == VARIABLES_OF_MODULES ? search_modules(&search)
							    : search_kernel(&search);
	free(search.chunk);
	*ret_count = search.count;
	return error;
}
