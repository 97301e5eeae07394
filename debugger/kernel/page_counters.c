// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/page_counters.h"

#include <stdio.h>
#include <string.h>

#define NODES_MAX 1024
#define ZONES_MAX 16

/* One of the two families of counters while it is read. */
struct family {
	struct page_counters *counters;
	size_t first;			     /* item with the number 0 */
	size_t count;			     /* items; some numbers have several names */
	uint32_t numbers[PAGE_COUNTERS_MAX]; /* of the items */
	uint64_t sums[PAGE_COUNTERS_MAX];    /* by number, modulo 2^64 */
	uint32_t limit;			     /* numbers below it exist */
};

/* --- nodes and zones -------------------------------------------------------------------------- */

struct error *node_ids(struct target *target, uint64_t *ret)
{
	struct object count;
	/* A constant 1 where the kernel was built for one node. */
	struct error *error = object_variable(target, "nr_node_ids", "unsigned int", &count);
	if (!error)
		error = object_u64(&count, NULL, ret);
	if (error)
		*ret = 1;
	if (*ret > NODES_MAX)
		*ret = NODES_MAX;
	return error_only_fatal(error);
}

struct error *node_for_each(struct target *target, node_visitor *visit, void *context)
{
	struct object node, table;
	uint64_t count, address;
	/* Without CONFIG_NUMA there is no table. */
	struct error *error =
		object_variable(target, "contig_page_data", "struct pglist_data", &node);
	if (!error)
		return visit(context, 0, &node);
	error_free(error);
	TRY(node_ids(target, &count));
	TRY(object_variable(target, "node_data", "unsigned long", &table));
	bool has_node = false;
	for (uint32_t i = 0; i < count; i++) {
		TRY(memory_read_word(target->memory,
				     table.address + (uint64_t)i * target->memory->word_size,
				     &address));
		if (!address)
			continue;
		has_node = true;
		TRY(object_at(target, "struct pglist_data", address, &node));
		TRY(visit(context, i, &node));
	}
	return has_node ? NULL : error_create(ERROR_FORMAT, "node_data has no node");
}

struct error *node_for_each_zone(const struct object *node, zone_visitor *visit, void *context)
{
	uint64_t count, present;
	struct object zone;
	char path[32];
	TRY(object_u64(node, "nr_zones", &count));
	for (uint32_t i = 0; i < count && i < ZONES_MAX; i++) {
		snprintf(path, sizeof(path), "node_zones[%u]", i);
		TRY(object_member(node, path, &zone));
		TRY(object_u64(&zone, "present_pages", &present));
		if (present)
			TRY(visit(context, &zone));
	}
	return NULL;
}

/* --- counters --------------------------------------------------------------------------------- */

/* The names of a family, up to the one that says how many there are. */
static struct error *read_names(struct target *target, const char *type_name, const char *end,
				struct family *family)
{
	struct type type;
	struct btf_type record;
	struct btf_enumerator enumerator;
	struct page_counters *counters = family->counters;
	TRY(target_find_type(target, NULL, type_name, &type));
	if (!btf_get(type.btf, type.id, &record))
		return error_create(ERROR_FORMAT, "%s is no type", type_name);
	family->first = counters->count;
	for (uint32_t i = 0; btf_enumerator(&record, i, &enumerator); i++) {
		if (!strcmp(enumerator.name, end))
			break;
		if (enumerator.value < 0 || enumerator.value >= PAGE_COUNTERS_MAX ||
		    counters->count >= PAGE_COUNTERS_MAX)
			return error_create(ERROR_FORMAT, "%s has too many counters", type_name);
		family->numbers[family->count++] = (uint32_t)enumerator.value;
		counters->items[counters->count++] = (struct page_counter){ enumerator.name, 0 };
		if (family->limit <= (uint32_t)enumerator.value)
			family->limit = (uint32_t)enumerator.value + 1;
	}
	return NULL;
}

/* What each CPU keeps to itself: an array of s8 in a per-CPU struct. */
static struct error *add_differences(struct family *family, const struct object *owner,
				     const char *pointer, const char *type_name, const char *member)
{
	const struct cpu *cpus;
	struct target *target = owner->target;
	int8_t differences[PAGE_COUNTERS_MAX];
	uint64_t base, offset;
	size_t count = target_cpus(target, &cpus);
	TRY(object_pointer(owner, pointer, &base));
	TRY(object_offset(target, type_name, member, &offset));
	for (size_t i = 0; i < count; i++) {
		TRY(memory_read(target->memory, base + cpus[i].per_cpu_offset + offset, differences,
				family->limit));
		for (uint32_t k = 0; k < family->limit; k++)
			family->sums[k] += (uint64_t)(int64_t)differences[k];
	}
	return NULL;
}

static struct error *add_zone(void *context, const struct object *zone)
{
	/* per_cpu_zonestats is part of pageset until 28f836b6777b (5.14). */
	return object_has(zone, "per_cpu_zonestats")
		       ? add_differences(context, zone, "per_cpu_zonestats",
					 "struct per_cpu_zonestat", "vm_stat_diff")
		       : add_differences(context, zone, "pageset", "struct per_cpu_pageset",
					 "vm_stat_diff");
}

static struct error *add_zones(void *context, uint32_t number, const struct object *node)
{
	(void)number;
	return node_for_each_zone(node, add_zone, context);
}

static struct error *add_node(void *context, uint32_t number, const struct object *node)
{
	(void)number;
	return add_differences(context, node, "per_cpu_nodestats", "struct per_cpu_nodestat",
			       "vm_node_stat_diff");
}

static struct error *read_family(struct target *target, const char *variable, node_visitor *add,
				 struct family *family)
{
	struct object sums;
	TRY(object_variable(target, variable, "unsigned long", &sums));
	for (uint32_t i = 0; i < family->limit; i++) {
		uint64_t value;
		TRY(memory_read_word(target->memory,
				     sums.address + (uint64_t)i * target->memory->word_size,
				     &value));
		family->sums[i] = value;
	}
	TRY(node_for_each(target, add, family));
	for (size_t i = 0; i < family->count; i++) {
		uint64_t sum = family->sums[family->numbers[i]];
		family->counters->items[family->first + i].value = sum > PAGES_LIMIT ? 0 : sum;
	}
	return NULL;
}

struct error *page_counters_read(struct target *target, struct page_counters *ret)
{
	struct family zones = { .counters = ret }, nodes = { .counters = ret };
	ret->count = 0;
	TRY(target_need_cpus(target));
	TRY(read_names(target, "enum zone_stat_item", "NR_VM_ZONE_STAT_ITEMS", &zones));
	TRY(read_names(target, "enum node_stat_item", "NR_VM_NODE_STAT_ITEMS", &nodes));
	TRY(read_family(target, "vm_zone_stat", add_zones, &zones));
	return read_family(target, "vm_node_stat", add_node, &nodes);
}

bool page_counter(const struct page_counters *counters, const char *name, uint64_t *ret)
{
	for (size_t i = 0; i < counters->count; i++)
		if (!strcmp(counters->items[i].name, name)) {
			*ret = counters->items[i].value;
			return true;
		}
	return false;
}
