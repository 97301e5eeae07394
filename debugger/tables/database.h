/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tables as a SQLite database (sqlite.org/fileformat2.html), written from the first page to the
 * last one: rows come in the order of their numbers, so that what is full is never touched again,
 * and a page for each level of the tree is all that is kept. The library would want a file that it
 * can read, and the rights to open others. The first page, without which a file is no database,
 * is written at the end.
 */
#ifndef DEBUGGER_TABLES_DATABASE_H
#define DEBUGGER_TABLES_DATABASE_H

#include "debugger/tables/table.h"
#include <stdio.h>

struct database;

/* Writes to `file` (borrowed), which has a beginning to return to. */
struct error *database_create(FILE *file, struct database **ret) MUST_CHECK;
void database_destroy(struct database *database);
/*
 * All rows of a table, all columns. What a terminal must not see is escaped in text, as in
 * all output; what the dump lacks is NULL. *ret_rows, *ret_missing: how many rows, and such values.
 * What was broken in the table is *ret_problem, NULL: nothing; the caller frees.
 */
struct error *database_add(struct database *database, struct target *target,
			   const struct table *table, uint64_t *ret_rows, uint64_t *ret_missing,
			   struct error **ret_problem) MUST_CHECK;
/* Makes it whole. *ret_size: bytes. */
struct error *database_finish(struct database *database, uint64_t *ret_size) MUST_CHECK;

#endif
