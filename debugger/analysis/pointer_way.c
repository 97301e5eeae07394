// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/pointer_way.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "debugger/analysis/list_link.h"
#include "debugger/analysis/variable_search.h"
#include "debugger/kernel/slab_types.h"
#include <stdlib.h>
#include <string.h>

#define ROOTS_MAX    (1u << 16)
#define OBJECTS_MAX  (1u << 16)
#define OBJECT_BYTES (16u << 10) /* of one that are looked at */
#define ASKED_MAX    (1u << 22)	 /* pointers of which it is asked where they lead: seconds */
#define POINTERS_MAX 3u

struct way_object {
	uint64_t address;
	const struct slab_cache *cache;
	uint64_t variable; /* where the way to it begins */
	uint32_t pointers; /* of the way */
};

struct cache_verdict {
	const struct slab_cache *cache;
	bool is_followed;
};

struct ways {
	struct target *target;
	struct slabs *slabs;
	uint64_t object, size; /* where they are to lead */
	struct way_object *objects;
	size_t count, capacity;
	struct hash_index index; /* of objects, by address */
	struct cache_verdict *caches;
	size_t cache_count, cache_capacity;
	void (*visit)(void *context, const struct pointer_way *way);
	void *context;
	uint32_t links_left, asked;
	uint8_t bytes[OBJECT_BYTES];
};

static bool is_met(const struct ways *ways, uint64_t address)
{
	uint32_t hash = hash_address(address);
	size_t position = hash_index_first(&ways->index, hash);
	for (uint32_t n; (n = hash_index_next(&ways->index, hash, &position)) != HASH_NONE;)
		if (ways->objects[n].address == address)
			return true;
	return false;
}

/* Tasks, inodes and the like lead from everybody to everybody. */
static struct error *is_followed(struct ways *ways, const struct slab_cache *cache, bool *ret)
{
	struct slab_type type;
	for (size_t i = 0; i < ways->cache_count; i++)
		if (ways->caches[i].cache == cache) {
			*ret = ways->caches[i].is_followed;
			return NULL;
		}
	if (!array_reserve(&ways->caches, &ways->cache_capacity, ways->cache_count + 1))
		return error_no_memory();
	slab_type_of(ways->target, cache, &type);
	*ret = !type.type.btf;
	ways->caches[ways->cache_count++] = (struct cache_verdict){ cache, *ret };
	return NULL;
}

/*
 * The object that a pointer leads into, if it is one to go on from. `from`: who has the pointer, at
 * `offset`; NULL: a variable.
 */
static struct error *meet(struct ways *ways, uint64_t value, uint64_t variable,
			  const struct way_object *from, uint64_t offset)
{
	const struct slab_cache *cache;
	uint64_t slot;
	bool followed = false;
	if (!is_kernel_pointer(value) || ways->count == OBJECTS_MAX || ways->asked == ASKED_MAX)
		return NULL;
	ways->asked++;
	struct error *error = slabs_slot(ways->slabs, value, &cache, &slot);
	if (error || is_met(ways, slot))
		return error_only_fatal(error);
	/* The next one of a list that both are on is as near as this one. */
	bool is_next = from && from->cache == cache && value - slot == offset;
	uint32_t pointers = from ? from->pointers + !is_next : 1;
	if (pointers < POINTERS_MAX)
		TRY(is_followed(ways, cache, &followed));
	if (!followed)
		return NULL;
	if (!array_reserve(&ways->objects, &ways->capacity, ways->count + 1) ||
	    !hash_index_add(&ways->index, hash_address(slot), (uint32_t)ways->count))
		return error_no_memory();
	ways->objects[ways->count++] = (struct way_object){ slot, cache, variable, pointers };
	return NULL;
}

/* What the kernel keeps of the module, which hangs together with that of all others. */
static bool is_of_loader(const struct ways *ways, uint64_t place)
{
	struct symbol symbol;
	uint64_t offset;
	return target_symbol_at(ways->target, place, &symbol, &offset) &&
	       !strcmp(symbol.name, "__this_module");
}

static struct error *meet_roots(struct ways *ways, enum variables which)
{
	/* All below the kernel's own image: of what is allocated, slabs lie nowhere else. */
	const uint64_t start = (uint64_t)INT64_MIN;
	uint64_t cursor = 0, *places = malloc(ROOTS_MAX * sizeof(*places));
	struct symbol text;
	size_t count = 0;
	if (!places)
		return error_no_memory();
	uint64_t end = target_find_symbol(ways->target, NULL, "_text", &cursor, &text)
			       ? text.address
			       : UINT64_MAX;
	struct error *error = variables_find_pointers(ways->target, which, start, end - start,
						      places, ROOTS_MAX, &count);
	for (size_t i = 0; i < count && !error; i++) {
		uint64_t value;
		error = interrupt_check();
		if (!error)
			error = memory_read_word(ways->target->memory, places[i], &value);
		if (error)
			error = error_only_fatal(error);
		else if (which == VARIABLES_OF_KERNEL ||
			 (!is_of_loader(ways, places[i]) &&
			  !list_link_is_kernels(ways->target, places[i], &ways->links_left)))
			error = meet(ways, value, places[i], NULL, 0);
	}
	free(places);
	return error;
}

static bool is_sought(const struct ways *ways, uint64_t value)
{
	return value - ways->object < ways->size;
}

/* What one object points at: the one that is sought, or further ones. */
static struct error *look_into(struct ways *ways, const struct way_object *from, bool *ret_found)
{
	struct memory *memory = ways->target->memory;
	uint64_t whole = from->cache->object_size;
	size_t size = whole < OBJECT_BYTES ? (size_t)whole : OBJECT_BYTES;
	TRY(interrupt_check());
	memory_read_filled(memory, from->address, ways->bytes, size, 0);
	for (size_t i = 0; i + sizeof(uint64_t) <= size; i += sizeof(uint64_t)) {
		uint64_t value =
			load_unsigned(ways->bytes + i, sizeof(uint64_t), memory->big_endian);
		if (is_sought(ways, value)) {
			struct pointer_way way = { from->variable, from->address + i,
						   from->pointers + 1 };
			ways->visit(ways->context, &way);
			*ret_found = true;
		} else {
			TRY(meet(ways, value, from->variable, from, i));
		}
	}
	return NULL;
}

static struct error *search(struct ways *ways)
{
	bool is_found = false;
	TRY(meet_roots(ways, VARIABLES_OF_KERNEL));
	TRY(meet_roots(ways, VARIABLES_OF_MODULES));
	for (uint32_t pointers = 1; pointers < POINTERS_MAX && !is_found; pointers++)
		for (size_t i = 0; i < ways->count; i++) {
			struct way_object from = ways->objects[i];
			if (from.pointers == pointers && !is_sought(ways, from.address))
				TRY(look_into(ways, &from, &is_found));
		}
	return NULL;
}

struct error *pointer_ways_find(struct target *target, uint64_t object, uint64_t size,
				void (*visit)(void *context, const struct pointer_way *way),
				void *context)
{
	struct ways *ways = calloc(1, sizeof(*ways));
	if (!ways)
		return error_no_memory();
	ways->target = target;
	ways->object = object;
	ways->size = size;
	ways->visit = visit;
	ways->context = context;
	ways->links_left = LIST_LINKS_MOST;
	struct error *error = slabs_create(target, &ways->slabs);
	if (!error && !hash_index_init(&ways->index, 1024))
		error = error_no_memory();
	if (!error)
		error = search(ways);
	slabs_destroy(ways->slabs);
	hash_index_deinit(&ways->index);
	free(ways->objects);
	free(ways->caches);
	free(ways);
	return error;
}
