// SPDX-License-Identifier: GPL-3.0-or-later
/* Budgets of memory, and what keeps output out of one: it ends, says so, and gives all back. */
#include "base/budget.h"

#include "base/array.h"
#include "base/kept_text.h"
#include "base/out.h"
#include "tests/unit/test.h"

#define LIMIT 4096

static void test_limits(void)
{
	struct budget budget;
	budget_init(&budget, 1);
	CHECK_U64(budget.limit, 64 << 20);
	budget_init(&budget, (uint64_t)1 << 40);
	CHECK_U64(budget_left(&budget), (uint64_t)1 << 40);
	CHECK_OK(budget_take(&budget, (uint64_t)1 << 40));
	CHECK_U64(budget_left(&budget), 0);
	struct error *error = budget_take(&budget, 1);
	CHECK(error && error->kind == ERROR_BOUND && error_is_fatal(error));
	CHECK(error && strstr(error->message, "more than 1048576 MiB"));
	error = error_after_bound(error);
	CHECK(error && !error_is_fatal(error));
	error_free(error);
	budget_give_back(&budget, 16);
	CHECK_U64(budget_left(&budget), 16);
	/* Nobody's, and one without an end. */
	budget = (struct budget){ .limit = 0 };
	CHECK_OK(budget_take(NULL, UINT64_MAX));
	CHECK_OK(budget_take(&budget, UINT64_MAX / 2));
	budget_give_back(NULL, 1);
	/* More was taken than there is: of a part of a budget. */
	budget = (struct budget){ .limit = 1, .used = 2 };
	CHECK_U64(budget_left(&budget), 0);
}

/* It grows up to the last byte, and stays what it was when there is no more. */
static void test_array(void)
{
	struct budget budget = { .limit = LIMIT };
	uint64_t *items = NULL;
	size_t capacity = 0, count = 0;
	struct error *error = NULL;
	while (!error && count <= LIMIT) {
		error = budget_reserve(&budget, &items, &capacity, count + 1);
		if (!error)
			items[count] = count;
		count += !error;
		CHECK(budget.used == capacity * sizeof(*items) && budget.used <= LIMIT);
	}
	CHECK(error && error->kind == ERROR_BOUND);
	CHECK_U64(count, LIMIT / sizeof(*items));
	for (size_t i = 0; i < count; i++)
		CHECK(items[i] == i);
	error_free(error);
	CHECK_FAILS(budget_reserve(&budget, &items, &capacity, SIZE_MAX / 32), "this is not all");
	budget_release(&budget, items, capacity);
	CHECK_U64(budget.used, 0);
	items = NULL;
	capacity = 0;
	error = budget_reserve(NULL, &items, &capacity, SIZE_MAX / 4);
	CHECK(error && error->kind == ERROR_NO_MEMORY);
	error_free(error);
}

static void test_text(void)
{
	struct budget budget = { .limit = LIMIT };
	struct kept_text text;
	for (int is_short = 0; is_short < 2; is_short++) {
		size_t limit = is_short ? 1000 : LIMIT;
		FILE *file = kept_text_open(&text, &budget, is_short ? limit : UINT64_MAX);
		for (int i = 0; i < 10000; i++)
			fputs("abcd", file);
		CHECK(!ferror(file));
		CHECK(!fclose(file));
		CHECK(text.error && text.error->kind == ERROR_BOUND);
		CHECK(text.size <= limit && text.size > limit / 2);
		for (size_t i = 0; i < text.size; i++)
			CHECK(text.text[i] == "abcd"[i % 4]);
		kept_text_deinit(&text);
		CHECK_U64(budget.used, 0);
	}
	FILE *file = kept_text_open(&text, &budget, 4);
	fputs("abcd", file);
	fclose(file);
	CHECK(!text.error && text.size == 4);
	kept_text_deinit(&text);
}

static void write_rows(struct out *out, const char *text, int count)
{
	static const struct column columns[] = { { "n", "N", 4 }, { "text", "TEXT", 0 } };
	out_table_begin(out, NULL, columns, ARRAY_COUNT(columns));
	for (int i = 0; i < count; i++) {
		out_row_begin(out);
		out_u64(out, "n", (uint64_t)i);
		out_string(out, "text", text);
		out_row_end(out);
	}
	out_table_end(out);
	out_finish(out);
}

/* Rows come whole or not at all, from the first on; the rest is refused. */
static void check_rows(const char *text)
{
	struct budget budget = { .limit = LIMIT };
	char *written, *rest = NULL;
	size_t size;
	int count = 0;
	FILE *file = open_memstream(&written, &size);
	struct out *out = out_rows_create(out_csv_create(file), NULL, &budget);
	CHECK_OK(out_check(out));
	write_rows(out, text, 1000);
	CHECK_FAILS(out_check(out), "this is not all");
	CHECK(budget.used > LIMIT / 2 && budget.used <= LIMIT);
	out_destroy(out);
	CHECK_U64(budget.used, 0);
	fclose(file);
	char *line = strtok_r(written, "\n", &rest);
	CHECK_STRING(line, "n,text");
	while ((line = strtok_r(NULL, "\n", &rest))) {
		char wanted[256];
		snprintf(wanted, sizeof(wanted), "%d,%s", count++, text);
		CHECK_STRING(line, wanted);
	}
	CHECK(count > 4 && count < 100);
	free(written);
}

static void test_rows(void)
{
	check_rows("");
	check_rows("a");
	check_rows("a text of some length so that bytes and cells come to their end at other "
		   "places than with short ones");
}

static void test_items(void)
{
	struct budget budget = { .limit = LIMIT };
	const struct out_item *items;
	struct out *out = out_items_create(&budget);
	for (uint64_t i = 0; i < 1000; i++)
		out_item_named(out, i, "struct thing");
	size_t count = out_items(out, &items);
	CHECK_U64(count, LIMIT / sizeof(*items));
	CHECK(count && items[count - 1].address == count - 1);
	CHECK_FAILS(out_check(out), "this is not all");
	out_destroy(out);
	CHECK_U64(budget.used, 0);
}

int main(void)
{
	RUN(test_limits);
	RUN(test_array);
	RUN(test_text);
	RUN(test_rows);
	RUN(test_items);
	return test_finish();
}
