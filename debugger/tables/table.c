// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/tables/table.h"

#include "base/interrupt.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void clear_cell(struct table_cell *cell)
{
	if (cell->state == CELL_NULL)
		return;
	free(cell->text);
	error_free(cell->error);
	*cell = (struct table_cell){ .state = CELL_NULL };
}

static void clear_cells(struct table_scan *scan)
{
	for (size_t i = 0; i < scan->table->column_count; i++)
		clear_cell(&scan->cells[i]);
}

void table_set(struct table_scan *scan, unsigned int column, uint64_t number)
{
	clear_cell(&scan->cells[column]);
	scan->cells[column] = (struct table_cell){ .state = CELL_SET, .number = number };
}

void table_set_pages(struct table_scan *scan, unsigned int column, uint64_t pages)
{
	struct table_cell *cell = &scan->cells[column];
	uint64_t bytes;
	if (!__builtin_mul_overflow(pages, (uint64_t)scan->target->facts->page_size, &bytes) &&
	    bytes <= INT64_MAX) {
		table_set(scan, column, bytes);
		return;
	}
	clear_cell(cell);
	cell->state = CELL_MISSING;
	cell->error =
		error_create(ERROR_FORMAT, "%" PRIu64 " pages are more than there can be", pages);
}

void table_set_text(struct table_scan *scan, unsigned int column, const char *text)
{
	struct table_cell *cell = &scan->cells[column];
	clear_cell(cell);
	if (!table_wants(scan, column))
		return;
	size_t size = strlen(text) + 1;
	cell->text = malloc(size);
	cell->state = cell->text ? CELL_SET : CELL_MISSING;
	if (!cell->text) {
		cell->error = error_no_memory();
		return;
	}
	memcpy(cell->text, text, size);
	scan->text_size += size;
}

struct error *table_set_error(struct table_scan *scan, unsigned int column, struct error *error)
{
	struct table_cell *cell = &scan->cells[column];
	if (!error || error_is_fatal(error))
		return error;
	clear_cell(cell);
	if (error->kind == ERROR_NOT_FOUND)
		error_free(error);
	else
		*cell = (struct table_cell){ .state = CELL_MISSING, .error = error };
	return NULL;
}

struct error *table_set_member(struct table_scan *scan, unsigned int column,
			       const struct object *object, const char *path)
{
	uint64_t number;
	if (!table_wants(scan, column))
		return NULL;
	struct error *error = object_u64(object, path, &number);
	if (error)
		return table_set_error(scan, column, error);
	table_set(scan, column, number);
	return NULL;
}

/* --- bounds ----------------------------------------------------------------------------------- */

/*
 * A row stands for something in memory: for a pointer at least, for an entry of a page table or of
 * a trace. Several may stand for the same bytes, but not so many that they are more than this.
 */
#define ROW_SIZE_MIN 8
#define ROWS_MIN     ((uint64_t)1 << 20) /* fewer are no reason to stop */
/*
 * Of one task: a quarter. What none comes near (a quarter of the memory would be its page tables)
 * leaves room for the other tasks' rows.
 */
#define TASK_PART 4
/* A path is in no memory as long as it is told: each of its parts serves all that lies below. */
#define TEXT_TIMES    4
#define TEXT_SIZE_MIN ((uint64_t)1 << 30)
/* Links that are broken lead to an object twice, or a few times: those that go round do forever. */
#define RETURNS_MAX 64

/* Bytes of memory that a row needs. */
static uint64_t row_size(const struct table_scan *scan)
{
	const struct table *table = scan->table;
	struct type type;
	uint64_t size;
	if (!table->is_object)
		return ROW_SIZE_MIN;
	struct error *error =
		target_find_type(scan->target, NULL, table->columns[table->item].type_name, &type);
	/* One of a module's types; it has no size that could be known at no cost. */
	if (error || !type_size(type, &size) || size < ROW_SIZE_MIN)
		size = ROW_SIZE_MIN;
	error_free(error);
	return size;
}

static uint64_t at_least(uint64_t value, uint64_t least)
{
	return value > least ? value : least;
}

static void find_bounds(struct table_scan *scan)
{
	uint64_t memory = target_memory_size(scan->target), text_size;
	if (__builtin_mul_overflow(memory, (uint64_t)TEXT_TIMES, &text_size))
		text_size = UINT64_MAX;
	scan->bounds.rows = at_least(memory / row_size(scan), ROWS_MIN);
	scan->bounds.of_task = at_least(scan->bounds.rows / TASK_PART, ROWS_MIN);
	scan->bounds.text_size = at_least(text_size, TEXT_SIZE_MIN);
}

/*
 * Whether the rows go round: an item is marked at each row whose number is a power of two, so that
 * sooner or later it is one of those that come again (R. P. Brent, An improved Monte Carlo
 * factorization algorithm, 1980).
 */
static struct error *check_returns(struct table_scan *scan)
{
	const struct table *table = scan->table;
	const struct table_cell *item = &scan->cells[table->item];
	if (!table->is_object || item->state != CELL_SET)
		return NULL;
	if (scan->count >= scan->mark_due) {
		scan->mark_due = 2 * (scan->count + 1);
		scan->marked = item->number;
		scan->mark_returns = 0;
	} else if (item->number == scan->marked && ++scan->mark_returns == RETURNS_MAX) {
		return error_create(ERROR_BOUND,
				    "these are not all rows: 0x%" PRIx64
				    " came %u times among %" PRIu64 ", so links go round",
				    scan->marked, RETURNS_MAX, scan->count);
	}
	return NULL;
}

