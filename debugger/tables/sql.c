// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/tables/sql.h"

#include "base/interrupt.h"
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of SQLite's own: sorting and grouping. */
#define HEAP_MAX (INT64_C(512) << 20)
#define TEXT_MAX (64 << 20)
/* So many operations of its machine between two looks at Ctrl-C. */
#define OPERATIONS 10000
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

/* A statement. */
struct asking {
	const struct sql_question *question;
	sqlite3 *database;
	struct error *error;   /* what ended it */
	struct error *problem; /* what was broken in the tables */
	uint64_t missing;
	bool declares; /* SQLite reads our own CREATE TABLE */
};

struct source {
	struct asking *asking;
	const struct table *table;
	size_t number;
	struct reading *readings;
	unsigned int narrowed;
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

/* Keeps what ended the statement; SQLite hears that it is over. */
static int give_up(struct asking *asking, struct error *error)
{
	if (asking->error)
		error_free(error);
	else
		asking->error = error;
	return SQLITE_ABORT;
}

static void note_problem(struct asking *asking, struct error *problem)
{
	if (asking->problem)
		error_free(problem);
	else
		asking->problem = problem;
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
	reading->rows = rows_create(source->table, columns);
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
	note_problem(source->asking,
		     error_prefix(table_scan_problem(&scan), "%s", source->table->name));
	table_scan_deinit(&scan);
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
	return error ? give_up(source->asking, error) : SQLITE_OK;
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

/* Without xCreate the name of the module is a table's, with nothing to create. */
static const sqlite3_module module = {
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

/* --- what a statement may do ----------------------------------------------------------------- */

static int authorize(void *context, int action, const char *first, const char *second,
		     const char *database, const char *trigger)
{
	const struct asking *asking = context;
	(void)first;
	(void)database;
	(void)trigger;
	if (asking->declares)
		return SQLITE_OK;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return sqlite3_stricmp(second, "load_extension") ? SQLITE_OK : SQLITE_DENY;
	default:
		return SQLITE_DENY;
	}
}

static int look_for_interrupt(void *context)
{
	struct error *error = interrupt_check();
	return error ? give_up(context, error) : 0;
}

/* addr(NUMBER): as addresses are written. */
static void address_text(sqlite3_context *context, int count, sqlite3_value **values)
{
	char text[32];
	(void)count;
	if (sqlite3_value_type(values[0]) == SQLITE_NULL)
		return;
	snprintf(text, sizeof(text), "0x%" PRIx64, (uint64_t)sqlite3_value_int64(values[0]));
	sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

static int open_database(struct asking *asking, struct source *sources)
{
	const struct sql_question *question = asking->question;
	int status = sqlite3_open_v2(":memory:", &asking->database,
				     SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, NULL);
	sqlite3 *database = asking->database;
	/* What does not fit into memory would go to a file. */
	if (status == SQLITE_OK)
		status = sqlite3_exec(database, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL);
	for (size_t i = 0; i < question->table_count && status == SQLITE_OK; i++) {
		sources[i] = (struct source){ .asking = asking,
					      .table = question->tables[i],
					      .number = i };
		status = sqlite3_create_module(database, question->tables[i]->name, &module,
					       &sources[i]);
	}
	if (status == SQLITE_OK)
		status = sqlite3_create_function(database, "addr", 1,
						 SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
						 address_text, NULL, NULL);
	if (status != SQLITE_OK)
		return status;
	sqlite3_hard_heap_limit64(HEAP_MAX);
	sqlite3_limit(database, SQLITE_LIMIT_LENGTH, TEXT_MAX);
	sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_set_authorizer(database, authorize, asking);
	sqlite3_progress_handler(database, OPERATIONS, look_for_interrupt, asking);
	return SQLITE_OK;
}

static struct error *said(const struct asking *asking, int status)
{
	const char *text = asking->database ? sqlite3_errmsg(asking->database)
					    : sqlite3_errstr(status);
	if (status == SQLITE_NOMEM)
		return error_create(ERROR_NO_MEMORY, "this takes more than %d MiB",
				    (int)(HEAP_MAX >> 20));
	if (status == SQLITE_AUTH)
		return error_create(ERROR_USAGE, "only SELECT is possible: %s", text);
	return error_create(ERROR_USAGE, "%s", text);
}

/* --- the answer ------------------------------------------------------------------------------ */

static const struct table_column *source_of(const struct sql_question *question,
					    const char *declared)
{
	unsigned int table, column;
	const char *place = declared ? strchr(declared, '(') : NULL;
	if (!place || sscanf(place, "(%u,%u)", &table, &column) != 2 ||
	    table >= question->table_count || column >= question->tables[table]->column_count)
		return NULL;
	return &question->tables[table]->columns[column];
}

static struct error *tell_head(const struct asking *asking, sqlite3_stmt *statement, int count)
{
	const struct sql_question *question = asking->question;
	struct sql_column *columns = calloc((size_t)count + 1, sizeof(*columns));
	if (!columns)
		return error_no_memory();
	for (int i = 0; i < count; i++)
		columns[i] = (struct sql_column){
			sqlite3_column_name(statement, i) ?: "",
			source_of(question, sqlite3_column_decltype(statement, i))
		};
	struct error *error = question->head(question->context, columns, (size_t)count);
	free(columns);
	return error;
}

static struct sql_value value_of(sqlite3_stmt *statement, int column)
{
	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_INTEGER:
		return (struct sql_value){ .kind = SQL_INTEGER,
					   .integer = sqlite3_column_int64(statement, column) };
	case SQLITE_FLOAT:
		return (struct sql_value){ .kind = SQL_REAL,
					   .real = sqlite3_column_double(statement, column) };
	case SQLITE_NULL:
		return (struct sql_value){ .kind = SQL_NULL };
	default:
		return (struct sql_value){
			.kind = SQL_TEXT,
			.text = (const char *)sqlite3_column_text(statement, column) ?: ""
		};
	}
}

static struct error *tell_rows(struct asking *asking, sqlite3_stmt *statement, int count)
{
	const struct sql_question *question = asking->question;
	struct error *error = NULL;
	int status;
	struct sql_value *values = calloc((size_t)count + 1, sizeof(*values));
	if (!values)
		return error_no_memory();
	while (!error && (status = sqlite3_step(statement)) == SQLITE_ROW) {
		for (int i = 0; i < count; i++)
			values[i] = value_of(statement, i);
		error = question->row(question->context, values, (size_t)count);
	}
	free(values);
	if (!error && status != SQLITE_DONE && !asking->error)
		error = said(asking, status);
	if (asking->error && !error) {
		error = asking->error;
		asking->error = NULL;
	}
	return error;
}

/* Nothing may stand behind the statement but another one's absence. */
static struct error *check_rest(struct asking *asking, const char *rest)
{
	sqlite3_stmt *second = NULL;
	int status = sqlite3_prepare_v2(asking->database, rest, -1, &second, NULL);
	bool is_there = second || status != SQLITE_OK;
	sqlite3_finalize(second);
	return is_there ? error_create(ERROR_USAGE, "one statement at a time") : NULL;
}

static struct error *run_statement(struct asking *asking)
{
	sqlite3_stmt *statement = NULL;
	const char *rest = "";
	int status =
		sqlite3_prepare_v2(asking->database, asking->question->text, -1, &statement, &rest);
	struct error *error = status == SQLITE_OK ? check_rest(asking, rest) : said(asking, status);
	if (!error && !statement)
		error = error_create(ERROR_USAGE, "there is no statement");
	int count = error ? 0 : sqlite3_column_count(statement);
	if (!error && !count)
		error = error_create(ERROR_USAGE, "only SELECT is possible");
	if (!error)
		error = tell_head(asking, statement, count);
	if (!error)
		error = tell_rows(asking, statement, count);
	sqlite3_finalize(statement);
	return error;
}

static void free_readings(struct source *sources, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (struct reading *reading = sources[i].readings, *next; reading;
		     reading = next) {
			next = reading->next;
			rows_destroy(reading->rows);
			free(reading);
		}
}

struct error *sql_ask(const struct sql_question *question, struct error **ret_problem)
{
	struct asking asking = { .question = question };
	struct source *sources = calloc(question->table_count + 1, sizeof(*sources));
	if (!sources)
		return error_no_memory();
	int status = open_database(&asking, sources);
	struct error *error = status == SQLITE_OK ? run_statement(&asking) : said(&asking, status);
	sqlite3_close(asking.database);
	free_readings(sources, question->table_count);
	free(sources);
	error_free(asking.error);
	if (!asking.problem && asking.missing)
		asking.problem = error_create(ERROR_EXCLUDED,
					      "%" PRIu64
					      " values are not in the dump: they are NULL",
					      asking.missing);
	if (error)
		error_free(asking.problem);
	else
		*ret_problem = asking.problem;
	return error;
}
