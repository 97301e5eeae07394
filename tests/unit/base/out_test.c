// SPDX-License-Identifier: GPL-3.0-or-later
/* The sinks: what one description of an answer becomes in each. */
#include "base/array.h"
#include "base/budget.h"
#include "base/out.h"
#include "tests/unit/test.h"

struct capture {
	char *text;
	size_t size;
	FILE *file;
};

static FILE *capture_begin(struct capture *capture)
{
	*capture = (struct capture){ 0 };
	capture->file = open_memstream(&capture->text, &capture->size);
	return capture->file;
}

/* Ends the sink; the text lives until the next capture. */
static const char *capture_end(struct capture *capture, struct out *out)
{
	static char text[8192];
	out_finish(out);
	out_destroy(out);
	fclose(capture->file);
	snprintf(text, sizeof(text), "%s", capture->text);
	free(capture->text);
	return text;
}

static const struct column columns[] = { { "pid", "PID", 5 },
					 { "comm", "COMM", -6 },
					 { "hidden", NULL, 0 } };

static void write_table(struct out *out)
{
	out_table_begin(out, NULL, columns, ARRAY_COUNT(columns));
	for (int i = 0; i < 2; i++) {
		out_item_named(out, 0x1000 + i, "struct task_struct");
		out_row_begin(out);
		out_i64(out, "pid", i);
		out_string_as(out, "comm", i ? "a,\"b\"\x1b[2J" : "init",
			      i ? "[a,\"b\"\x1b[2J]" : "[init]");
		out_address(out, "hidden", 0xabc);
		out_row_end(out);
	}
	out_table_end(out);
}

/* Objects that do not all have the same members, nested ones, and a list. */
static void write_objects(struct out *out)
{
	out_array_begin(out, NULL);
	for (int i = 0; i < 2; i++) {
		out_object_begin(out, NULL);
		out_text(out, "at ");
		out_address(out, "address", 16);
		out_object_begin(out, "task");
		out_u64(out, "pid", 7);
		out_object_end(out);
		out_array_begin(out, "words");
		out_string(out, NULL, "x");
		out_string(out, NULL, "y");
		out_array_end(out);
		if (i)
			out_bool_as(out, "late", true, "");
		out_null_as(out, "none", "");
		out_object_end(out);
		out_text(out, "\n");
	}
	out_array_end(out);
}

static void test_text(void)
{
	struct capture capture;
	struct out *out = out_text_create(capture_begin(&capture));
	write_table(out);
	CHECK_STRING(capture_end(&capture, out),
		     "  PID COMM\n    0 [init]\n    1 [a,\"b\"\\x1b[2J]\n");
	out = out_text_create(capture_begin(&capture));
	write_objects(out);
	CHECK_STRING(capture_end(&capture, out),
		     "at 00000000000000107xy\nat 00000000000000107xy\n");
}

static void test_colors(void)
{
	struct capture capture;
	struct out *out = out_color_create(capture_begin(&capture));
	write_table(out);
	CHECK_STRING(capture_end(&capture, out), "\x1b[1m  PID COMM\x1b[0m\n    0 [init]\n"
						 "    1 [a,\"b\"\\x1b[2J]\n");
	out = out_color_create(capture_begin(&capture));
	out_address(out, NULL, 1);
	out_style(out, OUT_GUESS);
	out_string(out, NULL, "\x1b[0m");
	/* Whatever is left open is closed. */
	CHECK_STRING(capture_end(&capture, out),
		     "\x1b[2m0000000000000001\x1b[0m\x1b[33m\\x1b[0m\x1b[0m");
}

static void test_csv(void)
{
	struct capture capture;
	struct out *out = out_rows_create(out_csv_create(capture_begin(&capture)), NULL, NULL);
	write_table(out);
	CHECK_STRING(capture_end(&capture, out), "pid,comm,hidden\n0,init,0xabc\n"
						 "1,\"a,\"\"b\"\"\\x1b[2J\",0xabc\n");
	out = out_rows_create(out_csv_create(capture_begin(&capture)), NULL, NULL);
	write_objects(out);
	CHECK_STRING(capture_end(&capture, out), "address,task.pid,words,none,late\n"
						 "0x10,7,x y,,\n0x10,7,x y,,true\n");
}

