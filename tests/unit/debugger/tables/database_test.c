// SPDX-License-Identifier: GPL-3.0-or-later
/* Databases of made-up tables, read back by SQLite: trees of several levels, long rows, all sizes
 * of integers, texts that are none. */
#include "tests/unit/test.h"

#include "base/array.h"
#include "debugger/tables/database.h"
#include <sqlite3.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NUMBER, WIDE, TEXT };
static const struct table_column columns[] = {
	[NUMBER] = { "number", COLUMN_INTEGER, 8, "", NULL },
	[WIDE] = { "wide", COLUMN_WIDE, 8, "", NULL },
	[TEXT] = { "text", COLUMN_TEXT, -8, "", NULL },
};

static uint64_t row_count;
static size_t text_max;

/* Bytes of a text as a pattern of the row. */
static size_t text_length(uint64_t row)
{
	return text_max ? row * 2654435761u % text_max : 0;
}

static struct error *visit(struct table_scan *scan)
{
	static char text[1 << 16];
	for (uint64_t row = 0; row < row_count; row++) {
		size_t length = text_length(row);
		table_set(scan, NUMBER, row);
		/* From 0 on, both signs, each number of bytes. */
		table_set(scan, WIDE, (row % 2 ? -UINT64_C(1) : 1) * (UINT64_C(1) << row % 64));
		if (row % 3) {
			memset(text, 'a' + (int)(row % 26), length);
			text[length] = 0;
			table_set_text(scan, TEXT, text);
		}
		TRY(table_emit(scan));
	}
	return NULL;
}

static struct error *visit_odd(struct table_scan *scan)
{
	static const char *const texts[] = { "plain", "\x1b[31m", "\xff\xfe",
					     "a\\b",  "a\\\\n",	  "'\"" };
	for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
		table_set_text(scan, TEXT, texts[i]);
		TRY(table_set_error(scan, WIDE, error_create(ERROR_EXCLUDED, "not there")));
		TRY(table_emit(scan));
	}
	return NULL;
}

static const struct table many = {
	.name = "many", .columns = columns, .column_count = 3, .visit = visit
};
static const struct table odd = {
	.name = "odd", .columns = columns, .column_count = 3, .visit = visit_odd
};

static int64_t ask(sqlite3 *reader, const char *statement)
{
	sqlite3_stmt *prepared = NULL;
	int64_t number = -1;
	CHECK_U64(sqlite3_prepare_v2(reader, statement, -1, &prepared, NULL), SQLITE_OK);
	if (sqlite3_step(prepared) == SQLITE_ROW)
		number = sqlite3_column_int64(prepared, 0);
	sqlite3_finalize(prepared);
	return number;
}

static void check_text(sqlite3 *reader, const char *statement, const char *wanted)
{
	sqlite3_stmt *prepared = NULL;
	CHECK_U64(sqlite3_prepare_v2(reader, statement, -1, &prepared, NULL), SQLITE_OK);
	CHECK_U64(sqlite3_step(prepared), SQLITE_ROW);
	CHECK_STRING((const char *)sqlite3_column_text(prepared, 0), wanted);
	sqlite3_finalize(prepared);
}

/* Writes both tables; the database opened by SQLite. */
static sqlite3 *make(void)
{
	struct database *database = NULL;
	struct target target = { 0 };
	uint64_t rows = 0, missing = 0, size = 0;
	struct error *problem = NULL;
	sqlite3 *reader = NULL;
	int fd = memfd_create("database", 0);
	FILE *file = fdopen(fd, "w");
	CHECK_OK(database_create(file, &database));
	CHECK_OK(database_add(database, &target, &many, &rows, &missing, &problem));
	CHECK(!problem);
	CHECK_U64(rows, row_count);
	CHECK_U64(missing, 0);
	CHECK_OK(database_add(database, &target, &odd, &rows, &missing, &problem));
	CHECK_U64(rows, 6);
	CHECK_U64(missing, 6);
	CHECK_OK(database_finish(database, &size));
	CHECK_U64(lseek(fd, 0, SEEK_END), size);
	/* SQLite opens nothing that has no path. */
	uint8_t *bytes = sqlite3_malloc64(size);
	CHECK(pread(fd, bytes, size, 0) == (ssize_t)size);
	CHECK_U64(sqlite3_open(":memory:", &reader), SQLITE_OK);
	CHECK_U64(sqlite3_deserialize(reader, "main", bytes, (int64_t)size, (int64_t)size,
				      SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY),
		  SQLITE_OK);
	database_destroy(database);
	check_text(reader, "PRAGMA integrity_check", "ok");
	fclose(file);
	return reader;
}

