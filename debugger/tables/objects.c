// SPDX-License-Identifier: GPL-3.0-or-later
/* The objects of slab caches, free ones too. */
#include "debugger/tables/table.h"

#include "base/array.h"
#include "debugger/kernel/slab_lists.h"
#include "debugger/kernel/slabs.h"

enum {
	COLUMN_OBJECT,
	COLUMN_CACHE,
	COLUMN_SLAB,
	COLUMN_INDEX,
	COLUMN_STATE,
	COLUMN_LIST,
	COLUMN_CPU,
	COLUMN_NODE,
	COLUMN_NAME,
};

static const struct table_column columns[] = {
	[COLUMN_OBJECT] = { "object", COLUMN_ADDRESS, 16, "where it begins", NULL },
	[COLUMN_CACHE] = { "cache", COLUMN_ADDRESS, 0, "its struct kmem_cache",
			   "struct kmem_cache" },
	[COLUMN_SLAB] = { "slab", COLUMN_ADDRESS, 16, "the first struct page of its slab",
			  "struct page" },
	[COLUMN_INDEX] = { "place", COLUMN_INTEGER, 0, "which one of the slab, from 0", NULL },
	[COLUMN_STATE] = { "state", COLUMN_TEXT, -9,
			   "allocated, free; unsure: on no list of free ones, but these are not "
			   "whole",
			   NULL },
	[COLUMN_LIST] = { "list", COLUMN_TEXT, -11,
			  "that the slab is on: cpu, that one allocates from it; cpu_partial, one "
			  "keeps it; partial, of a node; rcu, the cache gave it back; none, as a "
			  "full one is. sheaf: the object is in one, an array of free ones",
			  NULL },
	[COLUMN_CPU] = { "cpu", COLUMN_INTEGER, 3, "that has the slab", NULL },
	[COLUMN_NODE] = { "node", COLUMN_INTEGER, 0, "that has the slab on its list", NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, -24, "the cache's", NULL },
};

struct pass {
	struct table_scan *scan;
	struct slab_lists lists;
	uint64_t slab; /* the last one that was on no list */
	bool is_given_back;
};

static const char *const states[] = {
	[SLAB_FREE] = "free", [SLAB_ALLOCATED] = "allocated", [SLAB_UNSURE] = "unsure"
};
static const char *const lists[] = { [SLAB_LIST_NODE] = "partial",
				     [SLAB_LIST_CPU] = "cpu",
				     [SLAB_LIST_CPU_PARTIAL] = "cpu_partial" };

static struct error *set_list(struct pass *pass, const struct slab_place *place)
{
	struct table_scan *scan = pass->scan;
	struct error *problem;
	if (!table_wants(scan, COLUMN_LIST) && !table_wants(scan, COLUMN_CPU) &&
	    !table_wants(scan, COLUMN_NODE))
		return NULL;
	TRY(slab_lists_add(&pass->lists, scan->target, place->cache->address, &problem));
	TRY(table_broken(scan, error_prefix(problem, "lists of %s", place->cache->name)));
	if (place->in_sheaf) {
		table_set_text(scan, COLUMN_LIST, "sheaf");
		return NULL;
	}
	const struct slab_list *list = slab_lists_find(&pass->lists, place->slab);
	if (list) {
		table_set_text(scan, COLUMN_LIST, lists[list->kind]);
		table_set(scan, list->kind == SLAB_LIST_NODE ? COLUMN_NODE : COLUMN_CPU,
			  list->number);
		return NULL;
	}
	if (place->slab != pass->slab) {
		pass->slab = place->slab;
		pass->is_given_back = place->state == SLAB_FREE &&
				      slab_is_given_back(scan->target, place->slab);
	}
	table_set_text(scan, COLUMN_LIST, pass->is_given_back ? "rcu" : "none");
	return NULL;
}

static struct error *emit(void *context, const struct slab_place *place)
{
	struct pass *pass = context;
	struct table_scan *scan = pass->scan;
	table_set(scan, COLUMN_OBJECT, place->object);
	table_set(scan, COLUMN_CACHE, place->cache->address);
	table_set(scan, COLUMN_SLAB, place->slab);
	table_set(scan, COLUMN_INDEX, place->index);
	table_set_text(scan, COLUMN_STATE, states[place->state]);
	TRY(set_list(pass, place));
	table_set_text(scan, COLUMN_NAME, place->cache->name);
	return table_emit(scan);
}

static struct error *visit_named(struct table_scan *scan, const char *name)
{
	struct pass pass = { .scan = scan };
	struct slabs *slabs;
	TRY(slabs_create(scan->target, &slabs));
	struct error *error = slabs_for_each_slot(slabs, name, emit, &pass);
	if (!error)
		error = table_broken(scan, slabs_problem(slabs));
	slabs_destroy(slabs);
	slab_lists_deinit(&pass.lists);
	return error;
}

static struct error *visit(struct table_scan *scan)
{
	return visit_named(scan, NULL);
}

static const char *const examples[] = {
	"objects dentry -n 5", "objects filp --where \"state = 'allocated'\" -n 5",
	"sql SELECT name, state, count(*) AS objects FROM objects WHERE name = 'filp' GROUP BY 2",
	NULL
};

const struct table table_objects = {
	.name = "objects",
	.summary = "objects of slab caches",
	.description =
		"A row is an object that a slab has room for, of the caches NAME, or of all; these "
		"are many. Whether it is free is said by the lists of free ones; what waits for "
		"RCU to free it counts as allocated. slabs' active_objs are those that are not "
		"free or whose slab is not on the list `partial`; what is on `rcu` counts no more.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.visit_named = visit_named,
	.named = COLUMN_NAME,
	.item = COLUMN_OBJECT,
};
