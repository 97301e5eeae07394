// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/slab_lists.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/kernel/page_counters.h"
#include "debugger/kernel/slab_usage.h"
#include "debugger/kernel/walk.h"
#include <inttypes.h>
#include <stdlib.h>

/* Of all caches: more than any machine has, as far as they are on lists. */
#define LISTED_MAX (1u << 24)

struct adding {
	struct slab_lists *lists;
	struct target *target;
	struct object slab; /* its type; address 0 */
	enum slab_list_kind kind;
	uint32_t number;
	uint64_t link; /* offset of slab_list */
	struct error *problem;
};

/* The first one is kept. */
static struct error *note(struct adding *adding, struct error *problem)
{
	if (!problem || error_is_fatal(problem))
		return problem;
	if (adding->problem)
		error_free(problem);
	else
		adding->problem = problem;
	return NULL;
}

const struct slab_list *slab_lists_find(const struct slab_lists *lists, uint64_t slab)
{
	uint32_t hash = hash_address(slab), number;
	size_t position = hash_index_first(&lists->index, hash);
	while ((number = hash_index_next(&lists->index, hash, &position)) != HASH_NONE)
		if (lists->items[number].slab == slab)
			return &lists->items[number];
	return NULL;
}

/* A slab is on one list: where it comes again, something leads in a circle. */
static struct error *add(struct adding *adding, uint64_t slab)
{
	struct slab_lists *lists = adding->lists;
	if (slab_lists_find(lists, slab))
		return error_create(ERROR_FORMAT, "slab 0x%" PRIx64 " is listed twice", slab);
	if (lists->count >= LISTED_MAX)
		return error_create(ERROR_FORMAT, "more than %u slabs on lists", LISTED_MAX);
	if (!array_reserve(&lists->items, &lists->capacity, lists->count + 1) ||
	    !hash_index_add(&lists->index, hash_address(slab), (uint32_t)lists->count))
		return error_no_memory();
	lists->items[lists->count++] = (struct slab_list){ slab, adding->kind, adding->number };
	return NULL;
}

/* struct page itself up to 5.16 (d122019bf061). */
static struct error *object_slab(struct target *target, uint64_t address, struct object *ret)
{
	struct error *error = object_at(target, "struct slab", address, ret);
	if (!error || error_is_fatal(error))
		return error;
	error_free(error);
	return object_at(target, "struct page", address, ret);
}

/* --- nodes ----------------------------------------------------------------------------------- */

static struct error *visit_slab(void *context, const struct walk_item *item)
{
	struct adding *adding = context;
	return add(adding, item->address - adding->link);
}

static struct error *take_break(void *context, struct error *problem)
{
	return note(context, problem);
}

static struct error *add_node(struct adding *adding, const struct object *node)
{
	const struct walk walk = { .target = adding->target,
				   .visit = visit_slab,
				   .broken = take_break,
				   .context = adding };
	struct object list;
	TRY(object_member(node, "partial", &list));
	return walk_list(&walk, list.address, false);
}

static struct error *add_nodes(struct adding *adding, const struct object *cache)
{
	struct object node;
	uint64_t nodes;
	bool is_found;
	adding->kind = SLAB_LIST_NODE;
	TRY(node_ids(adding->target, &nodes));
	for (uint32_t i = 0; i < nodes; i++) {
		TRY(slab_cache_node(cache, i, &node, &is_found));
		adding->number = i;
		if (is_found)
			TRY(note(adding,
				 error_prefix(add_node(adding, &node), "node %" PRIu32, i)));
	}
	return NULL;
}

/* --- CPUs ------------------------------------------------------------------------------------ */

static struct error *add_chain(struct adding *adding, uint64_t first)
{
	adding->kind = SLAB_LIST_CPU_PARTIAL;
	for (uint64_t slab = first; slab;) {
		struct object object = adding->slab;
		TRY(interrupt_check());
		TRY(add(adding, slab));
		object.address = slab;
		TRY(object_u64(&object, "next", &slab));
	}
	return NULL;
}

