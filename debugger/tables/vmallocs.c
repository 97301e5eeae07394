// SPDX-License-Identifier: GPL-3.0-or-later
/* Areas of vmalloc's address space, as /proc/vmallocinfo has them. */
#include "debugger/tables/table.h"

#include "base/array.h"
#include "debugger/kernel/vmalloc.h"
#include <inttypes.h>

enum { COLUMN_START, COLUMN_SIZE, COLUMN_PAGES, COLUMN_FLAGS, COLUMN_CALLER, COLUMN_FUNCTION };

static const struct table_column columns[] = {
	[COLUMN_START] = { "start", COLUMN_ADDRESS, 16, "where it begins", NULL },
	[COLUMN_SIZE] = { "size", COLUMN_BYTES, 6, "with the guard page behind it", NULL },
	[COLUMN_PAGES] = { "pages", COLUMN_BYTES, 6,
			   "memory that was allocated for it; 0: it maps something else", NULL },
	[COLUMN_FLAGS] = { "flags", COLUMN_INTEGER, 0, "VM_* of kernel mm/vmalloc.c", NULL },
	[COLUMN_CALLER] = { "caller", COLUMN_ADDRESS, 0, "the code that asked for it", NULL },
	[COLUMN_FUNCTION] = { "function", COLUMN_TEXT, -24, "the same by name", NULL },
};

static struct error *visit_area(void *context, const struct vmalloc_area *area)
{
	struct table_scan *scan = context;
	char text[SYMBOL_NAME_SIZE + 80];
	table_set(scan, COLUMN_START, area->start);
	table_set(scan, COLUMN_SIZE, area->size);
	table_set_pages(scan, COLUMN_PAGES, area->pages);
	table_set(scan, COLUMN_FLAGS, area->flags);
	if (area->caller)
		table_set(scan, COLUMN_CALLER, area->caller);
	if (area->caller && target_describe(scan->target, area->caller, text, sizeof(text)))
		table_set_text(scan, COLUMN_FUNCTION, text);
	return table_emit(scan);
}

static struct error *visit(struct table_scan *scan)
{
	uint64_t lost = 0;
	TRY(vmalloc_for_each(scan->target, visit_area, scan, &lost));
	return lost ? table_broken(scan, error_create(ERROR_FORMAT,
						      "%" PRIu64 " areas cannot be read", lost))
		    : NULL;
}

static const char *const examples[] = { "vmallocs --sort -pages -n 10",
					"sql SELECT function, sum(pages) AS bytes FROM vmallocs "
					"GROUP BY function ORDER BY bytes DESC "
					"LIMIT 5",
					NULL };

const struct table table_vmallocs = {
	.name = "vmallocs",
	.summary = "areas of vmalloc",
	.description = "A row is an area of vmalloc's address space that is in use, as "
		       "/proc/vmallocinfo has them.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_START,
};
