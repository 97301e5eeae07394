// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/slab_sheaves.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/interrupt.h"
#include "debugger/kernel/page_counters.h"
#include "debugger/kernel/slab_usage.h"
#include "debugger/kernel/walk.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Objects of a sheaf: the kernel fills a page of pointers at most. */
#define SHEAF_OBJECTS_MAX 4096

struct reading {
	const struct object *cache;
	struct slab_sheaves *sheaves;
	uint64_t capacity; /* of a sheaf */
	uint64_t most;	   /* objects in all */
	uint64_t link;	   /* offset of slab_sheaf.barn_list */
};

/* The first one is kept. */
static struct error *note(struct slab_sheaves *sheaves, struct error *problem)
{
	if (!problem || error_is_fatal(problem))
		return problem;
	if (sheaves->problem)
		error_free(problem);
	else
		sheaves->problem = problem;
	return NULL;
}

static struct error *add_objects(struct reading *reading, uint64_t address, uint64_t count)
{
	struct slab_sheaves *sheaves = reading->sheaves;
	struct memory *memory = reading->cache->target->memory;
	uint8_t bytes[512];
	uint64_t word = memory->word_size;
	if (count > reading->most || sheaves->count > reading->most - count)
		return error_create(ERROR_FORMAT, "more than %" PRIu64 " objects in sheaves",
				    reading->most);
	if (!array_reserve(&sheaves->objects, &sheaves->capacity, sheaves->count + count))
		return error_no_memory();
	for (uint64_t at = 0; at < count * word; at += sizeof(bytes)) {
		uint64_t left = count * word - at;
		size_t size = left < sizeof(bytes) ? (size_t)left : sizeof(bytes);
		TRY(memory_read(memory, address + at, bytes, size));
		for (size_t i = 0; i < size; i += word)
			sheaves->objects[sheaves->count++] =
				load_unsigned(bytes + i, (uint32_t)word, memory->big_endian);
	}
	return NULL;
}

/* `is_full`: one of a node's, which keeps full ones apart. */
static struct error *add_sheaf(struct reading *reading, uint64_t address, bool is_full)
{
	struct target *target = reading->cache->target;
	struct object sheaf, objects;
	uint64_t owner, count;
	if (!address)
		return NULL;
	TRY(object_at(target, "struct slab_sheaf", address, &sheaf));
	TRY(object_u64(&sheaf, "cache", &owner));
	TRY(object_u64(&sheaf, "size", &count));
	/* That of a cache without sheaves is empty and belongs to none. */
	if (!count && !is_full)
		return NULL;
	if (owner != reading->cache->address || !count || count > reading->capacity)
		return error_create(ERROR_FORMAT, "0x%" PRIx64 " is no sheaf of the cache",
				    address);
	TRY(object_member(&sheaf, "objects", &objects));
	return add_objects(reading, objects.address, count);
}

static struct error *add_cpu(struct reading *reading, const struct cpu *cpu)
{
	static const char *const members[] = { "main", "spare", "rcu_free" };
	struct object own;
	uint64_t address;
	TRY(object_follow(reading->cache, "cpu_sheaves", &own));
	if (!own.address)
		return NULL;
	own.address += cpu->per_cpu_offset;
	for (size_t i = 0; i < ARRAY_COUNT(members); i++) {
		TRY(object_u64(&own, members[i], &address));
		TRY(error_prefix(add_sheaf(reading, address, false), "%s", members[i]));
	}
	return NULL;
}

static struct error *add_listed(void *context, const struct walk_item *item)
{
	struct reading *reading = context;
	return add_sheaf(reading, item->address - reading->link, true);
}

static struct error *take_break(void *context, struct error *problem)
{
	struct reading *reading = context;
	return note(reading->sheaves, problem);
}

/* A member of the node's record in 6.18, beside the pointer to that since 7.x; *ret 0: none. */
static struct error *find_barn(const struct object *cache, uint32_t number, uint64_t *ret)
{
	struct object node;
	char path[40];
	bool is_found;
	*ret = 0;
	snprintf(path, sizeof(path), "per_node[%u].barn", number);
	if (object_has(cache, path))
		return object_u64(cache, path, ret);
	TRY(slab_cache_node(cache, number, &node, &is_found));
	return is_found && object_has(&node, "barn") ? object_u64(&node, "barn", ret) : NULL;
}

static struct error *add_barn(struct reading *reading, uint32_t number)
{
	struct target *target = reading->cache->target;
	const struct walk walk = {
		.target = target, .visit = add_listed, .broken = take_break, .context = reading
	};
	struct object barn, list;
	uint64_t address;
	TRY(find_barn(reading->cache, number, &address));
	if (!address)
		return NULL;
	TRY(object_at(target, "struct node_barn", address, &barn));
	TRY(object_member(&barn, "sheaves_full", &list));
	return walk_list(&walk, list.address, false);
}

static struct error *add_barns(struct reading *reading)
{
	uint64_t nodes;
	TRY(node_ids(reading->cache->target, &nodes));
	TRY(object_offset(reading->cache->target, "struct slab_sheaf", "barn_list",
			  &reading->link));
	for (uint32_t i = 0; i < nodes; i++) {
		TRY(interrupt_check());
		TRY(note(reading->sheaves, error_prefix(add_barn(reading, i), "node %" PRIu32, i)));
	}
	return NULL;
}

static int compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;
	return *a < *b ? -1 : *a > *b;
}

static struct error *read_all(struct reading *reading)
{
	const struct cpu *cpus;
	TRY(object_u64(reading->cache, "sheaf_capacity", &reading->capacity));
	if (reading->capacity > SHEAF_OBJECTS_MAX)
		return error_create(ERROR_FORMAT, "sheaves of %" PRIu64 " objects",
				    reading->capacity);
	TRY(target_need_cpus(reading->cache->target));
	size_t count = target_cpus(reading->cache->target, &cpus);
	for (size_t i = 0; i < count; i++) {
		TRY(interrupt_check());
		TRY(note(reading->sheaves,
			 error_prefix(add_cpu(reading, &cpus[i]), "cpu_sheaves of CPU %" PRIu32,
				      cpus[i].number)));
	}
	return add_barns(reading);
}

struct error *slab_sheaves_read(const struct object *cache, uint64_t most, struct slab_sheaves *ret)
{
	struct reading reading = { .cache = cache, .sheaves = ret, .most = most };
	*ret = (struct slab_sheaves){ .is_whole = true };
	if (!object_has(cache, "cpu_sheaves"))
		return NULL;
	struct error *error = note(ret, read_all(&reading));
	if (error)
		slab_sheaves_deinit(ret);
	else
		array_sort(ret->objects, ret->count, sizeof(*ret->objects), compare);
	ret->is_whole = !ret->problem;
	return error;
}

void slab_sheaves_deinit(struct slab_sheaves *sheaves)
{
	free(sheaves->objects);
	error_free(sheaves->problem);
	*sheaves = (struct slab_sheaves){ .count = 0 };
}

size_t slab_sheaves_first(const struct slab_sheaves *sheaves, uint64_t address)
{
	return array_bound(sheaves->count, i, sheaves->objects[i] < address);
}

bool slab_sheaves_have(const struct slab_sheaves *sheaves, uint64_t object)
{
	size_t at = slab_sheaves_first(sheaves, object);
	return at < sheaves->count && sheaves->objects[at] == object;
}
