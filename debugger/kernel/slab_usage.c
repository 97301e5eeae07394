// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/slab_usage.h"

#include "base/array.h"
#include "debugger/kernel/page_counters.h"
#include "debugger/kernel/walk.h"
#include <stdio.h>
#include <stdlib.h>

#define OBJECTS_BITS	  16 /* of kmem_cache_order_objects: the order is above (OO_SHIFT) */
#define OBJECTS_MASK	  0xffffu
#define ORDER_LIMIT	  32
#define PARTIAL_SLABS_MAX 1000000

#define CACHES_MAX 65536
#define FLAG_BITS  32

struct reading {
	struct target *target;
	struct slab_usages *usages;
};

struct partial {
	struct target *target;
	const char *type_name; /* of a slab */
	uint64_t free, count;
};

static struct error *count_free(void *context, const struct walk_item *item)
{
	struct partial *partial = context;
	struct object slab;
	uint64_t objects, in_use;
	if (++partial->count > PARTIAL_SLABS_MAX)
		return error_create(ERROR_FORMAT, "too many slabs");
	TRY(object_container(partial->target, partial->type_name, "slab_list", item->address,
			     &slab));
	TRY(object_u64(&slab, "objects", &objects));
	TRY(object_u64(&slab, "inuse", &in_use));
	partial->free += objects > in_use ? objects - in_use : 0;
	return NULL;
}

static struct error *take_break(void *context, struct error *problem)
{
	(void)context;
	return problem;
}

static struct error *add_node(const struct object *node, struct slab_usage *usage)
{
	struct object list, slab;
	uint64_t slabs, objects;
	TRY(object_u64(node, "nr_slabs.counter", &slabs));
	TRY(object_u64(node, "total_objects.counter", &objects));
	if (slabs > PAGES_LIMIT || objects > PAGES_LIMIT)
		return error_create(ERROR_FORMAT, "the cache has too many slabs");
	usage->pages += slabs;
	usage->objects += objects;
	/* struct slab is part of struct page until d122019bf061 (5.17). */
	struct error *old = object_at(node->target, "struct slab", 0, &slab);
	struct partial partial = { node->target, old ? "struct page" : "struct slab", 0, 0 };
	error_free(old);
	struct walk walk = { .target = node->target,
			     .visit = count_free,
			     .broken = take_break,
			     .context = &partial };
	TRY(object_member(node, "partial", &list));
	TRY(walk_list(&walk, list.address, false));
	usage->active += objects > partial.free ? objects - partial.free : 0;
	return NULL;
}

/* Until 7.x an array of pointers. */
struct error *slab_cache_node(const struct object *cache, uint32_t number, struct object *ret,
			      bool *ret_found)
{
	char path[40];
	uint64_t address;
	bool is_old = object_has(cache, "node");
	snprintf(path, sizeof(path), is_old ? "node[%u]" : "per_node[%u].node", number);
	*ret_found = object_has(cache, path);
	if (!*ret_found)
		return NULL;
	TRY(object_u64(cache, path, &address));
	*ret_found = address;
	return address ? object_at(cache->target, "struct kmem_cache_node", address, ret) : NULL;
}

static struct error *read_cache(struct target *target, uint64_t link, struct slab_usage *usage)
{
	struct object cache, node;
	uint64_t name, layout, references, nodes;
	size_t length;
	bool found;
	TRY(object_container(target, "struct kmem_cache", "list", link, &cache));
	usage->cache.address = cache.address;
	TRY(object_u64(&cache, "name", &name));
	TRY(memory_read_string(target->memory, name, usage->cache.name, sizeof(usage->cache.name),
			       &length));
	TRY(object_u64(&cache, "object_size", &usage->cache.object_size));
	TRY(object_u64(&cache, "size", &usage->cache.slot_size));
	TRY(object_u64(&cache, "refcount", &references));
	usage->cache.is_shared = references != 1;
	TRY(object_u64(&cache, "oo.x", &layout));
	TRY(node_ids(target, &nodes));
	bool has_node = false;
	for (uint32_t i = 0; i < nodes; i++) {
		TRY(slab_cache_node(&cache, i, &node, &found));
		has_node |= found;
		if (found)
			TRY(add_node(&node, usage));
	}
	if (!has_node || !(layout & OBJECTS_MASK))
		return error_create(ERROR_FORMAT, "the cache has %s",
				    has_node ? "no objects in a slab" : "no nodes");
	if (layout >> OBJECTS_BITS >= ORDER_LIMIT ||
	    __builtin_mul_overflow(usage->pages, (uint64_t)1 << (layout >> OBJECTS_BITS),
				   &usage->pages))
		return error_create(ERROR_FORMAT, "the cache has slabs of an impossible size");
	return object_u64(&cache, "flags", &usage->flags);
}

