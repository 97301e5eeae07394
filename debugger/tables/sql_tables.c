// SPDX-License-Identifier: GPL-3.0-or-later
/* Tables of the kernel as virtual tables of SQLite (https://sqlite.org/vtab.html). */
#include "debugger/tables/sql_private.h"

#include <stdlib.h>
#include <string.h>

/* So many single tasks are read by themselves before the whole table is. */
#define NARROW_MAX 8
#define COST_FOUND 10.0
#define COST_ALL   1e6

/* Rows of a table that were read; a statement may read one twice, with other columns. */
struct reading {
	struct reading *next;
	struct rows *rows;
	bool is_whole; /* not of one task */
};

struct virtual_table {
	sqlite3_vtab base;
	struct source *source;
};

struct cursor {
	sqlite3_vtab_cursor base;
	const struct rows *rows;
	const uint32_t *chosen; /* rows; NULL: all */
	uint32_t *owned;
	size_t count, at;
};

static const char *const kind_words[] = {
	[COLUMN_INTEGER] = "INTEGER",  [COLUMN_WIDE] = "INTEGER",    [COLUMN_BYTES] = "INTEGER",
	[COLUMN_DURATION] = "INTEGER", [COLUMN_ADDRESS] = "INTEGER", [COLUMN_TEXT] = "TEXT"
};

/* The first one, but for one that says that there may be more rows. */
static void note_problem(struct asking *asking, const struct table_scan *scan,
			 struct error *problem)
{
	if (asking->problem && (!scan->is_cut || asking->is_cut)) {
		error_free(problem);
		return;
	}
	error_free(asking->problem);
	asking->problem = problem;
	asking->is_cut = scan->is_cut;
}

/* --- tables ---------------------------------------------------------------------------------- */

/* "(3,5)" behind a column's type says which it is of which table: sqlite3_column_decltype(). */
static int table_connect(sqlite3 *database, void *context, int argc, const char *const *argv,
			 sqlite3_vtab **ret, char **ret_error)
{
	struct source *source = context;
	const struct table *table = source->table;
	sqlite3_str *text = sqlite3_str_new(database);
	(void)argc;
	(void)argv;
	(void)ret_error;
	sqlite3_str_appendf(text, "CREATE TABLE \"%w\"(", table->name);
	for (size_t i = 0; i < table->column_count; i++)
		sqlite3_str_appendf(text, "%s\"%w\" %s(%d,%d)", i ? "," : "",
				    table->columns[i].name, kind_words[table->columns[i].kind],
				    (int)source->number, (int)i);
	sqlite3_str_appendall(text, ")");
	char *declaration = sqlite3_str_finish(text);
	source->asking->declares = true;
	int status = declaration ? sqlite3_declare_vtab(database, declaration) : SQLITE_NOMEM;
	source->asking->declares = false;
	sqlite3_free(declaration);
	if (status != SQLITE_OK)
		return status;
	struct virtual_table *made = sqlite3_malloc(sizeof(*made));
	if (!made)
		return SQLITE_NOMEM;
	*made = (struct virtual_table){ .source = source };
	*ret = &made->base;
	return SQLITE_OK;
}

static int table_disconnect(sqlite3_vtab *table)
{
	sqlite3_free(table);
	return SQLITE_OK;
}

static bool can_find(const struct table *table, sqlite3_index_info *info, int number)
{
	const struct sqlite3_index_constraint *constraint = &info->aConstraint[number];
	if (!constraint->usable || constraint->op != SQLITE_INDEX_CONSTRAINT_EQ ||
	    constraint->iColumn < 0 || constraint->iColumn >= (int)table->column_count)
		return false;
	return table->columns[constraint->iColumn].kind != COLUMN_TEXT ||
	       !sqlite3_stricmp(sqlite3_vtab_collation(info, number), "BINARY");
}

/* The columns that are used go to table_filter() as text, the one that is found by as a number. */
static int table_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct virtual_table *made = (const struct virtual_table *)base;
	const struct table *table = made->source->table;
	uint64_t columns = info->colUsed;
	info->estimatedCost = COST_ALL;
	for (int i = 0; i < info->nConstraint && !info->idxNum; i++) {
		if (!can_find(table, info, i))
			continue;
		info->aConstraintUsage[i].argvIndex = 1;
		info->idxNum = info->aConstraint[i].iColumn + 1;
		info->estimatedCost = COST_FOUND;
		columns |= UINT64_C(1) << info->aConstraint[i].iColumn;
	}
	info->idxStr = sqlite3_mprintf("%llx", (unsigned long long)columns);
	info->needToFreeIdxStr = 1;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* --- rows ------------------------------------------------------------------------------------ */

