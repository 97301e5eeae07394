// SPDX-License-Identifier: GPL-3.0-or-later
/* Zones of memory. */
#include "debugger/kernel/zones.h"

#include "base/array.h"
#include "debugger/tables/table.h"
#include <stdlib.h>

enum {
	COLUMN_ZONE,
	COLUMN_NODE,
	COLUMN_NAME,
	COLUMN_PRESENT,
	COLUMN_MANAGED,
	COLUMN_FREE,
	COLUMN_PER_CPU,
	COLUMN_MIN,
	COLUMN_LOW,
	COLUMN_HIGH,
	COLUMN_LARGEST,
};

static const struct table_column columns[] = {
	[COLUMN_ZONE] = { "zone", COLUMN_ADDRESS, 16, "its struct zone", "struct zone" },
	[COLUMN_NODE] = { "node", COLUMN_INTEGER, 4, "the NUMA node it is of", NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, -8, "DMA, DMA32, Normal, ...", NULL },
	[COLUMN_PRESENT] = { "present", COLUMN_BYTES, 7, "memory that it has", NULL },
	[COLUMN_MANAGED] = { "managed", COLUMN_BYTES, 7, "of that what the allocator gives away",
			     NULL },
	[COLUMN_FREE] = { "free", COLUMN_BYTES, 6, "on the allocator's lists", NULL },
	[COLUMN_PER_CPU] = { "per_cpu", COLUMN_BYTES, 7, "free, but kept by CPUs", NULL },
	[COLUMN_MIN] = { "min", COLUMN_BYTES, 6, "below that, only who must gets some", NULL },
	[COLUMN_LOW] = { "low", COLUMN_BYTES, 6, "below that, kswapd is woken", NULL },
	[COLUMN_HIGH] = { "high", COLUMN_BYTES, 6, "above that, it sleeps again", NULL },
	[COLUMN_LARGEST] = { "largest", COLUMN_BYTES, 7, "the greatest free block", NULL },
};

static struct error *emit(struct table_scan *scan, const struct zone *zone)
{
	int order = zone_highest_order(zone);
	table_set(scan, COLUMN_ZONE, zone->address);
	table_set(scan, COLUMN_NODE, zone->node);
	table_set_text(scan, COLUMN_NAME, zone->name);
	table_set_pages(scan, COLUMN_PRESENT, zone->present);
	table_set_pages(scan, COLUMN_MANAGED, zone->managed);
	table_set_pages(scan, COLUMN_FREE, zone->free);
	table_set_pages(scan, COLUMN_PER_CPU, zone->per_cpu);
	table_set_pages(scan, COLUMN_MIN, zone->min);
	table_set_pages(scan, COLUMN_LOW, zone->low);
	table_set_pages(scan, COLUMN_HIGH, zone->high);
	table_set_pages(scan, COLUMN_LARGEST, order < 0 ? 0 : UINT64_C(1) << order);
	return table_emit(scan);
}

static struct error *visit(struct table_scan *scan)
{
	struct zones *zones = calloc(1, sizeof(*zones));
	if (!zones)
		return error_no_memory();
	struct error *error = zones_read(scan->target, zones);
	for (size_t i = 0; !error && i < zones->count; i++)
		error = emit(scan, &zones->items[i]);
	free(zones);
	return error;
}

static const char *const examples[] = { "zones", "zones -o name,free,min,largest", NULL };

const struct table table_zones = {
	.name = "zones",
	.summary = "zones of memory, with what is free",
	.description = "A row is a struct zone that has memory. What is free is counted on the "
		       "allocator's own lists.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_ZONE,
	.is_object = true,
};
