// SPDX-License-Identifier: GPL-3.0-or-later
/* Free pages that CPUs keep for themselves (kernel include/linux/mmzone.h). */
#include "debugger/tables/walks.h"

#include "base/array.h"
#include "debugger/kernel/page_counters.h"

enum {
	COLUMN_PAGESET,
	COLUMN_ZONE,
	COLUMN_NODE,
	COLUMN_NAME,
	COLUMN_CPU,
	COLUMN_COUNT,
	COLUMN_HIGH,
	COLUMN_BATCH,
	COLUMN_HIGH_MIN,
	COLUMN_HIGH_MAX,
	COLUMN_THRESHOLD,
};

static const struct table_column columns[] = {
	[COLUMN_PAGESET] = { "pageset", COLUMN_ADDRESS, 16, "its struct per_cpu_pages",
			     "struct per_cpu_pages" },
	[COLUMN_ZONE] = { "zone", COLUMN_ADDRESS, 0, "the struct zone that they are of",
			  "struct zone" },
	[COLUMN_NODE] = { "node", COLUMN_INTEGER, 4, "the NUMA node of that", NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, -8, "DMA, DMA32, Normal, ...", NULL },
	[COLUMN_CPU] = { "cpu", COLUMN_INTEGER, 4, "who keeps them", NULL },
	[COLUMN_COUNT] = { "count", COLUMN_WIDE, 6, "pages that it keeps", NULL },
	[COLUMN_HIGH] = { "high", COLUMN_WIDE, 6, "above that, it gives some back", NULL },
	[COLUMN_BATCH] = { "batch", COLUMN_WIDE, 6, "pages that it takes or gives at once", NULL },
	[COLUMN_HIGH_MIN] = { "high_min", COLUMN_WIDE, 8, "the least that high goes down to",
			      NULL },
	[COLUMN_HIGH_MAX] = { "high_max", COLUMN_WIDE, 8, "the most that it goes up to", NULL },
	[COLUMN_THRESHOLD] = { "threshold", COLUMN_INTEGER, 9,
			       "changes of the zone's counters that it keeps to itself", NULL },
};

struct pass {
	struct table_scan *scan;
	uint32_t node;
};

/* Two per-CPU structs since 28f836b6777b (5.14), before that one that has both. */
struct places {
	const char *lists, *lists_type, *counters, *counters_type;
	const char *within; /* of the first: struct per_cpu_pages */
};

static const struct places places = { "per_cpu_pageset", "struct per_cpu_pages",
				      "per_cpu_zonestats", "struct per_cpu_zonestat", NULL };
static const struct places old_places = { "pageset", "struct per_cpu_pageset", "pageset",
					  "struct per_cpu_pageset", "pcp" };

static struct error *of_cpu(const struct object *zone, const char *member, const char *type_name,
			    const struct cpu *cpu, struct object *ret)
{
	uint64_t base;
	TRY(object_pointer(zone, member, &base));
	return object_at(zone->target, type_name, base + cpu->per_cpu_offset, ret);
}

/* What the kernel does not have stays without a value. */
static struct error *set_present(struct table_scan *scan, unsigned int column,
				 const struct object *object, const char *path)
{
	return object_has(object, path) ? table_set_member(scan, column, object, path) : NULL;
}

static struct error *set_lists(struct table_scan *scan, const struct object *zone,
			       const struct places *where, const struct cpu *cpu)
{
	struct object lists;
	TRY(of_cpu(zone, where->lists, where->lists_type, cpu, &lists));
	TRY(object_member(&lists, where->within, &lists));
	table_set(scan, COLUMN_PAGESET, lists.address);
	TRY(table_set_member(scan, COLUMN_COUNT, &lists, "count"));
	TRY(table_set_member(scan, COLUMN_HIGH, &lists, "high"));
	TRY(table_set_member(scan, COLUMN_BATCH, &lists, "batch"));
	TRY(set_present(scan, COLUMN_HIGH_MIN, &lists, "high_min"));
	return set_present(scan, COLUMN_HIGH_MAX, &lists, "high_max");
}

static struct error *set_threshold(struct table_scan *scan, const struct object *zone,
				   const struct places *where, const struct cpu *cpu)
{
	struct object counters;
	TRY(of_cpu(zone, where->counters, where->counters_type, cpu, &counters));
	return table_set_member(scan, COLUMN_THRESHOLD, &counters, "stat_threshold");
}

static struct error *emit(const struct pass *pass, const struct object *zone, const struct cpu *cpu)
{
	struct table_scan *scan = pass->scan;
	const struct places *where = object_has(zone, places.lists) ? &places : &old_places;
	table_set(scan, COLUMN_ZONE, zone->address);
	table_set(scan, COLUMN_NODE, pass->node);
	TRY(table_set_pointed(scan, COLUMN_NAME, zone, "name"));
	table_set(scan, COLUMN_CPU, cpu->number);
	TRY(table_set_error(scan, COLUMN_COUNT, set_lists(scan, zone, where, cpu)));
	TRY(table_set_error(scan, COLUMN_THRESHOLD, set_threshold(scan, zone, where, cpu)));
	return table_emit(scan);
}

static struct error *visit_zone(void *context, const struct object *zone)
{
	const struct pass *pass = context;
	const struct cpu *cpus;
	size_t count = target_cpus(zone->target, &cpus);
	for (size_t i = 0; i < count; i++)
		TRY(emit(pass, zone, &cpus[i]));
	return NULL;
}

static struct error *visit_node(void *context, uint32_t number, const struct object *node)
{
	struct pass *pass = context;
	pass->node = number;
	return node_for_each_zone(node, visit_zone, pass);
}

static struct error *visit(struct table_scan *scan)
{
	struct pass pass = { .scan = scan };
	TRY(target_need_cpus(scan->target));
	return node_for_each(scan->target, visit_node, &pass);
}

static const char *const examples[] = {
	"pagesets", "pagesets --sort -count -n 5",
	"sql SELECT cpu, sum(count) AS pages FROM pagesets GROUP BY cpu", NULL
};

const struct table table_pagesets = {
	.name = "pagesets",
	.summary = "free pages that CPUs keep",
	.description = "A row is a CPU's lists of free pages of a zone, as /proc/zoneinfo has them "
		       "below \"pagesets\". `high_min` and `high_max` are NULL on kernels whose "
		       "`high` stays (before 6.7).",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_PAGESET,
	.is_object = true,
};
