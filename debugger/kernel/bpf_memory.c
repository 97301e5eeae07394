// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/bpf_memory.h"

#include "base/array.h"
#include "debugger/kernel/vmalloc.h"
#include "debugger/target/object.h"
#include <stdlib.h>
#include <string.h>

#define AREAS_MAX 65536
#define PARTS_MAX 3 /* pieces of memory that a map may have */

struct areas {
	struct vmalloc_area *items; /* by ascending address */
	size_t count, capacity;
};

struct summing {
	struct target *target;
	struct areas areas;
	struct bpf_memory *memory;
};

static struct error *keep_area(void *context, const struct vmalloc_area *area)
{
	struct areas *areas = context;
	if (!area->pages || areas->count >= AREAS_MAX)
		return NULL;
	if (!array_reserve(&areas->items, &areas->capacity, areas->count + 1))
		return error_no_memory();
	areas->items[areas->count++] = *area;
	return NULL;
}

static int compare_areas(const void *left, const void *right)
{
	const struct vmalloc_area *a = left, *b = right;
	return (a->start > b->start) - (a->start < b->start);
}

/* The number of the area that has an address; count: none has. */
static size_t area_of(const struct areas *areas, uint64_t address)
{
	size_t after = array_bound(areas->count, i, areas->items[i].start <= address);
	if (!after || address - areas->items[after - 1].start >= areas->items[after - 1].size)
		return areas->count;
	return after - 1;
}

/* Hash tables have their buckets and their elements apart. */
static struct error *read_parts(struct target *target, const struct bpf_map *map,
				uint64_t parts[PARTS_MAX])
{
	struct object table;
	parts[0] = map->address;
	parts[1] = parts[2] = 0;
	if (!strstr(map->type, "hash") || strstr(map->type, "of_maps"))
		return NULL;
	TRY(object_container(target, "struct bpf_htab", "map", map->address, &table));
	TRY(object_u64(&table, "buckets", &parts[1]));
	return object_u64(&table, "elems", &parts[2]);
}

static void keep_map(struct bpf_memory *memory, const struct bpf_map *map, uint64_t pages)
{
	size_t at = 0;
	while (at < memory->count && memory->items[at].pages >= pages)
		at++;
	if (at == BPF_TOP)
		return;
	size_t moved = (memory->count < BPF_TOP ? memory->count : BPF_TOP - 1) - at;
	memmove(&memory->items[at + 1], &memory->items[at], moved * sizeof(*memory->items));
	memory->items[at].map = *map;
	memory->items[at].pages = pages;
	memory->count += memory->count < BPF_TOP;
}

static struct error *add_map(void *context, const struct bpf_map *map)
{
	struct summing *summing = context;
	uint64_t parts[PARTS_MAX], pages = 0;
	size_t seen[PARTS_MAX];
	summing->memory->maps++;
	struct error *error = read_parts(summing->target, map, parts);
	if (error)
		return error_only_fatal(error);
	for (size_t i = 0; i < PARTS_MAX; i++) {
		seen[i] = area_of(&summing->areas, parts[i]);
		bool is_new = seen[i] < summing->areas.count;
		for (size_t k = 0; k < i; k++)
			is_new &= seen[k] != seen[i];
		if (is_new)
			pages += summing->areas.items[seen[i]].pages;
	}
	summing->memory->pages += pages;
	if (pages)
		keep_map(summing->memory, map, pages);
	return NULL;
}

static struct error *leave_out(void *context, struct error *problem)
{
	(void)context;
	return error_only_fatal(problem);
}

struct error *bpf_memory_read(struct target *target, struct bpf_memory *ret)
{
	struct summing summing = { .target = target, .memory = ret };
	const struct bpf_visitor visitor = { .map = add_map,
					     .broken = leave_out,
					     .context = &summing };
	uint64_t lost;
	*ret = (struct bpf_memory){ .maps = 0 };
	struct error *error = vmalloc_for_each(target, keep_area, &summing.areas, &lost);
	array_sort(summing.areas.items, summing.areas.count, sizeof(*summing.areas.items),
		   compare_areas);
	if (!error)
		error = bpf_for_each_map(target, &visitor);
	free(summing.areas.items);
	return error;
}
