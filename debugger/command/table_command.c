// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/table_command.h"

#include "base/strbuf.h"
#include "debugger/command/arguments.h"
#include "debugger/command/table_cells.h"
#include "debugger/command/task_named.h"
#include "debugger/tables/sql.h"
#include <inttypes.h>
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
	if (item->state == CELL_SET && table->columns[table->item].kind == COLUMN_ADDRESS)
		out_item_named(out, item->number, table->columns[table->item].type_name);
	out_row_begin(out);
	for (size_t i = 0; i < view->count; i++)
		table_cells_write(out, view->columns[i].key, &table->columns[view->chosen[i]],
				  &cells[view->chosen[i]]);
	out_row_end(out);
	return out_check(out);
}

/* --- which rows --------------------------------------------------------------------------------
 */

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
	TRY(table_scan_task(scan, current));
	/* A heading with nothing below reads as if there were none in the machine. Where something
	 * could not be read, nobody knows. */
	if (!scan->count && !scan->problem && !out_takes_items(session->out))
		out_text(session->out, "none of PID %d (-a: of all tasks)\n", current->pid);
	return NULL;
}

static struct error *scan(struct table_scan *scan, struct session *session,
			  const struct arguments *arguments)
{
	if (arguments->command->per_task)
		return scan_tasks(scan, session, arguments);
	for (size_t i = 0; i < arguments->operand_count && !scan->is_full; i++)
		TRY(table_scan_named(scan, arguments->operands[i]));
	/* A row a task is shown of all of them. */
	return arguments->operand_count ? NULL : table_scan_run(scan);
}

/* --- rows that are chosen or sorted: SQL over those that were read --------------------------- */

static struct error *head(void *context, const struct sql_column *columns, size_t count)
{
	(void)context;
	(void)columns;
	(void)count;
	return NULL;
}

/* The columns that are shown, and behind them the one that a pipe gets. */
static struct error *write_found(void *context, const struct sql_value *values, size_t count)
{
	const struct view *view = context;
	struct table_cell cells[TABLE_COLUMNS_MAX] = { 0 };
	for (size_t i = 0; i < count; i++) {
		unsigned int column = i < view->count ? view->chosen[i] : view->table->item;
		cells[column] = (struct table_cell){
			.state = values[i].kind == SQL_NULL ? CELL_NULL : CELL_SET,
			.number = (uint64_t)values[i].integer,
			.text = (char *)values[i].text,
		};
	}
	return write_row(context, cells);
}

static struct error *add_order(const struct table *table, const char *word, struct strbuf *text)
{
	bool is_falling = *word == '-';
	const char *name = word + is_falling;
	if (table_column_named(table, name, strlen(name)) < 0)
		return no_column(table, name, strlen(name));
	strbuf_format(text, " ORDER BY \"%s\"%s", name, is_falling ? " DESC" : "");
	return NULL;
}

/* `condition` is the user's own; what it could do besides is refused by sql_ask(). */
static struct error *make_statement(const struct view *view, const struct arguments *arguments,
				    uint64_t limit, struct strbuf *text)
{
	const struct table *table = view->table;
	const char *condition = arguments->options[TABLE_OPTION_WHERE];
	strbuf_put(text, "SELECT ");
	for (size_t i = 0; i < view->count; i++)
		strbuf_format(text, "\"%s\", ", table->columns[view->chosen[i]].name);
	strbuf_format(text, "\"%s\" FROM \"%s\"", table->columns[table->item].name, table->name);
	/* On a line of its own, so that a comment in it ends there. */
	if (condition)
		strbuf_format(text, " WHERE (%s\n)", condition);
	if (arguments->options[TABLE_OPTION_SORT])
		TRY(add_order(table, arguments->options[TABLE_OPTION_SORT], text));
	if (limit)
		strbuf_format(text, " LIMIT %" PRIu64, limit);
	strbuf_bytes(text, "", 1);
	return text->failed ? error_no_memory() : NULL;
}

static struct error *ask(struct view *view, struct rows *rows, const char *text)
{
	const struct table *tables[] = { view->table };
	struct error *problem = NULL;
	const struct sql_question question = { .target = view->session->target,
					       .tables = tables,
					       .table_count = 1,
					       .given = rows,
					       .text = text,
					       .head = head,
					       .row = write_found,
					       .context = view };
	struct error *error = sql_ask(&question, &problem);
	return error ?: problem;
}

static struct error *run_chosen(struct view *view, const struct arguments *arguments,
				uint64_t limit)
{
	struct strbuf text = { 0 };
	struct rows *rows = rows_create(view->table, UINT64_MAX, &view->session->target->kept);
	struct table_scan pass = { .target = view->session->target,
				   .table = view->table,
				   .wanted = UINT64_MAX,
				   .row = rows_add,
				   .context = rows };
	struct error *error = rows ? make_statement(view, arguments, limit, &text)
				   : error_no_memory();
	if (!error)
		error = scan(&pass, view->session, arguments);
	if (!error)
		error = ask(view, rows, text.data);
	if (!error)
		error = table_scan_problem(&pass);
	table_scan_deinit(&pass);
	rows_destroy(rows);
	strbuf_deinit(&text);
	return error;
}

/* --- the command ----------------------------------------------------------------------------- */

static struct error *run_plain(struct view *view, const struct arguments *arguments, uint64_t limit)
{
	struct table_scan pass = { .target = view->session->target,
				   .table = view->table,
				   .wanted = wanted_columns(view),
				   .limit = limit,
				   .row = write_row,
				   .context = view };
	struct error *error = scan(&pass, view->session, arguments);
	if (!error)
		error = table_scan_problem(&pass);
	table_scan_deinit(&pass);
	return error;
}

struct error *table_command_run(struct session *session, const struct arguments *arguments)
{
	struct view view = { .session = session, .table = arguments->command->table };
	bool is_chosen = arguments->options[TABLE_OPTION_WHERE] ||
			 arguments->options[TABLE_OPTION_SORT];
	uint64_t limit = 0;
	if (arguments->options[TABLE_OPTION_COUNT])
		TRY(argument_number(arguments->options[TABLE_OPTION_COUNT], "a number of rows", 1,
				    INT64_MAX, &limit));
	TRY(choose_columns(&view, arguments->options[TABLE_OPTION_COLUMNS]));
	out_table_begin(session->out, NULL, view.columns, view.count);
	struct error *error = is_chosen ? run_chosen(&view, arguments, limit)
					: run_plain(&view, arguments, limit);
	out_table_end(session->out);
	return error;
}