static struct error *start(struct source *source, uint64_t columns, bool is_whole,
			   struct reading **ret)
{
	struct reading *reading = calloc(1, sizeof(*reading));
	if (!reading)
		return error_no_memory();
	reading->rows = rows_create(source->table, columns, sql_budget(source->asking));
	reading->is_whole = is_whole;
	reading->next = source->readings;
	source->readings = reading;
	*ret = reading;
	return reading->rows ? NULL : error_no_memory();
}

/* What rows are read by themselves: of a task, or of a name. */
struct part {
	const int64_t *pid;
	const char *name;
};

static struct error *scan_task(struct table_scan *scan, int64_t pid)
{
	struct task task;
	struct error *error = task_find(scan->target, (uint64_t)pid, &task);
	if (error && error->kind == ERROR_NOT_FOUND) {
		error_free(error);
		return NULL;
	}
	TRY(error);
	error = table_scan_as_task(scan, &task);
	task_deinit(&task);
	return error;
}

/* `part` NULL: all. */
static struct error *read_rows(struct source *source, uint64_t columns, const struct part *part,
			       struct rows **ret)
{
	struct target *target = source->asking->question->target;
	struct reading *reading = NULL;
	TRY(start(source, columns, !part, &reading));
	struct table_scan scan = { .target = target,
				   .table = source->table,
				   .wanted = columns,
				   .row = rows_add,
				   .context = reading->rows };
	struct error *error = !part	  ? table_scan_run(&scan)
			      : part->pid ? scan_task(&scan, *part->pid)
					  : table_scan_named(&scan, part->name);
	note_problem(source->asking, &scan,
		     error_prefix(table_scan_problem(&scan), "%s", source->table->name));
	table_scan_deinit(&scan);
	sql_limit_heap(source->asking);
	source->asking->missing += rows_missing(reading->rows);
	*ret = reading->rows;
	return error_prefix(error, "%s", source->table->name);
}

/* All rows with these columns, if they were read for an earlier question; NULL. */
static struct rows *known_rows(struct source *source, uint64_t columns)
{
	for (struct reading *reading = source->readings; reading; reading = reading->next)
		if (reading->is_whole && !(columns & ~rows_columns(reading->rows)))
			return reading->rows;
	return NULL;
}

static struct error *whole_rows(struct source *source, uint64_t columns, struct rows **ret)
{
	struct rows *given = source->asking->question->given;
	if (given && !source->number) {
		*ret = given;
		return NULL;
	}
	*ret = known_rows(source, columns);
	return *ret ? NULL : read_rows(source, columns, NULL, ret);
}

/* Whether the rows of a name are to be read by themselves. */
static bool is_named(struct source *source, uint64_t columns, unsigned int column)
{
	const struct table *table = source->table;
	bool is_given = source->asking->question->given && !source->number;
	return !is_given && table->visit_named && table->named == column &&
	       !known_rows(source, columns) && source->narrowed++ < NARROW_MAX;
}

/*
 * Whether a single task's rows are to be read by themselves. Idle tasks all have the pid 0.
 */
static bool is_narrow(struct source *source, unsigned int column, int64_t number)
{
	const struct table *table = source->table;
	bool is_given = source->asking->question->given && !source->number;
	return !is_given && table->visit_task && !strcmp(table->columns[column].name, "pid") &&
	       number > 0 && number <= INT32_MAX && source->narrowed++ < NARROW_MAX;
}

/* As long as the cursor lives: the store's own list is only good until the next question. */
static struct error *own_rows(struct cursor *cursor, const uint32_t *chosen, size_t count)
{
	cursor->owned = malloc((count + 1) * sizeof(*cursor->owned));
	if (!cursor->owned)
		return error_no_memory();
	memcpy(cursor->owned, chosen, count * sizeof(*chosen));
	cursor->chosen = cursor->owned;
	cursor->count = count;
	return NULL;
}

