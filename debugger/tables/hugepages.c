// SPDX-License-Identifier: GPL-3.0-or-later
/* Pools of huge pages, as /sys/kernel/mm/hugepages has them. */
#include "debugger/tables/walks.h"

#include "base/array.h"
#include <inttypes.h>

enum {
	COLUMN_HSTATE,
	COLUMN_SIZE,
	COLUMN_COUNT,
	COLUMN_FREE,
	COLUMN_RESERVED,
	COLUMN_SURPLUS,
	COLUMN_OVERCOMMIT,
	COLUMN_NAME
};

static const struct table_column columns[] = {
	[COLUMN_HSTATE] = { "hstate", COLUMN_ADDRESS, 16, "its struct hstate", "struct hstate" },
	[COLUMN_SIZE] = { "size", COLUMN_BYTES, 6, "of such a page", NULL },
	[COLUMN_COUNT] = { "nr_hugepages", COLUMN_WIDE, 12, "that there are", NULL },
	[COLUMN_FREE] = { "free", COLUMN_WIDE, 6, "of these, that nobody has", NULL },
	[COLUMN_RESERVED] = { "resv", COLUMN_WIDE, 6, "of the free, that are promised", NULL },
	[COLUMN_SURPLUS] = { "surplus", COLUMN_WIDE, 7, "above what was set", NULL },
	[COLUMN_OVERCOMMIT] = { "overcommit", COLUMN_WIDE, 0, "so many there may be", NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, -20, "the pool's", NULL },
};

#define POOLS_MAX  64
#define ORDERS_MAX 40

static struct error *set_size(struct table_scan *scan, const struct object *pool)
{
	uint64_t order;
	TRY(object_u64(pool, "order", &order));
	if (order > ORDERS_MAX)
		return error_create(ERROR_FORMAT, "order %" PRIu64 " is more than there can be",
				    order);
	table_set_pages(scan, COLUMN_SIZE, UINT64_C(1) << order);
	return NULL;
}

static struct error *emit(struct table_scan *scan, const struct object *pool)
{
	table_set(scan, COLUMN_HSTATE, pool->address);
	TRY(table_set_error(scan, COLUMN_SIZE, set_size(scan, pool)));
	TRY(table_set_member(scan, COLUMN_COUNT, pool, "nr_huge_pages"));
	TRY(table_set_member(scan, COLUMN_FREE, pool, "free_huge_pages"));
	TRY(table_set_member(scan, COLUMN_RESERVED, pool, "resv_huge_pages"));
	TRY(table_set_member(scan, COLUMN_SURPLUS, pool, "surplus_huge_pages"));
	TRY(table_set_member(scan, COLUMN_OVERCOMMIT, pool, "nr_overcommit_huge_pages"));
	TRY(table_set_chars(scan, COLUMN_NAME, pool, "name"));
	return table_emit(scan);
}

static struct error *visit(struct table_scan *scan)
{
	struct object pool, counter;
	uint64_t table, size, count;
	if (!table_symbol(scan, "hstates", &table))
		return error_create(ERROR_NOT_FOUND, "this kernel has no hstates");
	TRY(object_at(scan->target, "struct hstate", table, &pool));
	TRY(object_variable(scan->target, "hugetlb_max_hstate", "int", &counter));
	TRY(object_u64(&counter, NULL, &count));
	if (count > POOLS_MAX || !type_size(pool.type, &size))
		return error_create(ERROR_FORMAT, "hugetlb_max_hstate is more than there can be");
	for (uint64_t i = 0; i < count; i++, pool.address += size)
		TRY(emit(scan, &pool));
	return NULL;
}

static const char *const examples[] = { "hugepages", "hugepages -o size,nr_hugepages,free", NULL };

const struct table table_hugepages = {
	.name = "hugepages",
	.summary = "pools of huge pages",
	.description = "A row is a size of huge pages that can be set aside.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_HSTATE,
	.is_object = true,
};
