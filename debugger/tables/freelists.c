// SPDX-License-Identifier: GPL-3.0-or-later
/* The page allocator's lists of free blocks, as /proc/pagetypeinfo has them. */
#include "debugger/kernel/zones.h"

#include "base/array.h"
#include "debugger/tables/walks.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	COLUMN_ZONE,
	COLUMN_NODE,
	COLUMN_NAME,
	COLUMN_ORDER,
	COLUMN_TYPE,
	COLUMN_LIST,
	COLUMN_BLOCKS,
	COLUMN_FREE
};

static const struct table_column columns[] = {
	[COLUMN_ZONE] = { "zone", COLUMN_ADDRESS, 0, "its struct zone", "struct zone" },
	[COLUMN_NODE] = { "node", COLUMN_INTEGER, 4, "of the zone", NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, -8, "of the zone", NULL },
	[COLUMN_ORDER] = { "ord", COLUMN_INTEGER, 3, "a block has 1 << ord pages", NULL },
	[COLUMN_TYPE] = { "type", COLUMN_TEXT, -12, "what may be allocated there: MIGRATE_*",
			  NULL },
	[COLUMN_LIST] = { "list", COLUMN_ADDRESS, 16, "the head of the list", "struct list_head" },
	[COLUMN_BLOCKS] = { "blocks", COLUMN_WIDE, 8, "on it", NULL },
	[COLUMN_FREE] = { "free", COLUMN_BYTES, 6, "in these", NULL },
};

#define TYPES_MAX 16u

/* Lists that lead into one another would be walked for each of them; a page is in one. */
struct pass {
	const struct zone *zone;
	uint64_t count; /* blocks on the list that is walked */
	uint64_t left;	/* of the machine's pages */
};

static struct error *count_page(struct table_scan *scan, const struct object *page, void *context)
{
	struct pass *pass = context;
	(void)scan;
	if (!pass->left)
		return error_create(ERROR_FORMAT,
				    "more blocks are free than there are pages, at page 0x%" PRIx64,
				    page->address);
	pass->left--;
	pass->count++;
	return NULL;
}

static struct error *visit_list(struct table_scan *scan, struct pass *pass, uint32_t order,
				uint64_t type, uint64_t head)
{
	const struct zone *zone = pass->zone;
	const struct table_walk walk = { CONTAINER_LIST, "struct page", "lru", count_page, pass };
	table_set(scan, COLUMN_ZONE, zone->address);
	table_set(scan, COLUMN_NODE, zone->node);
	table_set_text(scan, COLUMN_NAME, zone->name);
	table_set(scan, COLUMN_ORDER, order);
	table_set(scan, COLUMN_LIST, head);
	table_set_enumerator(scan, COLUMN_TYPE, "enum migratetype", "MIGRATE_", type);
	if (table_wants(scan, COLUMN_BLOCKS) || table_wants(scan, COLUMN_FREE)) {
		pass->count = 0;
		TRY(table_broken(scan, table_walk_forgetful(scan, head, &walk)));
		table_set(scan, COLUMN_BLOCKS, pass->count);
		if (pass->count < UINT64_MAX >> order)
			table_set_pages(scan, COLUMN_FREE, pass->count << order);
	}
	return table_emit(scan);
}

static struct error *visit_zone(struct table_scan *scan, struct pass *pass)
{
	const struct zone *zone = pass->zone;
	struct object object, lists, head;
	uint64_t all, one;
	TRY(object_at(scan->target, "struct zone", zone->address, &object));
	for (uint32_t order = 0; order < zone->orders; order++) {
		char path[48];
		snprintf(path, sizeof(path), "free_area[%" PRIu32 "].free_list", order);
		TRY(object_member(&object, path, &lists));
		snprintf(path, sizeof(path), "free_area[%" PRIu32 "].free_list[0]", order);
		TRY(object_member(&object, path, &head));
		if (!type_size(lists.type, &all) || !type_size(head.type, &one) || !one ||
		    all / one > TYPES_MAX)
			return error_create(ERROR_FORMAT, "free_list has no usable length");
		for (uint64_t type = 0; type < all / one; type++)
			TRY(visit_list(scan, pass, order, type, head.address + type * one));
	}
	return NULL;
}

static struct error *visit(struct table_scan *scan)
{
	struct zones *zones = calloc(1, sizeof(*zones));
	if (!zones)
		return error_no_memory();
	struct pass pass = { .left = scan->target->facts->max_physical /
				     scan->target->facts->page_size };
	struct error *error = zones_read(scan->target, zones);
	for (size_t i = 0; !error && i < zones->count; i++) {
		pass.zone = &zones->items[i];
		error = table_broken(scan, visit_zone(scan, &pass));
	}
	free(zones);
	return error;
}

static const char *const examples[] = {
	"freelists --where 'blocks > 0'",
	"sql SELECT name, ord, sum(blocks) AS blocks FROM freelists GROUP BY name, ord", NULL
};

const struct table table_freelists = {
	.name = "freelists",
	.summary = "free blocks of pages, by their size and use",
	.description =
		"A row is one of the lists of the page allocator; its blocks are counted one by "
		"one. What CPUs keep for themselves is in zones.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_LIST,
};
