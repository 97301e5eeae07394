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
	cell->text = strdup(text);
	cell->state = cell->text ? CELL_SET : CELL_MISSING;
	if (!cell->text)
		cell->error = error_no_memory();
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

struct error *table_emit(struct table_scan *scan)
{
	struct error *error = interrupt_check();
	if (!error)
		error = scan->row(scan->context, scan->cells);
	clear_cells(scan);
	scan->count++;
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

static struct error *unless_full(struct table_scan *scan, struct error *error)
{
	if (!scan->is_full || !error || error->kind != ERROR_INTERRUPTED)
		return error;
	error_free(error);
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
	struct error *error = scan->table->visit_task(scan, task);
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
	return unless_full(scan, scan->table->visit ? scan->table->visit(scan) : visit_tasks(scan));
}

struct error *table_scan_as_task(struct table_scan *scan, const struct task *task)
{
	return unless_full(scan, visit_task(scan, task));
}

struct error *table_scan_task(struct table_scan *scan, const struct task *task)
{
	return unless_full(scan, scan->table->visit_task(scan, task));
}

struct error *table_scan_named(struct table_scan *scan, const char *name)
{
	return unless_full(scan, scan->table->visit_named(scan, name));
}
