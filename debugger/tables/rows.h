/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of a table, kept: those of a pass, to be looked at again and found by a column's value. */
#ifndef DEBUGGER_TABLES_ROWS_H
#define DEBUGGER_TABLES_ROWS_H

#include "debugger/tables/table.h"

struct rows;

/*
 * Of the columns of a bit mask, out of a budget (borrowed; NULL: without end), of which they leave
 * a part for what sorts them. NULL without memory.
 */
struct rows *rows_create(const struct table *table, uint64_t columns, struct budget *budget);
void rows_destroy(struct rows *rows);
/* A table_scan's `row`; `context`: the struct rows. ERROR_BOUND: the row is not kept. */
struct error *rows_add(void *context, const struct table_cell *cells) MUST_CHECK;
size_t rows_count(const struct rows *rows);
uint64_t rows_columns(const struct rows *rows);
/* How many cells are missing in the dump. */
uint64_t rows_missing(const struct rows *rows);

/* A cell of a column that is kept. CELL_MISSING is CELL_NULL here. */
struct row_cell {
	bool is_null;
	uint64_t number;
	const char *text; /* borrowed, until rows are added */
};
struct row_cell rows_cell(const struct rows *rows, size_t row, unsigned int column);

/*
 * The rows whose column is this number, or this text: *ret, borrowed until the next question, are
 * their numbers in the order of the table. Errors: no memory.
 */
struct error *rows_find_number(struct rows *rows, unsigned int column, uint64_t number,
			       const uint32_t **ret, size_t *ret_count) MUST_CHECK;
struct error *rows_find_text(struct rows *rows, unsigned int column, const char *text,
			     const uint32_t **ret, size_t *ret_count) MUST_CHECK;

#endif