/* What is written for each of several things, by code that does not know of it. */
static void write_each(struct out *out)
{
	out_array_begin(out, NULL);
	for (uint64_t i = 1; i < 4; i++) {
		bool is_rows = out_is_rows(out);
		if (is_rows)
			out_rows_repeat_begin(out);
		else
			out_object_begin(out, NULL);
		out_u64(out, "each", i);
		if (is_rows)
			out_rows_repeat_end(out);
		out_next_key(out, "result");
		if (i == 2)
			write_table(out);
		else if (i == 1)
			write_objects(out);
		out_next_key(out, NULL);
		if (!is_rows)
			out_object_end(out);
	}
	out_array_end(out);
}

static void test_each(void)
{
	struct capture capture;
	struct out *out =
		out_rows_create(out_csv_create(capture_begin(&capture)), "each,pid,late", NULL);
	write_each(out);
	CHECK_STRING(capture_end(&capture, out), "each,pid,late\n1,,\n1,,true\n2,0,\n2,1,\n");
	out = out_rows_create(out_csv_create(capture_begin(&capture)), "pid", NULL);
	write_each(out);
	CHECK_STRING(capture_end(&capture, out), "pid\n\n\n0\n1\n");
	out = out_json_create(capture_begin(&capture));
	write_each(out);
	const char *text = capture_end(&capture, out);
	CHECK(strstr(text, "[{\"each\": 1, \"result\": [{\"address\""));
	CHECK(strstr(text, "{\"each\": 2, \"result\": [{\"pid\": 0"));
	CHECK(strstr(text, "{\"each\": 3}]"));
}

/* What a spreadsheet would run is text; numbers stay numbers. */
static void test_csv_formulas(void)
{
	static const char *const texts[] = {
		"=cmd|' /C calc'!A0",
		"+1",
		"-1+2",
		"@SUM(1)",
		"  =1",
		"'=1",
		"\uff1d1",
		"a=b",
		"\t=1",
		"1,=2",
	};
	struct capture capture;
	struct out *out = out_rows_create(out_csv_create(capture_begin(&capture)), NULL, NULL);
	out_array_begin(out, NULL);
	for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
		out_object_begin(out, NULL);
		out_string(out, "=text", texts[i]);
		out_i64(out, "number", -(int64_t)i);
		out_object_end(out);
	}
	out_array_end(out);
	CHECK_STRING(capture_end(&capture, out), "'=text,number\n"
						 "'=cmd|' /C calc'!A0,0\n"
						 "'+1,-1\n"
						 "'-1+2,-2\n"
						 "'@SUM(1),-3\n"
						 "\"'  =1\",-4\n"
						 "''=1,-5\n"
						 "'\xef\xbc\x9d"
						 "1,-6\n"
						 "a=b,-7\n"
						 "\\t=1,-8\n"
						 "\"1,=2\",-9\n");
}

static void test_columns(void)
{
	struct capture capture;
	struct out *out =
		out_rows_create(out_csv_create(capture_begin(&capture)), "comm,pid", NULL);
	write_table(out);
	out_finish(out);
	CHECK_OK(out_rows_check(out));
	CHECK_STRING(capture_end(&capture, out), "comm,pid\ninit,0\n\"a,\"\"b\"\"\\x1b[2J\",1\n");
	out = out_rows_create(out_text_create(capture_begin(&capture)), "comm,pid", NULL);
	write_table(out);
	CHECK_STRING(capture_end(&capture, out),
		     "COMM           PID\n[init]           0\n[a,\"b\"\\x1b[2J]   1\n");
	out = out_rows_create(out_json_create(capture_begin(&capture)), "task.pid", NULL);
	write_objects(out);
	CHECK_STRING(capture_end(&capture, out), "[{\"task.pid\": 7}, {\"task.pid\": 7}]");
	out = out_rows_create(out_csv_create(capture_begin(&capture)), "pid,nope", NULL);
	write_table(out);
	out_finish(out);
	CHECK_FAILS(out_rows_check(out), "no column \"nope\"; there are: pid,comm,hidden");
	CHECK_STRING(capture_end(&capture, out), "");
}