/* Takes the error. */
static struct error *lose(struct slab_usages *usages, struct error *error)
{
	if (error_is_fatal(error))
		return error;
	if (usages->lost++)
		error_free(error);
	else
		usages->problem = error;
	return NULL;
}

static struct error *visit_cache(void *context, const struct walk_item *item)
{
	struct reading *reading = context;
	struct slab_usages *usages = reading->usages;
	struct slab_usage usage = { .pages = 0 };
	struct error *error = read_cache(reading->target, item->address, &usage);
	if (error)
		return lose(usages, error);
	if (usages->count >= CACHES_MAX)
		return error_create(ERROR_FORMAT, "more than %d slab caches", CACHES_MAX);
	if (!array_reserve(&usages->items, &usages->capacity, usages->count + 1))
		return error_no_memory();
	usages->items[usages->count++] = usage;
	return NULL;
}

static struct error *count_break(void *context, struct error *problem)
{
	struct reading *reading = context;
	return lose(reading->usages, problem);
}

static uint64_t pages_with(const struct slab_usages *usages, unsigned int bit)
{
	uint64_t pages = 0;
	for (size_t i = 0; i < usages->count; i++)
		if (usages->items[i].flags >> bit & 1)
			pages += usages->items[i].pages;
	return pages;
}

/* Flags are enumerators since 6.9 (cc61eb851fdb), and have moved. */
static bool find_reclaimable_bit(const struct target *target, const struct slab_usages *usages,
				 uint64_t reclaimable, unsigned int *ret)
{
	uint32_t id;
	struct btf_enumerator bit;
	if (target->btf && btf_find_enumerator(target->btf, "_SLAB_RECLAIM_ACCOUNT", &id, &bit) &&
	    bit.value >= 0 && bit.value < FLAG_BITS) {
		*ret = (unsigned int)bit.value;
		return true;
	}
	unsigned int found = 0;
	for (unsigned int i = 0; i < FLAG_BITS && reclaimable && !usages->lost; i++)
		if (pages_with(usages, i) == reclaimable) {
			*ret = i;
			found++;
		}
	return found == 1;
}

struct error *slab_usages_read(struct target *target, uint64_t reclaimable, struct slab_usages *ret)
{
	struct reading reading = { target, ret };
	struct walk walk = { .target = target,
			     .visit = visit_cache,
			     .broken = count_break,
			     .context = &reading,
			     .never_empty = "slab_caches" };
	struct object head;
	unsigned int bit = 0;
	*ret = (struct slab_usages){ .count = 0 };
	TRY(object_variable(target, "slab_caches", "struct list_head", &head));
	struct error *error = walk_list(&walk, head.address, false);
	if (error) {
		slab_usages_deinit(ret);
		return error;
	}
	ret->knows_reclaimable = find_reclaimable_bit(target, ret, reclaimable, &bit);
	for (size_t i = 0; i < ret->count && ret->knows_reclaimable; i++)
		ret->items[i].is_reclaimable = ret->items[i].flags >> bit & 1;
	return NULL;
}

void slab_usages_deinit(struct slab_usages *usages)
{
	free(usages->items);
	error_free(usages->problem);
	*usages = (struct slab_usages){ .count = 0 };
}
