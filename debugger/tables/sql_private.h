/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A statement and the tables that it reads: sql.c and sql_tables.c. */
#ifndef DEBUGGER_TABLES_SQL_PRIVATE_H
#define DEBUGGER_TABLES_SQL_PRIVATE_H

#include "debugger/tables/sql.h"

#include <sqlite3.h>

/* A statement. */
struct asking {
	const struct sql_question *question;
	sqlite3 *database;
	struct error *error;   /* what ended it */
	struct error *problem; /* what was broken in the tables */
	bool is_cut;	       /* that says that there may be more rows */
	uint64_t missing;
	bool declares; /* SQLite reads our own CREATE TABLE */
};

/* What a statement has read of a table. */
struct source {
	struct asking *asking;
	const struct table *table;
	size_t number;
	struct reading *readings;
	unsigned int narrowed;
};

/* Keeps what ended the statement; SQLite hears that it is over. */
int sql_give_up(struct asking *asking, struct error *error);

/* For what is kept of the dump; NULL: there is none. */
struct budget *sql_budget(const struct asking *asking);
/* SQLite may take what is left of what may be kept of the dump. */
void sql_limit_heap(const struct asking *asking);

/* Of a table whose source is given with it. Without xCreate its name is a table's, with nothing to
 * create. */
extern const sqlite3_module sql_table_module;
void sql_source_deinit(struct source *source);

#endif
