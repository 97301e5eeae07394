// SPDX-License-Identifier: GPL-3.0-or-later
/* Slab caches, as /proc/slabinfo has them. */
#include "debugger/tables/table.h"

#include "base/array.h"
#include "debugger/kernel/page_counters.h"
#include "debugger/kernel/slab_usage.h"
#include <inttypes.h>
#include <stdlib.h>

enum {
	COLUMN_CACHE,
	COLUMN_SLOT,
	COLUMN_OBJSIZE,
	COLUMN_ACTIVE,
	COLUMN_TOTAL,
	COLUMN_IN_USE,
	COLUMN_BYTES_ALL,
	COLUMN_FLAGS,
	COLUMN_RECLAIMABLE,
	COLUMN_MERGED,
	COLUMN_NAME,
};

static const struct table_column columns[] = {
	[COLUMN_CACHE] = { "cache", COLUMN_ADDRESS, 16, "its struct kmem_cache",
			   "struct kmem_cache" },
	[COLUMN_SLOT] = { "objsize", COLUMN_INTEGER, 7, "bytes from one object to the next", NULL },
	[COLUMN_OBJSIZE] = { "object_size", COLUMN_INTEGER, 0, "bytes that were asked for", NULL },
	[COLUMN_ACTIVE] = { "active_objs", COLUMN_WIDE, 11,
			    "as /proc/slabinfo: free ones that a CPU keeps count, too", NULL },
	[COLUMN_TOTAL] = { "num_objs", COLUMN_WIDE, 8, "that there is room for", NULL },
	[COLUMN_IN_USE] = { "inuse", COLUMN_WIDE, 0,
			    "that are in use, by the lists of free ones: all struct pages are read",
			    NULL },
	[COLUMN_BYTES_ALL] = { "size", COLUMN_BYTES, 6, "of all its slabs", NULL },
	[COLUMN_FLAGS] = { "flags", COLUMN_INTEGER, 0, "SLAB_* of the kernel", NULL },
	[COLUMN_RECLAIMABLE] = { "reclaimable", COLUMN_INTEGER, 0,
				 "1: it can be had back under pressure", NULL },
	[COLUMN_MERGED] = { "merged", COLUMN_INTEGER, 0,
			    "1: others were merged into it: the name is one of theirs", NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, -24, "the cache's", NULL },
};

/* Objects in use of each cache, in the order of `usages`. */
struct counting {
	const struct slab_usages *usages;
	struct counted {
		uint64_t in_use;
		bool is_unsure; /* some may be free, where no list that could be read has them */
	} * items;
	const struct slab_cache *cache; /* the last one, and its place */
	size_t at;
};

static struct error *count_object(void *context, const struct slab_cache *cache, uint64_t object,
				  bool is_allocated)
{
	struct counting *counting = context;
	const struct slab_usages *usages = counting->usages;
	(void)object;
	if (cache != counting->cache) {
		counting->cache = cache;
		for (counting->at = 0; counting->at < usages->count; counting->at++)
			if (usages->items[counting->at].cache.address == cache->address)
				break;
	}
	if (counting->at == usages->count)
		return NULL;
	counting->items[counting->at].in_use += is_allocated;
	counting->items[counting->at].is_unsure |= !is_allocated;
	return NULL;
}

/* *ret: of each of `usages`, which the caller frees. */
static struct error *count_objects(struct target *target, const struct slab_usages *usages,
				   struct counted **ret)
{
	struct slabs *slabs;
	TRY(slabs_create(target, &slabs));
	struct counting counting = { .usages = usages,
				     .items = calloc(usages->count + 1, sizeof(*counting.items)) };
	struct error *error = counting.items ? slabs_for_each(slabs, count_object, &counting)
					     : error_no_memory();
	slabs_destroy(slabs);
	if (error)
		free(counting.items);
	else
		*ret = counting.items;
	return error;
}

static struct error *set_in_use(struct table_scan *scan, const struct counted *counted)
{
	if (!counted->is_unsure) {
		table_set(scan, COLUMN_IN_USE, counted->in_use);
		return NULL;
	}
	return table_set_error(scan, COLUMN_IN_USE,
			       error_create(ERROR_FORMAT, "lists of free objects are not whole"));
}

/* `counted`: NULL: not asked for. */
static struct error *emit(struct table_scan *scan, const struct slab_usages *usages,
			  const struct slab_usage *usage, const struct counted *counted)
{
	table_set(scan, COLUMN_CACHE, usage->cache.address);
	table_set(scan, COLUMN_OBJSIZE, usage->cache.object_size);
	table_set(scan, COLUMN_SLOT, usage->cache.slot_size);
	table_set(scan, COLUMN_ACTIVE, usage->active);
	table_set(scan, COLUMN_TOTAL, usage->objects);
	if (counted)
		TRY(set_in_use(scan, counted));
	table_set_pages(scan, COLUMN_BYTES_ALL, usage->pages);
	table_set(scan, COLUMN_FLAGS, usage->flags);
	if (usages->knows_reclaimable)
		table_set(scan, COLUMN_RECLAIMABLE, usage->is_reclaimable);
	table_set(scan, COLUMN_MERGED, usage->cache.is_shared);
	table_set_text(scan, COLUMN_NAME, usage->cache.name);
	return table_emit(scan);
}

/* How many pages the kernel counts as reclaimable slabs; 0 where it does not say. */
static struct error *reclaimable_pages(struct target *target, uint64_t *ret)
{
	struct page_counters counters;
	*ret = 0;
	TRY(page_counters_read(target, &counters));
	if (!page_counter(&counters, "NR_SLAB_RECLAIMABLE_B", ret))
		page_counter(&counters, "NR_SLAB_RECLAIMABLE", ret);
	return NULL;
}

static struct error *visit(struct table_scan *scan)
{
	struct slab_usages usages = { 0 };
	uint64_t reclaimable;
	TRY(error_only_fatal(reclaimable_pages(scan->target, &reclaimable)));
	TRY(slab_usages_read(scan->target, reclaimable, &usages));
	struct counted *counted = NULL;
	struct error *error = NULL;
	if (table_wants(scan, COLUMN_IN_USE))
		error = table_broken(scan, count_objects(scan->target, &usages, &counted));
	for (size_t i = 0; i < usages.count && !error; i++)
		error = emit(scan, &usages, &usages.items[i], counted ? &counted[i] : NULL);
	if (!error && usages.lost > 1)
		usages.problem = error_prefix(usages.problem, "%" PRIu64 " caches cannot be read",
					      usages.lost);
	if (!error && usages.lost) {
		error = table_broken(scan, usages.problem);
		usages.problem = NULL;
	}
	free(counted);
	slab_usages_deinit(&usages);
	return error;
}

static const char *const examples[] = { "slabs --sort -size -n 10", "slabs --where 'merged = 0'",
					"slabs -n 3 | print {name, refcount}", NULL };

const struct table table_slabs = {
	.name = "slabs",
	.summary = "slab caches",
	.description = "A row is a struct kmem_cache of the kernel's list, as /proc/slabinfo has "
		       "them.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_CACHE,
	.is_object = true,
};
