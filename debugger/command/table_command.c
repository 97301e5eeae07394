// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/table_command.h"

#include "debugger/command/arguments.h"
#include "debugger/command/table_cells.h"
#include "debugger/command/task_named.h"
#include <stdio.h>
#include <string.h>

/* --- which columns --------------------------------------------------------------------------- */

struct view {
	struct session *session;
	const struct table *table;
	unsigned int chosen[TABLE_COLUMNS_MAX]; /* in this order */
	size_t count;
	struct column columns[TABLE_COLUMNS_MAX];
	char titles[TABLE_COLUMNS_MAX][32];
};

static void add_column(struct view *view, unsigned int index)
{
	const struct table_column *column = &view->table->columns[index];
	table_cells_column(column->name, column, index + 1 == view->table->column_count,
			   view->titles[view->count], sizeof(view->titles[0]),
			   &view->columns[view->count]);
	view->chosen[view->count++] = index;
}

static struct error *no_column(const struct table *table, const char *name, size_t length)
{
	char names[512];
	int used = 0;
	for (size_t i = 0; i < table->column_count && used < (int)sizeof(names); i++)
		used += snprintf(names + used, sizeof(names) - (size_t)used, "%s%s", i ? ", " : "",
				 table->columns[i].name);
	return error_create(ERROR_USAGE, "no column \"%.*s\"; there are %s", (int)length, name,
			    names);
}

/* "pid,fd"; NULL: those that people see, or all where programs read. */
static struct error *choose_columns(struct view *view, const char *words)
{
	const struct table *table = view->table;
	for (unsigned int i = 0; !words && i < table->column_count; i++)
		if (table->columns[i].width || view->session->json)
			add_column(view, i);
	for (const char *at = words; at; at = strchr(at, ',')) {
		at += *at == ',';
		size_t length = strcspn(at, ",");
		int index = table_column_named(table, at, length);
		if (index < 0)
			return no_column(table, at, length);
		for (size_t i = 0; i < view->count; i++)
			if (view->chosen[i] == (unsigned int)index)
				return error_create(ERROR_USAGE, "column %s is named twice",
						    table->columns[index].name);
		add_column(view, (unsigned int)index);
	}
	return NULL;
}

static uint64_t wanted_columns(const struct view *view)
{
	uint64_t wanted = UINT64_C(1) << view->table->item;
	for (size_t i = 0; i < view->count; i++)
		wanted |= UINT64_C(1) << view->chosen[i];
	return wanted;
}

/* --- rows ------------------------------------------------------------------------------------ */

static struct error *write_row(void *context, const struct table_cell *cells)
{
	const struct view *view = context;
	const struct table *table = view->table;
	struct out *out = view->session->out;
	const struct table_cell *item = &cells[table->item];
	if (item->state == CELL_SET && table->columns[table->item].type_name)
		out_item_named(out, item->number, table->columns[table->item].type_name);
	out_row_begin(out);
	for (size_t i = 0; i < view->count; i++)
		table_cells_write(out, view->columns[i].key, &table->columns[view->chosen[i]],
				  &cells[view->chosen[i]]);
	out_row_end(out);
	return NULL;
}

/* --- the commands ---------------------------------------------------------------------------- */

static struct error *scan_named(struct table_scan *scan, struct session *session, const char *name)
{
	struct task task;
	TRY(task_named(session, name, &task));
	struct error *error = table_scan_task(scan, &task);
	task_deinit(&task);
	return error;
}

static struct error *scan_tasks(struct table_scan *scan, struct session *session,
				const struct arguments *arguments)
{
	const struct task *current;
	if (arguments->options[TABLE_OPTION_ALL] && arguments->operand_count)
		return error_create(ERROR_USAGE, "-a is of all tasks: then none is named");
	if (arguments->options[TABLE_OPTION_ALL])
		return table_scan_run(scan);
	for (size_t i = 0; i < arguments->operand_count && !scan->is_full; i++)
		TRY(scan_named(scan, session, arguments->operands[i]));
	if (arguments->operand_count)
		return NULL;
	TRY(focus_task(&session->focus, session->target, &current));
	return table_scan_task(scan, current);
}

/* `of_tasks`: those that the arguments name. */
static struct error *run(struct session *session, const struct arguments *arguments, bool of_tasks)
{
	struct view view = { .session = session, .table = arguments->command->table };
	struct table_scan scan = {
		.target = session->target, .table = view.table, .row = write_row, .context = &view
	};
	if (arguments->options[TABLE_OPTION_COUNT])
		TRY(argument_number(arguments->options[TABLE_OPTION_COUNT], "a number of rows", 1,
				    UINT64_MAX, &scan.limit));
	TRY(choose_columns(&view, arguments->options[TABLE_OPTION_COLUMNS]));
	scan.wanted = wanted_columns(&view);
	out_table_begin(session->out, NULL, view.columns, view.count);
	struct error *error = of_tasks ? scan_tasks(&scan, session, arguments)
				       : table_scan_run(&scan);
	out_table_end(session->out);
	if (!error)
		error = table_scan_problem(&scan);
	table_scan_deinit(&scan);
	return error;
}

struct error *table_command_run(struct session *session, const struct arguments *arguments)
{
	return run(session, arguments, false);
}

struct error *table_command_run_tasks(struct session *session, const struct arguments *arguments)
{
	return run(session, arguments, true);
}
