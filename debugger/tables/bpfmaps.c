// SPDX-License-Identifier: GPL-3.0-or-later
/* BPF maps. */
#include "debugger/kernel/bpf_objects.h"

#include "base/array.h"
#include "debugger/tables/table.h"

enum { COLUMN_MAP, COLUMN_ID, COLUMN_TYPE, COLUMN_KEY, COLUMN_VALUE, COLUMN_ENTRIES, COLUMN_NAME };

static const struct table_column columns[] = {
	[COLUMN_MAP] = { "map", COLUMN_ADDRESS, 16, "its struct bpf_map", "struct bpf_map" },
	[COLUMN_ID] = { "id", COLUMN_INTEGER, 5, "its number", NULL },
	[COLUMN_TYPE] = { "type", COLUMN_TEXT, -16, "hash, array, ringbuf, ...", NULL },
	[COLUMN_KEY] = { "key_size", COLUMN_BYTES, 8, "of a key", NULL },
	[COLUMN_VALUE] = { "value_size", COLUMN_BYTES, 10, "of what is under it", NULL },
	[COLUMN_ENTRIES] = { "max_entries", COLUMN_WIDE, 11, "so many there can be", NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, -16, "the map's", NULL },
};

static struct error *visit_map(void *context, const struct bpf_map *map)
{
	struct table_scan *scan = context;
	if (map->address)
		table_set(scan, COLUMN_MAP, map->address);
	table_set(scan, COLUMN_ID, map->id);
	if (*map->type)
		table_set_text(scan, COLUMN_TYPE, map->type);
	table_set(scan, COLUMN_KEY, map->key_size);
	table_set(scan, COLUMN_VALUE, map->value_size);
	table_set(scan, COLUMN_ENTRIES, map->max_entries);
	if (*map->name)
		table_set_text(scan, COLUMN_NAME, map->name);
	return table_emit(scan);
}

static struct error *broken(void *context, struct error *problem)
{
	return table_broken(context, problem);
}

static struct error *visit(struct table_scan *scan)
{
	const struct bpf_visitor visitor = { .map = visit_map, .broken = broken, .context = scan };
	return bpf_for_each_map(scan->target, &visitor);
}

static const char *const examples[] = { "bpfmaps", "bpfmaps --sort -max_entries", NULL };

const struct table table_bpfmaps = {
	.name = "bpfmaps",
	.summary = "BPF maps",
	.description = "A row is a BPF map that is loaded.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_MAP,
	.is_object = true,
};
