// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/zones.h"

#include "debugger/kernel/page_counters.h"
#include <stdio.h>

struct reading {
	struct zones *zones;
	uint32_t node;
};

static struct error *read_watermarks(const struct object *object, struct zone *zone)
{
	uint64_t boost = 0;
	TRY(object_u64(object, "_watermark[0]", &zone->min));
	TRY(object_u64(object, "_watermark[1]", &zone->low));
	TRY(object_u64(object, "_watermark[2]", &zone->high));
	if (object_has(object, "watermark_boost"))
		TRY(object_u64(object, "watermark_boost", &boost));
	zone->min += boost;
	zone->low += boost;
	zone->high += boost;
	return NULL;
}

static struct error *read_blocks(const struct object *object, struct zone *zone)
{
	char path[40];
	for (zone->orders = 0; zone->orders < ORDERS_MAX; zone->orders++) {
		uint64_t *blocks = &zone->blocks[zone->orders];
		snprintf(path, sizeof(path), "free_area[%u].nr_free", zone->orders);
		if (!object_has(object, path))
			break;
		TRY(object_u64(object, path, blocks));
		if (*blocks > zone->present >> zone->orders)
			return error_create(ERROR_FORMAT, "more is free than there is");
		zone->free += *blocks << zone->orders;
	}
	return NULL;
}

/* Until 28f836b6777b (5.14) they were in per_cpu_pageset. */
static struct error *read_per_cpu(const struct object *object, struct zone *zone)
{
	struct target *target = object->target;
	const struct cpu *cpus;
	size_t count = target_cpus(target, &cpus);
	bool is_old = !object_has(object, "per_cpu_pageset");
	uint64_t base, pages;
	struct object lists;
	TRY(object_pointer(object, is_old ? "pageset" : "per_cpu_pageset", &base));
	for (size_t i = 0; i < count; i++) {
		TRY(object_at(target, is_old ? "struct per_cpu_pageset" : "struct per_cpu_pages",
			      base + cpus[i].per_cpu_offset, &lists));
		TRY(object_u64(&lists, is_old ? "pcp.count" : "count", &pages));
		if (pages <= zone->present)
			zone->per_cpu += pages;
	}
	return NULL;
}

static struct error *read_zone(void *context, const struct object *object)
{
	struct reading *reading = context;
	uint64_t name;
	size_t length;
	if (reading->zones->count >= ZONES_TOTAL_MAX)
		return error_create(ERROR_FORMAT, "more than %d zones", ZONES_TOTAL_MAX);
	struct zone *zone = &reading->zones->items[reading->zones->count];
	*zone = (struct zone){ .address = object->address, .node = reading->node };
	TRY(object_u64(object, "name", &name));
	TRY(error_only_fatal(memory_read_string(object->target->memory, name, zone->name,
						sizeof(zone->name), &length)));
	TRY(object_u64(object, "present_pages", &zone->present));
	TRY(object_u64(object, "managed_pages.counter", &zone->managed));
	if (zone->present > PAGES_LIMIT || zone->managed > PAGES_LIMIT)
		return error_create(ERROR_FORMAT, "a zone has too many pages");
	TRY(read_watermarks(object, zone));
	TRY(read_blocks(object, zone));
	TRY(read_per_cpu(object, zone));
	reading->zones->count++;
	return NULL;
}

static struct error *read_node(void *context, uint32_t number, const struct object *node)
{
	struct reading *reading = context;
	reading->node = number;
	return node_for_each_zone(node, read_zone, reading);
}

struct error *zones_read(struct target *target, struct zones *ret)
{
	struct reading reading = { .zones = ret };
	ret->count = 0;
	TRY(target_need_cpus(target));
	return node_for_each(target, read_node, &reading);
}

int zone_highest_order(const struct zone *zone)
{
	for (uint32_t i = zone->orders; i--;)
		if (zone->blocks[i])
			return (int)i;
	return -1;
}