/* One value is a table of one cell. */
static void test_scalars(void)
{
	struct capture capture;
	struct out *out = out_rows_create(out_csv_create(capture_begin(&capture)), NULL, NULL);
	out_u64(out, NULL, 5);
	CHECK_STRING(capture_end(&capture, out), "value\n5\n");
}

/* A cell of 30,000 values takes what they take, not what all its beginnings do: 1.8 GB. */
static void test_many_values(void)
{
	struct capture capture;
	struct budget budget;
	budget_init(&budget, 0);
	struct out *out = out_rows_create(out_csv_create(capture_begin(&capture)), NULL, &budget);
	out_object_begin(out, NULL);
	out_array_begin(out, "many");
	for (unsigned int i = 0; i < 30000; i++)
		out_u64(out, NULL, i % 10);
	out_array_end(out);
	out_u64_as(out, "same", 1, "one");
	out_u64_as(out, "same", 2, "");
	out_u64_as(out, "same", 3, "three");
	out_object_end(out);
	out_finish(out);
	CHECK_OK(out_check(out));
	fflush(capture.file);
	CHECK_U64(capture.size, strlen("many,same\n") + 2 * 30000 - 1 + strlen(",1 2 3\n"));
	CHECK(strstr(capture.text, "many,same\n0 1 2 3 4 5 6 7 8 9 0 1 "));
	CHECK(strstr(capture.text, "8 9,1 2 3\n"));
	capture_end(&capture, out);
}

static void test_items(void)
{
	const struct out_item *items;
	struct out *out = out_items_create(NULL);
	write_table(out);
	write_objects(out);
	out_item_named(out, 5, NULL);
	CHECK_U64(out_items(out, &items), 3);
	CHECK_U64(items[0].address, 0x1000);
	CHECK_STRING(items[1].type_name, "struct task_struct");
	/* Consumers look a type up once for all items of one name. */
	CHECK(!items[2].type_name);
	CHECK(!out_failed(out));
	out_finish(out);
	out_destroy(out);
}

/* What an error leaves open is closed down to where it began. */
static void test_finish_to(void)
{
	struct capture capture;
	struct out *out = out_json_create(capture_begin(&capture));
	out_array_begin(out, NULL);
	size_t depth = out_depth(out);
	out_object_begin(out, NULL);
	out_array_begin(out, "a");
	out_u64(out, NULL, 1);
	out_finish_to(out, depth);
	out_object_begin(out, NULL);
	out_string(out, "error", "no");
	out_object_end(out);
	CHECK_STRING(capture_end(&capture, out), "[{\"a\": [1]}, {\"error\": \"no\"}]");
}

/* What nobody would see, or what moves others, is named; what has a shape stays; so do bytes. */
static void test_invisible(void)
{
	static const char text[] =
		"a\xe2\x80\x8b\xef\xbb\xbf\xc2\x85\xe2\x80\xae\xef\xb8\x8f"
		"\xf3\xa0\x81\x81\xee\x80\x80\xed\xa0\x80\x9b\xc3\xa4\xf0\x9f\x98\x80";
	struct capture capture;
	struct out *out = out_text_create(capture_begin(&capture));
	out_string(out, NULL, text);
	CHECK_STRING(capture_end(&capture, out),
		     "a\\u{200b}\\u{feff}\\u{85}\\u{202e}\\u{fe0f}\\u{e0041}\\u{e000}"
		     "\\xed\\xa0\\x80\\x9b\xc3\xa4\xf0\x9f\x98\x80");
	out = out_json_create(capture_begin(&capture));
	out_string(out, NULL, text);
	CHECK_STRING(capture_end(&capture, out),
		     "\"a\\u200b\\ufeff\\u0085\\u202e\\ufe0f\\udb40\\udc41\\ue000"
		     "\\\\xed\\\\xa0\\\\x80\\\\x9b\xc3\xa4\xf0\x9f\x98\x80\"");
}

