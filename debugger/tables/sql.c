// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/tables/sql_private.h"

#include "base/interrupt.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of SQLite's own: sorting and grouping. As little as this much any statement takes. */
#define HEAP_MAX (UINT64_C(512) << 20)
#define HEAP_MIN (UINT64_C(16) << 20)
#define TEXT_MAX (64 << 20)
/* So many operations of its machine between two looks at Ctrl-C. */
#define OPERATIONS 10000

int sql_give_up(struct asking *asking, struct error *error)
{
	if (asking->error)
		error_free(error);
	else
		asking->error = error;
	return SQLITE_ABORT;
}

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
	return error ? sql_give_up(context, error) : 0;
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

struct budget *sql_budget(const struct asking *asking)
{
	/* Rows that were given need no dump. */
	struct target *target = asking->question->target;
	return target ? &target->kept : NULL;
}

void sql_limit_heap(const struct asking *asking)
{
	uint64_t left = budget_left(sql_budget(asking));
	left = left < HEAP_MIN ? HEAP_MIN : left < HEAP_MAX ? left : HEAP_MAX;
	sqlite3_hard_heap_limit64((int64_t)left);
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
		status = sqlite3_create_module(database, question->tables[i]->name,
					       &sql_table_module, &sources[i]);
	}
	if (status == SQLITE_OK)
		status = sqlite3_create_function(database, "addr", 1,
						 SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
						 address_text, NULL, NULL);
	if (status != SQLITE_OK)
		return status;
	sql_limit_heap(asking);
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
				    (int)(sqlite3_hard_heap_limit64(-1) >> 20));
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

struct error *sql_ask(const struct sql_question *question, struct error **ret_problem)
{
	struct asking asking = { .question = question };
	struct source *sources = calloc(question->table_count + 1, sizeof(*sources));
	if (!sources)
		return error_no_memory();
	int status = open_database(&asking, sources);
	struct error *error = status == SQLITE_OK ? run_statement(&asking) : said(&asking, status);
	sqlite3_close(asking.database);
	for (size_t i = 0; i < question->table_count; i++)
		sql_source_deinit(&sources[i]);
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
