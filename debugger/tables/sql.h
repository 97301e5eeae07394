/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Questions in SQL over tables of the kernel, by SQLite's virtual tables. A statement can only
 * read: everything but SELECT is refused, no file is opened, and the memory that it takes has a
 * bound. Tables are read when they are first asked for, only the columns that a statement names,
 * and only one task's rows where it says which; they are kept, and found by value, for as long as
 * the statement runs.
 */
#ifndef DEBUGGER_TABLES_SQL_H
#define DEBUGGER_TABLES_SQL_H

#include "debugger/tables/rows.h"

enum sql_kind { SQL_NULL, SQL_INTEGER, SQL_REAL, SQL_TEXT };

struct sql_value {
	enum sql_kind kind;
	int64_t integer;
	double real;
	const char *text; /* borrowed; no NULs */
};

struct sql_column {
	const char *name; /* borrowed */
	/* The table's column that it shows; NULL: it was computed. */
	const struct table_column *source;
};

struct sql_question {
	struct target *target;
	const struct table *const *tables;
	size_t table_count;
	/* The rows of the first table, all columns, where they were read already; NULL. */
	struct rows *given;
	const char *text; /* one statement */
	/* Called once, before the rows, and for each row; an error ends the statement. */
	struct error *(*head)(void *context, const struct sql_column *columns, size_t count);
	struct error *(*row)(void *context, const struct sql_value *values, size_t count);
	void *context;
};

/*
 * Errors: ERROR_USAGE, what SQLite says about the statement; ERROR_UNSUPPORTED: this build has no
 * SQL. What was broken or missing in the tables is *ret_problem, after all rows; NULL: nothing.
 */
struct error *sql_ask(const struct sql_question *question, struct error **ret_problem) MUST_CHECK;

#endif