static struct error *add_cpu(struct adding *adding, const struct object *cache,
			     const struct cpu *cpu)
{
	struct object own;
	uint64_t slab, partial;
	TRY(object_follow(cache, "cpu_slab", &own));
	if (!own.address)
		return error_create(ERROR_FORMAT, "cpu_slab is NULL");
	own.address += cpu->per_cpu_offset;
	adding->number = cpu->number;
	adding->kind = SLAB_LIST_CPU;
	/* `page` up to 5.16 (bb192ed9aa71). */
	TRY(object_u64(&own, object_has(&own, "slab") ? "slab" : "page", &slab));
	if (slab)
		TRY(note(adding, add(adding, slab)));
	/* Without CONFIG_SLUB_CPU_PARTIAL there are none. */
	if (!object_has(&own, "partial"))
		return NULL;
	TRY(object_u64(&own, "partial", &partial));
	return add_chain(adding, partial);
}

static struct error *add_cpus(struct adding *adding, const struct object *cache)
{
	const struct cpu *cpus;
	TRY(target_need_cpus(adding->target));
	size_t count = target_cpus(adding->target, &cpus);
	for (size_t i = 0; i < count; i++)
		TRY(note(adding, error_prefix(add_cpu(adding, cache, &cpus[i]),
					      "cpu_slab of CPU %" PRIu32, cpus[i].number)));
	return NULL;
}

/* --- a cache --------------------------------------------------------------------------------- */

static struct error *add_cache(struct adding *adding, uint64_t address)
{
	struct object cache;
	TRY(object_slab(adding->target, 0, &adding->slab));
	struct object link;
	TRY(object_member(&adding->slab, "slab_list", &link));
	adding->link = link.address;
	TRY(object_at(adding->target, "struct kmem_cache", address, &cache));
	TRY(note(adding, add_nodes(adding, &cache)));
	return object_has(&cache, "cpu_slab") ? add_cpus(adding, &cache) : NULL;
}

static bool is_added(const struct slab_lists *lists, uint64_t cache, uint32_t hash)
{
	uint32_t number;
	size_t position = hash_index_first(&lists->cache_index, hash);
	while ((number = hash_index_next(&lists->cache_index, hash, &position)) != HASH_NONE)
		if (lists->caches[number] == cache)
			return true;
	return false;
}

struct error *slab_lists_add(struct slab_lists *lists, struct target *target, uint64_t cache,
			     struct error **ret_problem)
{
	struct adding adding = { .lists = lists, .target = target };
	uint32_t hash = hash_address(cache);
	*ret_problem = NULL;
	if (is_added(lists, cache, hash))
		return NULL;
	if (!array_reserve(&lists->caches, &lists->cache_capacity, lists->cache_count + 1) ||
	    !hash_index_add(&lists->cache_index, hash, (uint32_t)lists->cache_count))
		return error_no_memory();
	lists->caches[lists->cache_count++] = cache;
	struct error *error = note(&adding, add_cache(&adding, cache));
	if (error)
		error_free(adding.problem);
	else
		*ret_problem = adding.problem;
	return error;
}

bool slab_is_given_back(struct target *target, uint64_t slab)
{
	struct object object;
	uint64_t address, function = 0;
	if (!symtab_address(target->symbols, "rcu_free_slab", &address))
		return false;
	struct error *error = object_slab(target, slab, &object);
	/* kernel include/linux/types.h: rcu_head is another word for callback_head. */
	if (!error)
		error = object_u64(&object, "callback_head.func", &function);
	error_free(error);
	return function == address;
}

void slab_lists_deinit(struct slab_lists *lists)
{
	free(lists->items);
	free(lists->caches);
	hash_index_deinit(&lists->index);
	hash_index_deinit(&lists->cache_index);
	*lists = (struct slab_lists){ .count = 0 };
}