/* Sums over what a loop says. */
static void check_rows(uint64_t count, size_t longest)
{
	uint64_t lengths = 0, texts = 0, numbers = 0;
	row_count = count;
	text_max = longest;
	for (uint64_t row = 0; row < count; row++) {
		numbers += row;
		texts += row % 3 != 0;
		lengths += row % 3 ? text_length(row) : 0;
	}
	sqlite3 *reader = make();
	CHECK_U64(ask(reader, "SELECT count(*) FROM many"), count);
	CHECK_U64(ask(reader, "SELECT total(number) FROM many"), numbers);
	CHECK_U64(ask(reader, "SELECT count(text) FROM many"), texts);
	CHECK_U64(ask(reader, "SELECT total(length(text)) FROM many"), lengths);
	CHECK_U64(ask(reader, "SELECT count(*) FROM many WHERE number != rowid - 1"), 0);
	CHECK_U64(ask(reader, "SELECT count(*) FROM many WHERE length(trim(text, "
			      "char(97 + number % 26))) > 0"),
		  0);
	for (uint64_t row = 0; row < 128 && row < count; row++) {
		char statement[80];
		snprintf(statement, sizeof(statement), "SELECT wide FROM many WHERE rowid = %d",
			 (int)row + 1);
		CHECK_U64(ask(reader, statement),
			  (row % 2 ? -UINT64_C(1) : 1) * (UINT64_C(1) << row % 64));
	}
	sqlite3_close(reader);
}

static void test_sizes(void)
{
	/* No row, a page, and one or more levels above it. */
	static const uint64_t counts[] = { 0, 1, 2, 100, 150, 151, 1000, 60000, 300000 };
	for (size_t i = 0; i < ARRAY_COUNT(counts); i++)
		check_rows(counts[i], 40);
}

/* Rows that need a page each, and those that need others. */
static void test_long(void)
{
	check_rows(3000, 4096);
	check_rows(900, 20000);
	check_rows(2000, 4060);
}

/* A page may be the last one of a level with any number of rows. */
static void test_edges(void)
{
	for (uint64_t count = 340; count < 380; count++)
		check_rows(count, 4000);
}

static void test_odd(void)
{
	row_count = 0;
	sqlite3 *reader = make();
	check_text(reader, "SELECT group_concat(text, ' ') FROM odd",
		   "plain \\x1b[31m \\xff\\xfe a\\b a\\\\\\\\n '\"");
	CHECK_U64(ask(reader, "SELECT count(*) FROM odd WHERE wide IS NULL AND number IS NULL"), 6);
	check_text(reader, "SELECT sql FROM sqlite_schema WHERE name = 'odd'",
		   "CREATE TABLE \"odd\"(\"number\" INTEGER, \"wide\" INTEGER, \"text\" TEXT)");
	sqlite3_close(reader);
}

static void test_full_disk(void)
{
	struct database *database = NULL;
	struct target target = { 0 };
	uint64_t rows, missing, size;
	struct error *problem = NULL;
	FILE *file = fopen("/dev/full", "w");
	row_count = 10000;
	text_max = 40;
	struct error *error = database_create(file, &database);
	if (!error)
		error = database_add(database, &target, &many, &rows, &missing, &problem);
	if (!error)
		error = database_finish(database, &size);
	CHECK(error && error->kind == ERROR_SYSTEM);
	error_free(error);
	error_free(problem);
	database_destroy(database);
	fclose(file);
}

int main(void)
{
	RUN(test_sizes);
	RUN(test_long);
	RUN(test_edges);
	RUN(test_odd);
	RUN(test_full_disk);
	return test_finish();
}
