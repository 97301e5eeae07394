// SPDX-License-Identifier: GPL-3.0-or-later
/* Who has the machine's memory, by kind. */
#include "debugger/kernel/memory_account.h"

#include "base/array.h"
#include "debugger/tables/table.h"

enum { COLUMN_SIZE, COLUMN_PAGES, COLUMN_PERMILLE, COLUMN_KIND };

static const struct table_column columns[] = {
	[COLUMN_SIZE] = { "bytes", COLUMN_BYTES, 8, "that it has", NULL },
	[COLUMN_PAGES] = { "pages", COLUMN_WIDE, 10, "the same in pages", NULL },
	[COLUMN_PERMILLE] = { "permille", COLUMN_INTEGER, 8, "of all memory, thousandths", NULL },
	[COLUMN_KIND] = { "kind", COLUMN_TEXT, -24, "of use", NULL },
};

static struct error *emit(struct table_scan *scan, const struct memory_account *account,
			  const char *kind, uint64_t pages)
{
	uint64_t thousands;
	table_set_text(scan, COLUMN_KIND, kind);
	table_set(scan, COLUMN_PAGES, pages);
	table_set_pages(scan, COLUMN_SIZE, pages);
	if (account->total && !__builtin_mul_overflow(pages, 1000, &thousands))
		table_set(scan, COLUMN_PERMILLE, thousands / account->total);
	return table_emit(scan);
}

static struct error *visit(struct table_scan *scan)
{
	struct memory_account account;
	TRY(memory_account_read(scan->target, &account));
	TRY(emit(scan, &account, "all", account.total));
	for (enum memory_kind kind = 0; kind < MEMORY_KINDS; kind++)
		TRY(emit(scan, &account, memory_kind_name(kind), account.pages[kind]));
	return emit(scan, &account, "in no account", account.unaccounted);
}

static const char *const examples[] = { "memory", "memory --where 'bytes > 1000000' --sort -bytes",
					NULL };

const struct table table_memory = {
	.name = "memory",
	.summary = "use of memory, by kind",
	.description = "A row is a kind of use, from the kernel's own counters, as /proc/meminfo "
		       "has them. No page is in two kinds; \"in no account\" are those that "
		       "somebody took from the page allocator itself. The first row is all.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_KIND,
};
