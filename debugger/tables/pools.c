// SPDX-License-Identifier: GPL-3.0-or-later
/* Pools of workers, which run what is in queues of work. */
#include "debugger/tables/walks.h"

#include "base/array.h"

enum {
	COLUMN_POOL,
	COLUMN_ID,
	COLUMN_CPU,
	COLUMN_NODE,
	COLUMN_FLAGS,
	COLUMN_NICE,
	COLUMN_WORKERS,
	COLUMN_IDLE,
	COLUMN_PENDING,
	COLUMN_WATCHDOG,
};

static const struct table_column columns[] = {
	[COLUMN_POOL] = { "worker_pool", COLUMN_ADDRESS, 16, "its struct worker_pool",
			  "struct worker_pool" },
	[COLUMN_ID] = { "pool", COLUMN_INTEGER, 4, "its number", NULL },
	[COLUMN_CPU] = { "cpu", COLUMN_INTEGER, 4, "whose it is; -1: of several", NULL },
	[COLUMN_NODE] = { "node", COLUMN_INTEGER, 0, "the NUMA node; -1: of several", NULL },
	[COLUMN_FLAGS] = { "flags", COLUMN_INTEGER, 0, "POOL_* of kernel/workqueue.c", NULL },
	[COLUMN_NICE] = { "nice", COLUMN_INTEGER, 4, "of its workers", NULL },
	[COLUMN_WORKERS] = { "nr_workers", COLUMN_INTEGER, 10, "that it has", NULL },
	[COLUMN_IDLE] = { "nr_idle", COLUMN_INTEGER, 7, "of these, with nothing to do", NULL },
	[COLUMN_PENDING] = { "pending", COLUMN_INTEGER, 7, "works that wait for one", NULL },
	[COLUMN_WATCHDOG] = { "watchdog_ts", COLUMN_WIDE, 11, "when one was last begun, in jiffies",
			      NULL },
};

static struct error *count_work(struct table_scan *scan, const struct object *work, void *context)
{
	uint64_t *count = context;
	(void)scan;
	(void)work;
	(*count)++;
	return NULL;
}

static struct error *set_pending(struct table_scan *scan, const struct object *pool)
{
	struct object list;
	uint64_t count = 0;
	const struct table_walk walk = { CONTAINER_LIST, "struct work_struct", "entry", count_work,
					 &count };
	TRY(object_member(pool, "worklist", &list));
	TRY(table_walk(scan, list.address, &walk));
	table_set(scan, COLUMN_PENDING, count);
	return NULL;
}

static struct error *set_nice(struct table_scan *scan, const struct object *pool)
{
	struct object attributes;
	TRY(object_follow(pool, "attrs", &attributes));
	return attributes.address ? table_set_member(scan, COLUMN_NICE, &attributes, "nice") : NULL;
}

static struct error *visit_pool(struct table_scan *scan, const struct object *pool, void *context)
{
	(void)context;
	table_set(scan, COLUMN_POOL, pool->address);
	TRY(table_set_member(scan, COLUMN_ID, pool, "id"));
	TRY(table_set_member(scan, COLUMN_CPU, pool, "cpu"));
	TRY(table_set_member(scan, COLUMN_NODE, pool, "node"));
	TRY(table_set_member(scan, COLUMN_FLAGS, pool, "flags"));
	TRY(table_set_error(scan, COLUMN_NICE, set_nice(scan, pool)));
	TRY(table_set_member(scan, COLUMN_WORKERS, pool, "nr_workers"));
	TRY(table_set_member(scan, COLUMN_IDLE, pool, "nr_idle"));
	TRY(table_set_error(scan, COLUMN_PENDING, set_pending(scan, pool)));
	bool is_renamed = object_has(pool, "last_progress_ts"); /* 7.3 has it so */
	TRY(table_set_member(scan, COLUMN_WATCHDOG, pool,
			     is_renamed ? "last_progress_ts" : "watchdog_ts"));
	return table_emit(scan);
}

static struct error *visit(struct table_scan *scan)
{
	const struct table_walk walk = { CONTAINER_IDR, "struct worker_pool", NULL, visit_pool,
					 NULL };
	return table_walk_variable(scan, "worker_pool_idr", "struct idr", &walk);
}

static const char *const examples[] = { "pools", "pools --where 'pending > 0'", NULL };

const struct table table_pools = {
	.name = "pools",
	.summary = "pools of workers",
	.description = "A row is a struct worker_pool, whose workers run works of the queues.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_POOL,
	.is_object = true,
};
