// SPDX-License-Identifier: GPL-3.0-or-later
/* Rows that are kept: cells as they were set, and those of a value, in the table's order. */
#include "debugger/tables/rows.h"

#include "base/array.h"
#include "debugger/tables/sql.h"
#include "tests/unit/test.h"

enum { NUMBER, SKIPPED, NAME };

static const struct table_column columns[] = {
	[NUMBER] = { "number", COLUMN_WIDE, 8, "a number", NULL },
	[SKIPPED] = { "skipped", COLUMN_INTEGER, 8, "nobody asks for it", NULL },
	[NAME] = { "name", COLUMN_TEXT, -8, "a text", NULL },
};

static const struct table table = { .name = "things",
				    .columns = columns,
				    .column_count = ARRAY_COUNT(columns) };

#define COLUMNS (1u << NUMBER | 1u << NAME)

static void add(struct rows *rows, uint64_t number, const char *name)
{
	struct table_cell cells[TABLE_COLUMNS_MAX] = { 0 };
	cells[NUMBER] = (struct table_cell){ .state = CELL_SET, .number = number };
	cells[NAME] = (struct table_cell){ .state = name ? CELL_SET : CELL_MISSING,
					   .text = (char *)name };
	CHECK_OK(rows_add(rows, cells));
}

static struct rows *make(void)
{
	struct rows *rows = rows_create(&table, COLUMNS, NULL);
	static const char *const names[] = { "b", "a", NULL, "b", "" };
	for (size_t i = 0; i < 1000; i++)
		add(rows, i % 7 ? i % 10 : UINT64_MAX, names[i % ARRAY_COUNT(names)]);
	return rows;
}

static void test_cells(void)
{
	struct rows *rows = make();
	CHECK_U64(rows_count(rows), 1000);
	CHECK_U64(rows_columns(rows), COLUMNS);
	CHECK_U64(rows_missing(rows), 200);
	CHECK_U64(rows_cell(rows, 8, NUMBER).number, 8);
	CHECK_STRING(rows_cell(rows, 8, NAME).text, "b");
	CHECK(rows_cell(rows, 7, NAME).is_null);
	rows_destroy(rows);
}

static void test_finds(void)
{
	struct rows *rows = make();
	const uint32_t *found;
	size_t count, wanted = 0;
	CHECK_OK(rows_find_number(rows, NUMBER, UINT64_MAX, &found, &count));
	CHECK_U64(count, 143);
	for (size_t i = 0; i < count; i++)
		CHECK_U64(found[i], 7 * i);
	CHECK_OK(rows_find_number(rows, NUMBER, 10, &found, &count));
	CHECK_U64(count, 0);
	CHECK_OK(rows_find_text(rows, NAME, "b", &found, &count));
	for (size_t i = 0; i < 1000; i++)
		if (i % 5 == 0 || i % 5 == 3)
			CHECK(wanted < count && found[wanted++] == i);
	CHECK_U64(count, wanted);
	CHECK_OK(rows_find_text(rows, NAME, "", &found, &count));
	CHECK_U64(count, 200);
	/* One more row: what was in order is not. */
	add(rows, 10, "c");
	CHECK_OK(rows_find_number(rows, NUMBER, 10, &found, &count));
	CHECK(count == 1 && found[0] == 1000);
	rows_destroy(rows);
}

/* --- SQL over them --------------------------------------------------------------------------- */

static int64_t answer;

static struct error *head(void *context, const struct sql_column *names, size_t count)
{
	(void)context;
	(void)names;
	return count == 1 ? NULL : error_create(ERROR_OTHER, "too many columns");
}

static struct error *row(void *context, const struct sql_value *values, size_t count)
{
	(void)context;
	(void)count;
	answer = values[0].kind == SQL_INTEGER ? values[0].integer : -1;
	return NULL;
}

static struct error *ask(struct rows *rows, const char *text)
{
	const struct table *tables[] = { &table };
	struct error *problem = NULL;
	const struct sql_question question = { .tables = tables,
					       .table_count = 1,
					       .given = rows,
					       .text = text,
					       .head = head,
					       .row = row };
	answer = -2;
	struct error *error = sql_ask(&question, &problem);
	error_free(problem);
	return error;
}

static void test_sql(void)
{
	static const struct {
		const char *text;
		int64_t answer;
	} wanted[] = {
		{ "SELECT count(*) FROM things", 1000 },
		{ "SELECT count(*) FROM things WHERE number = -1", 143 },
		{ "SELECT count(*) FROM things WHERE name = 'b'", 400 },
		{ "SELECT count(*) FROM things WHERE name = 'B'", 0 },
		{ "SELECT count(*) FROM things WHERE name = 'B' COLLATE NOCASE", 400 },
		{ "SELECT count(*) FROM things WHERE name IS NULL", 200 },
		{ "SELECT count(*) FROM things WHERE name = ''", 200 },
		{ "SELECT count(*) FROM things WHERE number = 8.0", 86 },
		{ "SELECT count(*) FROM things WHERE number = '8'", 86 },
		{ "SELECT count(*) FROM things a JOIN things b ON a.number = b.number "
		  "WHERE a.name = 'a' AND b.name = 'b' AND a.number = 1",
		  0 },
		{ "SELECT max(number) FROM things", 9 },
	};
	struct rows *rows = make();
	struct error *error = ask(rows, "SELECT 1");
	/* `make SQLITE=no` has but one answer. */
	if (error && error->kind == ERROR_UNSUPPORTED) {
		error_free(error);
		rows_destroy(rows);
		return;
	}
	CHECK_OK(error);
	for (size_t i = 0; i < ARRAY_COUNT(wanted); i++) {
		CHECK_OK(ask(rows, wanted[i].text));
		CHECK_U64(answer, wanted[i].answer);
	}
	static const char *const refused[] = {
		"",
		"--",
		"SELECT",
		"DELETE FROM things",
		"PRAGMA user_version",
		"ATTACH 'x' AS y",
		"CREATE TABLE t(x)",
		"SELECT 1; SELECT 2",
		"SELECT load_extension('x')",
		"SELECT nothing FROM things",
		"VACUUM INTO '/tmp/x'",
		"BEGIN",

	};
	for (size_t i = 0; i < ARRAY_COUNT(refused); i++) {
		error = ask(rows, refused[i]);
		CHECK(error && error->kind == ERROR_USAGE);
		if (!error || error->kind != ERROR_USAGE)
			printf("%s: %s\n", refused[i], error ? error->message : "it runs");
		error_free(error);
	}
	rows_destroy(rows);
}

int main(void)
{
	RUN(test_cells);
	RUN(test_finds);
	RUN(test_sql);
	return test_finish();
}
