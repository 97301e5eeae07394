// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/tables/rows.h"

#include "base/array.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A number, or where a text begins in `texts`. */
struct kept {
	uint64_t value;
	bool is_null;
};

struct rows {
	const struct table *table;
	struct budget *budget;
	uint64_t columns;
	unsigned int place[TABLE_COLUMNS_MAX]; /* of a column among those that are kept */
	unsigned int width;
	struct kept *cells; /* width of them a row */
	size_t cell_capacity, count;
	char *texts;
	size_t text_size, text_capacity;
	uint64_t missing;
	bool is_ordered;		    /* by some column */
	uint32_t *order[TABLE_COLUMNS_MAX]; /* the rows by that column's value; NULL: not asked */
};

struct rows *rows_create(const struct table *table, uint64_t columns, struct budget *budget)
{
	struct rows *rows = calloc(1, sizeof(*rows));
	if (!rows)
		return NULL;
	rows->table = table;
	rows->budget = budget;
	for (unsigned int i = 0; i < table->column_count; i++)
		if (columns >> i & 1) {
			rows->columns |= UINT64_C(1) << i;
			rows->place[i] = rows->width++;
		}
	return rows;
}

/* Bytes of the rows' numbers, in some order. */
static uint64_t order_size(const struct rows *rows)
{
	return (rows->count + 1) * sizeof(*rows->order[0]);
}

static void forget_orders(struct rows *rows)
{
	if (!rows->is_ordered)
		return;
	rows->is_ordered = false;
	for (size_t i = 0; i < TABLE_COLUMNS_MAX; i++) {
		if (rows->order[i])
			budget_give_back(rows->budget, order_size(rows));
		free(rows->order[i]);
		rows->order[i] = NULL;
	}
}

void rows_destroy(struct rows *rows)
{
	if (!rows)
		return;
	forget_orders(rows);
	budget_release(rows->budget, rows->cells, rows->cell_capacity);
	budget_release(rows->budget, rows->texts, rows->text_capacity);
	free(rows);
}

/* What sorts rows keeps much of them once more: three eighths are left to that. */
static struct error *reserve_bytes(struct budget *budget, void **items, size_t *capacity,
				   size_t count, size_t size)
{
	if (!budget)
		return budget_reserve_bytes(NULL, items, capacity, count, size);
	struct budget part = { .limit = budget->limit / 8 * 5, .used = budget->used };
	struct error *error = budget_reserve_bytes(&part, items, capacity, count, size);
	budget->used = part.used;
	return error;
}

#define reserve(rows, items, capacity, count)                                                      \
	reserve_bytes((rows)->budget, (void **)(items), (capacity), (count), sizeof(**(items)))

static struct error *keep_text(struct rows *rows, const char *text, uint64_t *ret)
{
	size_t size = strlen(text) + 1;
	TRY(reserve(rows, &rows->texts, &rows->text_capacity, rows->text_size + size));
	memcpy(rows->texts + rows->text_size, text, size);
	*ret = rows->text_size;
	rows->text_size += size;
	return NULL;
}

struct error *rows_add(void *context, const struct table_cell *cells)
{
	struct rows *rows = context;
	size_t used = rows->count * rows->width;
	if (rows->count == UINT32_MAX)
		return error_create(ERROR_BOUND, "these are not all rows: %" PRIu32 " are kept",
				    UINT32_MAX);
	TRY(reserve(rows, &rows->cells, &rows->cell_capacity, used + rows->width));
	for (unsigned int i = 0; i < rows->table->column_count; i++) {
		if (!(rows->columns >> i & 1))
			continue;
		struct kept *kept = &rows->cells[used + rows->place[i]];
		*kept = (struct kept){ .value = cells[i].number,
				       .is_null = cells[i].state != CELL_SET };
		rows->missing += cells[i].state == CELL_MISSING;
		if (!kept->is_null && rows->table->columns[i].kind == COLUMN_TEXT)
			TRY(keep_text(rows, cells[i].text, &kept->value));
	}
	forget_orders(rows);
	rows->count++;
	return NULL;
}

size_t rows_count(const struct rows *rows)
{
	return rows->count;
}

uint64_t rows_columns(const struct rows *rows)
{
	return rows->columns;
}

uint64_t rows_missing(const struct rows *rows)
{
	return rows->missing;
}

struct row_cell rows_cell(const struct rows *rows, size_t row, unsigned int column)
{
	const struct kept *kept = &rows->cells[row * rows->width + rows->place[column]];
	bool is_text = rows->table->columns[column].kind == COLUMN_TEXT;
	return (struct row_cell){ .is_null = kept->is_null,
				  .number = is_text ? 0 : kept->value,
				  .text = is_text && !kept->is_null ? rows->texts + kept->value
								    : NULL };
}

/* --- by value -------------------------------------------------------------------------------- */

/* What a row is compared with. */
struct wanted {
	const struct rows *rows;
	unsigned int column;
	uint64_t number;
	const char *text; /* NULL: the number counts */
};

/* Rows without a value come last. */
static int compare_cell(const struct row_cell *a, const struct row_cell *b)
{
	if (a->is_null || b->is_null)
		return (int)a->is_null - (int)b->is_null;
	if (a->text)
		return strcmp(a->text, b->text);
	return a->number < b->number ? -1 : a->number > b->number;
}

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct wanted *wanted = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	struct row_cell left = rows_cell(wanted->rows, x, wanted->column),
			right = rows_cell(wanted->rows, y, wanted->column);
	return compare_cell(&left, &right) ?: x < y ? -1 : x > y;
}

static struct error *put_in_order(struct rows *rows, unsigned int column)
{
	struct wanted wanted = { .rows = rows, .column = column };
	if (rows->order[column])
		return NULL;
	TRY(budget_take(rows->budget, order_size(rows)));
	uint32_t *order = malloc((rows->count + 1) * sizeof(*order));
	if (!order) {
		budget_give_back(rows->budget, order_size(rows));
		return error_no_memory();
	}
	for (size_t i = 0; i < rows->count; i++)
		order[i] = (uint32_t)i;
	if (rows->count)
		qsort_r(order, rows->count, sizeof(*order), compare_rows, &wanted);
	rows->order[column] = order;
	rows->is_ordered = true;
	return NULL;
}

/* How many rows lie before the value, or with `behind`, before what is greater. */
static size_t bound(const struct wanted *wanted, bool behind)
{
	const struct rows *rows = wanted->rows;
	const struct row_cell value = { .number = wanted->number, .text = wanted->text };
	size_t low = 0, high = rows->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct row_cell cell =
			rows_cell(rows, rows->order[wanted->column][middle], wanted->column);
		int order = compare_cell(&cell, &value);
		if (order < 0 || (behind && !order))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct error *find(struct rows *rows, const struct wanted *wanted, const uint32_t **ret,
			  size_t *ret_count)
{
	TRY(put_in_order(rows, wanted->column));
	size_t first = bound(wanted, false);
	*ret = rows->order[wanted->column] + first;
	*ret_count = bound(wanted, true) - first;
	return NULL;
}

struct error *rows_find_number(struct rows *rows, unsigned int column, uint64_t number,
			       const uint32_t **ret, size_t *ret_count)
{
	const struct wanted wanted = { rows, column, number, NULL };
	return find(rows, &wanted, ret, ret_count);
}

struct error *rows_find_text(struct rows *rows, unsigned int column, const char *text,
			     const uint32_t **ret, size_t *ret_count)
{
	const struct wanted wanted = { rows, column, 0, text };
	return find(rows, &wanted, ret, ret_count);
}