/* ERROR_BOUND instead of the row that would be one too many. */
static struct error *check_bounds(struct table_scan *scan)
{
	const struct table_bounds *bounds = &scan->bounds;
	if (!bounds->rows)
		find_bounds(scan);
	if (scan->count >= bounds->rows)
		return error_create(ERROR_BOUND,
				    "these are not all rows: there are more than %" PRIu64
				    ", for which the memory has no room",
				    bounds->rows);
	if (scan->is_of_task && scan->of_task >= bounds->of_task)
		return error_create(ERROR_BOUND,
				    "these are not all rows: it has more than %" PRIu64,
				    bounds->of_task);
	if (scan->text_size > bounds->text_size)
		return error_create(ERROR_BOUND,
				    "these are not all rows: %" PRIu64
				    " of them have more than %" PRIu64 " MiB of text",
				    scan->count, bounds->text_size >> 20);
	return check_returns(scan);
}

/* A text without memory is no cell that the dump lacks. */
static struct error *check_texts(const struct table_scan *scan)
{
	for (size_t i = 0; i < scan->table->column_count; i++)
		if (scan->cells[i].error && error_is_fatal(scan->cells[i].error))
			return error_no_memory();
	return NULL;
}

struct error *table_emit(struct table_scan *scan)
{
	struct error *error = interrupt_check();
	if (!error)
		error = check_bounds(scan);
	if (!error)
		error = check_texts(scan);
	if (!error)
		error = scan->row(scan->context, scan->cells);
	clear_cells(scan);
	if (!error) {
		scan->count++;
		scan->of_task++;
	}
	if (error || !scan->limit || scan->count < scan->limit)
		return error;
	/* Fatal, so that it ends whatever walk this is in. */
	scan->is_full = true;
	return error_create(ERROR_INTERRUPTED, "there are enough rows");
}

struct error *table_broken(struct table_scan *scan, struct error *error)
{
	if (!error || error_is_fatal(error))
		return error;
	if (scan->problem)
		error_free(error);
	else
		scan->problem = error;
	return NULL;
}

struct error *table_scan_problem(struct table_scan *scan)
{
	struct error *problem = scan->problem;
	scan->problem = NULL;
	return problem;
}

void table_scan_deinit(struct table_scan *scan)
{
	clear_cells(scan);
	seen_deinit(&scan->seen);
	error_free(scan->problem);
	scan->problem = NULL;
}

int table_column_named(const struct table *table, const char *name, size_t length)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (strlen(table->columns[i].name) == length &&
		    !memcmp(table->columns[i].name, name, length))
			return (int)i;
	return -1;
}

/* --- the passes ------------------------------------------------------------------------------ */

/* A bound is worth more than what was broken before: it says that there are rows to be missed. */
static void cut(struct table_scan *scan, struct error *bound)
{
	if (scan->is_cut) {
		error_free(bound);
		return;
	}
	error_free(scan->problem);
	scan->problem = error_after_bound(bound);
	scan->is_cut = true;
}

/* What ended the pass, unless there were enough rows, or too many. */
static struct error *end_pass(struct table_scan *scan, struct error *error)
{
	if (error && error->kind == ERROR_BOUND) {
		cut(scan, error);
		return NULL;
	}
	if (!scan->is_full || !error || error->kind != ERROR_INTERRUPTED)
		return error;
	error_free(error);
	return NULL;
}

/* A task with too many rows is no reason to leave out those of others. */
static struct error *visit_one(struct table_scan *scan, const struct task *task)
{
	scan->is_of_task = true;
	scan->of_task = 0;
	struct error *error = scan->table->visit_task(scan, task);
	scan->is_of_task = false;
	if (!error || error->kind != ERROR_BOUND || scan->of_task < scan->bounds.of_task ||
	    scan->count >= scan->bounds.rows)
		return error;
	cut(scan, error_prefix(error, "task %d", task->pid));
	return NULL;
}

/* Whether a thread's rows are its group leader's, which come by themselves. */
static struct error *is_leaders(const struct table_scan *scan, const struct task *task, bool *ret)
{
	struct object thread, leader;
	uint64_t own, leaders;
	*ret = false;
	if (!scan->table->shared || task->pid == task->tgid)
		return NULL;
	TRY(object_at(scan->target, "struct task_struct", task->address, &thread));
	TRY(object_follow(&thread, "group_leader", &leader));
	TRY(object_u64(&thread, scan->table->shared, &own));
	TRY(object_u64(&leader, scan->table->shared, &leaders));
	*ret = own == leaders;
	return NULL;
}

static struct error *visit_task(void *context, const struct task *task)
{
	struct table_scan *scan = context;
	bool is_known = false;
	/* Where that cannot be told, rows that come twice are better than none. */
	TRY(error_only_fatal(is_leaders(scan, task, &is_known)));
	if (is_known)
		return NULL;
	struct error *error = visit_one(scan, task);
	return table_broken(scan, error_prefix(error, "task %d", task->pid));
}

static struct error *visit_tasks(struct table_scan *scan)
{
	struct error *problem = NULL;
	struct error *error = task_for_each(scan->target, visit_task, scan, &problem);
	if (!error)
		return table_broken(scan, problem);
	error_free(problem);
	return error;
}

struct error *table_scan_run(struct table_scan *scan)
{
	return end_pass(scan, scan->table->visit ? scan->table->visit(scan) : visit_tasks(scan));
}

struct error *table_scan_as_task(struct table_scan *scan, const struct task *task)
{
	return end_pass(scan, visit_task(scan, task));
}

struct error *table_scan_task(struct table_scan *scan, const struct task *task)
{
	return end_pass(scan, visit_one(scan, task));
}

struct error *table_scan_named(struct table_scan *scan, const char *name)
{
	return end_pass(scan, scan->table->visit_named(scan, name));
}