static struct error *find_rows(struct source *source, uint64_t columns, unsigned int column,
			       sqlite3_value *value, struct cursor *cursor)
{
	const uint32_t *chosen = NULL;
	size_t count = 0;
	struct rows *rows;
	int kind = sqlite3_value_type(value);
	bool is_text = source->table->columns[column].kind == COLUMN_TEXT;
	if (kind == SQLITE_INTEGER && !is_text) {
		int64_t number = sqlite3_value_int64(value);
		const struct part part = { .pid = &number };
		bool narrow = is_narrow(source, column, number);
		TRY(narrow ? read_rows(source, columns, &part, &rows)
			   : whole_rows(source, columns, &rows));
		TRY(rows_find_number(rows, column, (uint64_t)number, &chosen, &count));
	} else {
		const char *text = (const char *)sqlite3_value_text(value);
		bool is_word = kind == SQLITE_TEXT && is_text && text &&
			       strlen(text) == (size_t)sqlite3_value_bytes(value);
		const struct part part = { .name = text };
		TRY(is_word && is_named(source, columns, column)
			    ? read_rows(source, columns, &part, &rows)
			    : whole_rows(source, columns, &rows));
		if (is_word)
			TRY(rows_find_text(rows, column, text, &chosen, &count));
		else
			count = rows_count(rows);
	}
	cursor->rows = rows;
	cursor->count = count;
	return chosen ? own_rows(cursor, chosen, count) : NULL;
}

static struct error *fill_cursor(struct cursor *cursor, int number, const char *columns_text,
				 sqlite3_value **values)
{
	struct source *source = ((struct virtual_table *)cursor->base.pVtab)->source;
	uint64_t columns = strtoull(columns_text, NULL, 16);
	free(cursor->owned);
	cursor->owned = NULL;
	cursor->chosen = NULL;
	cursor->at = 0;
	if (number)
		return find_rows(source, columns, (unsigned int)number - 1, values[0], cursor);
	struct rows *rows;
	TRY(whole_rows(source, columns, &rows));
	cursor->rows = rows;
	cursor->count = rows_count(rows);
	return NULL;
}

static int table_open(sqlite3_vtab *table, sqlite3_vtab_cursor **ret)
{
	struct cursor *cursor = sqlite3_malloc(sizeof(*cursor));
	(void)table;
	if (!cursor)
		return SQLITE_NOMEM;
	*cursor = (struct cursor){ .rows = NULL };
	*ret = &cursor->base;
	return SQLITE_OK;
}

static int table_close(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;
	free(cursor->owned);
	sqlite3_free(cursor);
	return SQLITE_OK;
}

static int table_filter(sqlite3_vtab_cursor *base, int number, const char *text, int count,
			sqlite3_value **values)
{
	struct cursor *cursor = (struct cursor *)base;
	struct source *source = ((struct virtual_table *)base->pVtab)->source;
	(void)count;
	struct error *error = fill_cursor(cursor, number, text, values);
	return error ? sql_give_up(source->asking, error) : SQLITE_OK;
}

static int table_next(sqlite3_vtab_cursor *base)
{
	((struct cursor *)base)->at++;
	return SQLITE_OK;
}

static int table_eof(sqlite3_vtab_cursor *base)
{
	const struct cursor *cursor = (const struct cursor *)base;
	return cursor->at >= cursor->count;
}

static size_t current_row(const struct cursor *cursor)
{
	return cursor->chosen ? cursor->chosen[cursor->at] : cursor->at;
}

static int table_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	const struct cursor *cursor = (const struct cursor *)base;
	if (!(rows_columns(cursor->rows) >> column & 1)) {
		sqlite3_result_null(context);
		return SQLITE_OK;
	}
	struct row_cell cell = rows_cell(cursor->rows, current_row(cursor), (unsigned int)column);
	if (cell.is_null)
		sqlite3_result_null(context);
	else if (cell.text)
		sqlite3_result_text(context, cell.text, -1, SQLITE_STATIC);
	else
		sqlite3_result_int64(context, (int64_t)cell.number);
	return SQLITE_OK;
}

static int table_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	*ret = (sqlite3_int64)current_row((const struct cursor *)base);
	return SQLITE_OK;
}

const sqlite3_module sql_table_module = {
	.xConnect = table_connect,
	.xBestIndex = table_best_index,
	.xDisconnect = table_disconnect,
	.xOpen = table_open,
	.xClose = table_close,
	.xFilter = table_filter,
	.xNext = table_next,
	.xEof = table_eof,
	.xColumn = table_column,
	.xRowid = table_rowid,
};

void sql_source_deinit(struct source *source)
{
	for (struct reading *reading = source->readings, *next; reading; reading = next) {
		next = reading->next;
		rows_destroy(reading->rows);
		free(reading);
	}
}
