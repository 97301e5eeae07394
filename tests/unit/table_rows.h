/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of a table as text, for tests: "1|name|-;2|other|3;". Addresses are left out. */
#ifndef TESTS_UNIT_TABLE_ROWS_H
#define TESTS_UNIT_TABLE_ROWS_H

#include "debugger/tables/table.h"
#include "tests/unit/test.h"
#include <inttypes.h>

/* More rows than that end a pass with an error. */
#define TABLE_ROWS_MAX 64

struct table_rows {
	const struct table *table;
	char text[4096];
	size_t used, count;
};

static inline struct error *table_rows_add(void *context, const struct table_cell *cells)
{
	struct table_rows *rows = context;
	if (rows->count++ > TABLE_ROWS_MAX)
		return error_create(ERROR_OTHER, "too many rows");
	for (size_t i = 0; i < rows->table->column_count; i++) {
		size_t left = sizeof(rows->text) - rows->used;
		char *at = rows->text + rows->used;
		if (left < 80 || rows->table->columns[i].kind == COLUMN_ADDRESS)
			continue;
		rows->used += (size_t)(cells[i].state != CELL_SET ? snprintf(at, left, "-")
				       : cells[i].text ? snprintf(at, left, "%.40s", cells[i].text)
						       : snprintf(at, left, "%" PRId64,
								  (int64_t)cells[i].number));
		rows->text[rows->used++] = i + 1 < rows->table->column_count ? '|' : ';';
		rows->text[rows->used] = 0;
	}
	return NULL;
}

/* *ret_problem: something was broken. The text is good until the next call. */
static inline const char *table_rows_read(struct table_rows *rows, struct target *target,
					  const struct table *table, bool *ret_problem)
{
	struct table_scan scan = { .target = target,
				   .table = table,
				   .wanted = UINT64_MAX,
				   .row = table_rows_add,
				   .context = rows };
	*rows = (struct table_rows){ .table = table };
	struct error *error = table_scan_run(&scan);
	struct error *problem = table_scan_problem(&scan);
	*ret_problem = error || problem;
	error_free(error);
	error_free(problem);
	table_scan_deinit(&scan);
	return rows->text;
}

#endif