static void write_integers(struct out *out)
{
	out_array_begin(out, NULL);
	out_integer_as(out, NULL, &(struct out_integer){ 1, 64, false }, "one");
	out_integer_as(out, NULL, &(struct out_integer){ UINT64_MAX, 64, true }, NULL);
	out_integer_as(out, NULL, &(struct out_integer){ UINT64_MAX, 33, false }, NULL);
	out_integer_as(out, NULL, &(struct out_integer){ UINT32_MAX, 32, false }, NULL);
	out_integer_as(out, NULL, &(struct out_integer){ UINT64_MAX, 32, true }, NULL);
	out_digits_as(out, NULL, "-170141183460469231731687303715884105728", "0x80");
	out_wide(out, NULL, 7);
	out_address(out, NULL, 16);
	out_string(out, NULL, "0x1f");
	out_string(out, NULL, "0x");
	out_string(out, NULL, "0x1g");
	out_array_end(out);
}

/* The type decides, not the value; and in the exact form no string looks like an address. */
static void test_integers(void)
{
	struct capture capture;
	struct out *out = out_json_create(capture_begin(&capture));
	write_integers(out);
	CHECK_STRING(capture_end(&capture, out),
		     "[\"1\", \"-1\", \"18446744073709551615\", 4294967295, -1, "
		     "\"-170141183460469231731687303715884105728\", \"7\", \"0x10\", \"0x1f\", "
		     "\"0x\", \"0x1g\"]");
	out = out_json_exact_create(capture_begin(&capture));
	write_integers(out);
	CHECK_STRING(capture_end(&capture, out),
		     "[1, -1, 18446744073709551615, 4294967295, -1, "
		     "-170141183460469231731687303715884105728, 7, \"0x10\", \"\\\\x30x1f\", "
		     "\"0x\", \"0x1g\"]");
	/* As a table of chosen columns, too. */
	out = out_rows_create(out_json_create(capture_begin(&capture)), "n", NULL);
	out_object_begin(out, NULL);
	out_wide(out, "n", 7);
	out_object_end(out);
	CHECK_STRING(capture_end(&capture, out), "[{\"n\": \"7\"}]");
	out = out_text_create(capture_begin(&capture));
	out_integer_as(out, NULL, &(struct out_integer){ 1, 64, false }, "one");
	out_wide(out, NULL, 7);
	CHECK_STRING(capture_end(&capture, out), "one7");
}

/* Words that do not fit begin a new line; escapes count as they are shown. */
static void test_width(void)
{
	static const char *const words[] = { "one", "two\x1b", "three", "a-word-of-its-own", "x" };
	struct capture capture;
	for (int width = 0; width <= 12; width += 12) {
		struct out *out = out_text_create(capture_begin(&capture));
		out_set_width(out, width);
		for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
			out_space(out, i ? 1 : 2, i == 1 ? 7 : (int)strlen(words[i]), 2);
			out_string(out, NULL, words[i]);
		}
		CHECK_STRING(capture_end(&capture, out),
			     width ? "  one\n  two\\x1b\n  three\n  a-word-of-its-own\n  x"
				   : "  one two\\x1b three a-word-of-its-own x");
	}
	/* A word that no line has room for begins no other; one that fits exactly stays. */
	struct out *out = out_text_create(capture_begin(&capture));
	out_set_width(out, 8);
	out_space(out, 2, 10, 2);
	out_string(out, NULL, "0123456789");
	out_line(out, "%s", "");
	out_space(out, 2, 3, 2);
	out_string(out, NULL, "one");
	out_space(out, 1, 2, 2);
	out_string(out, NULL, "at");
	out_space(out, 1, 1, 2);
	out_string(out, NULL, "x");
	CHECK_STRING(capture_end(&capture, out), "  0123456789\n  one at\n  x");
}

int main(void)
{
	RUN(test_text);
	RUN(test_colors);
	RUN(test_csv);
	RUN(test_each);
	RUN(test_csv_formulas);
	RUN(test_columns);
	RUN(test_scalars);
	RUN(test_many_values);
	RUN(test_items);
	RUN(test_finish_to);
	RUN(test_invisible);
	RUN(test_integers);
	RUN(test_width);
	return test_finish();
}
