// SPDX-License-Identifier: GPL-3.0-or-later
/* base/: errors, memory arrays, bytes, the name index, output sinks. */
#include "tests/unit/test.h"

#include "base/array.h"
#include "base/ascii.h"
#include "base/bytes.h"
#include "base/digits.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/out.h"
#include <ctype.h>

static void test_error_prefix(void)
{
	struct error *error = error_create_at(ERROR_EXCLUDED, 0x1000, "page %d", 7);
	error = error_prefix(error, "reading %s", "x");
	CHECK_STRING(error->message, "reading x: page 7");
	CHECK_U64(error->address, 0x1000);
	CHECK_U64(error->kind, ERROR_EXCLUDED);
	error_free(error);
	CHECK(!error_prefix(NULL, "nothing"));
}

/* Advice goes with the error, whatever becomes of it. */
static void test_error_advice(void)
{
	struct error *error = error_advise(error_create_at(ERROR_EXCLUDED, 5, "page"), "ask");
	CHECK_STRING(error->advice, "ask");
	CHECK_STRING(error->message, "page");
	struct error *copy = error_copy(error);
	CHECK_STRING(copy->advice, "ask");
	CHECK_U64(copy->address, 5);
	error_free(error);
	copy = error_as(ERROR_FORMAT, error_prefix(copy, "reading"));
	CHECK_STRING(copy->message, "reading: page");
	CHECK_STRING(copy->advice, "ask");
	copy = error_advise(copy, NULL);
	CHECK(!copy->advice);
	error_free(copy);
	CHECK(!error_advise(NULL, "nothing"));
	/* The one without memory is everybody's. */
	error = error_advise(error_no_memory(), "mine");
	CHECK(!error->advice);
	error_free(error);
	error = error_create(ERROR_OTHER, "new");
	CHECK(!error->advice);
	error_free(error);
}

/* As <ctype.h> in the C locale, in which these tests run. */
static void test_ascii(void)
{
	for (int byte = 0; byte < 256; byte++) {
		CHECK_U64(ascii_is_alpha((char)byte), isalpha(byte) != 0);
		CHECK_U64(ascii_is_alnum((char)byte), isalnum(byte) != 0);
		CHECK_U64(ascii_is_print((char)byte), isprint(byte) != 0);
	}
}

static void test_bytes(void)
{
	const uint8_t data[] = { 1, 2, 3, 4, 5, 6, 7, 8, 'h', 'i', 0, 'x' };
	struct bytes little = { data, sizeof(data), false }, big = { data, sizeof(data), true };
	uint64_t u64;
	uint32_t u32;
	uint16_t u16;
	CHECK(bytes_u64(&little, 0, &u64) && u64 == 0x0807060504030201);
	CHECK(bytes_u64(&big, 0, &u64) && u64 == 0x0102030405060708);
	CHECK(bytes_u32(&big, 2, &u32) && u32 == 0x03040506);
	CHECK(bytes_u16(&little, 10, &u16) && u16 == 'x' << 8);
	CHECK(!bytes_u16(&little, 11, &u16));
	CHECK(!bytes_u32(&little, UINT64_MAX - 1, &u32));
	CHECK_STRING(bytes_string(&little, 8), "hi");
	CHECK(!bytes_string(&little, 11));
	CHECK(!bytes_string(&little, 12));
}

static void test_digits(void)
{
	uint64_t values[130] = { 0, 9, 10 };
	size_t count = 3;
	for (unsigned int bit = 0; bit < 64; bit++)
		values[count++] = (uint64_t)1 << bit;
	for (unsigned int bit = 1; bit < 64; bit++)
		values[count++] = UINT64_MAX >> bit;
	for (size_t i = 0; i < count; i++) {
		char text[DIGITS_SIZE], expected[64];
		snprintf(expected, sizeof(expected), "%" PRIu64, values[i]);
		CHECK_U64(digits_u64(values[i], text), strlen(expected));
		CHECK_STRING(text, expected);
		snprintf(expected, sizeof(expected), "%" PRId64, (int64_t)-values[i]);
		CHECK_U64(digits_i64((int64_t)-values[i], text), strlen(expected));
		CHECK_STRING(text, expected);
		snprintf(expected, sizeof(expected), "0x%" PRIx64, ~values[i]);
		CHECK_U64(digits_hex(~values[i], text), strlen(expected));
		CHECK_STRING(text, expected);
	}
}

static void test_digits_scan(void)
{
	static const struct {
		const char *text;
		unsigned int base;
		uint64_t value;
		size_t length; /* 0: no number */
	} cases[] = {
		{ "12]", 10, 12, 2 },
		{ "0x1f]", 0, 0x1f, 4 },
		{ "017", 0, 15, 3 },
		{ "018", 0, 1, 2 },
		{ "017", 10, 17, 3 },
		{ "0x", 0, 0, 1 },
		{ "0xg", 16, 0, 1 },
		{ "0x1f", 10, 0, 1 },
		{ "fF:", 16, 0xff, 2 },
		{ "0XfF", 16, 0xff, 4 },
		{ "18446744073709551615", 10, UINT64_MAX, 20 },
		{ "18446744073709551616", 10, 0, 0 },
		{ "0x10000000000000000", 0, 0, 0 },
		{ "", 0, 0, 0 },
		{ "-1", 10, 0, 0 },
		{ " 1", 10, 0, 0 },
		{ "x", 16, 0, 0 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t value = 0;
		const char *end = digits_scan(cases[i].text, cases[i].base, &value);
		CHECK(!end == !cases[i].length);
		CHECK_U64(value, cases[i].value);
		CHECK(!end || end == cases[i].text + cases[i].length);
	}
}

static void test_digits_parse(void)
{
	static const struct {
		const char *text;
		uint64_t value;
	} numbers[] = { { "0", 0 },
			{ "010", 10 },
			{ "4096", 4096 },
			{ "0xfff", 0xfff },
			{ "0XfFf", 0xfff },
			{ "18446744073709551615", UINT64_MAX },
			{ "0xffffffffffffffff", UINT64_MAX } };
	static const char *const others[] = { "",
					      "-1",
					      "+1",
					      " 1",
					      "1 ",
					      "1.",
					      "0x",
					      "x1",
					      "0x-1",
					      "12a",
					      "0xg",
					      "a",
					      "@",
					      "1\n",
					      "18446744073709551616",
					      "0x10000000000000000" };
	uint64_t value;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		CHECK(digits_parse(numbers[i].text, &value));
		CHECK_U64(value, numbers[i].value);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		value = 7;
		CHECK(!digits_parse(others[i], &value));
		CHECK_U64(value, 7);
	}
}

static void test_array_bound(void)
{
	static const int items[] = { 1, 3, 3, 5, 9 };
	for (uint32_t count = 0; count <= ARRAY_COUNT(items); count++)
		for (int wanted = 0; wanted <= 10; wanted++) {
			uint32_t below = 0, not_above = 0;
			for (uint32_t i = 0; i < count; i++) {
				below += items[i] < wanted;
				not_above += items[i] <= wanted;
			}
			CHECK_U64(array_bound(count, i, items[i] < wanted), below);
			CHECK_U64(array_bound(count, i, items[i] <= wanted), not_above);
		}
	/* No sum of two numbers leaves the type. */
	CHECK_U64(array_bound(UINT32_MAX, i, i < UINT32_MAX - 1), UINT32_MAX - 1);
	CHECK_U64(array_bound(UINT64_MAX, i, true), UINT64_MAX);
}

static void test_memory_array(void)
{
	uint8_t data[5000];
	memset(data, 'a', sizeof(data));
	memcpy(data + 4094, "end", 4);
	struct memory_array array;
	memory_array_init(&array, 0x10000, data, sizeof(data));
	uint64_t word;
	CHECK_OK(memory_read_word(&array.memory, 0x10000, &word));
	CHECK_U64(word, 0x6161616161616161);
	CHECK_FAILS(memory_read_word(&array.memory, 0x10000 + 4993, &word), "0x11388");
	CHECK_FAILS(memory_read_word(&array.memory, UINT64_MAX - 3, &word), "end of the address");
	char text[5000];
	size_t length;
	CHECK_OK(memory_read_string(&array.memory, 0x10000 + 4090, text, sizeof(text), &length));
	CHECK_STRING(text, "aaaaend");
	CHECK_FAILS(memory_read_string(&array.memory, 0x10000 + 4990, text, sizeof(text), &length),
		    "no memory");
	struct error *why;
	CHECK_U64(memory_read_some(&array.memory, 0x10000, text, 5000, &why), 5000);
	CHECK(!why);
	char wide[9000];
	CHECK_U64(memory_read_some(&array.memory, 0x10000, wide, 9000, &why), 4096);
	CHECK(why && why->address == 0x10000 + 5000);
	error_free(why);
	CHECK_U64(memory_read_some(&array.memory, 0x10000, wide, 9000, NULL), 4096);
	memory_read_filled(&array.memory, 0x10000, wide, 9000, 0x5a);
	CHECK(!memcmp(wide, array.data, 4096));
	CHECK(wide[4096] == 0x5a && wide[8999] == 0x5a);
	void *copy;
	CHECK_FAILS(memory_read_alloc(&array.memory, 0x10000, 1 << 20, 4096, &copy), "sane");
}

static const void *lend_little(struct memory *memory, uint64_t address, size_t size)
{
	const struct memory_array *array = (const struct memory_array *)memory;
	return size <= 16 ? array->data + (address - array->base) : NULL;
}

static void test_memory_borrow(void)
{
	uint8_t data[64] = "bytes to lend";
	struct memory_array array;
	const void *bytes = NULL;
	void *copy = data;
	memory_array_init(&array, 0x1000, data, sizeof(data));
	CHECK_OK(memory_borrow(&array.memory, 0x1000, 16, 64, &bytes, &copy));
	CHECK(bytes == copy && bytes != data && !memcmp(bytes, data, 16));
	free(copy);
	array.memory.lend = lend_little;
	CHECK_OK(memory_borrow(&array.memory, 0x1000, 16, 64, &bytes, &copy));
	CHECK(bytes == data && !copy);
	CHECK_OK(memory_borrow(&array.memory, 0x1000, 17, 64, &bytes, &copy));
	CHECK(bytes == copy && !memcmp(bytes, data, 17));
	free(copy);
	CHECK_FAILS(memory_borrow(&array.memory, 0x1000, 16, 15, &bytes, &copy), "sane");
	CHECK(!copy);
	CHECK_FAILS(memory_borrow(&array.memory, 0x2000, 17, 64, &bytes, &copy), "no memory");
	CHECK(!copy);
}

static void test_hash_index_keeps_equal_names_in_order(void)
{
	struct hash_index index;
	CHECK(hash_index_init(&index, 4));
	for (uint32_t i = 0; i < 3000; i++) {
		char name[16];
		snprintf(name, sizeof(name), "name%u", i / 3);
		CHECK(hash_index_add(&index, hash_string(name), i));
	}
	for (uint32_t i = 0; i < 1000; i++) {
		char name[16];
		snprintf(name, sizeof(name), "name%u", i);
		uint32_t hash = hash_string(name), found = 0, number, last = 0;
		size_t at = hash_index_first(&index, hash);
		while ((number = hash_index_next(&index, hash, &at)) != HASH_NONE) {
			if (number / 3 != i) /* another name of the same hash */
				continue;
			CHECK(!found || number > last);
			last = number;
			found++;
		}
		CHECK_U64(found, 3);
	}
	hash_index_deinit(&index);
	size_t at = hash_index_first(&index, 1);
	CHECK_U64(hash_index_next(&index, 1, &at), HASH_NONE);
}

/* What `write` gives in a sink, as a string the caller frees. */
static char *captured(struct out *(*create)(FILE *), void (*write)(struct out *))
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	struct out *out = create(file);
	write(out);
	out_finish(out);
	out_destroy(out);
	fclose(file);
	return text;
}

static void check_out(void (*write)(struct out *), const char *text, const char *json)
{
	char *actual = captured(out_text_create, write);
	CHECK_STRING(actual, text);
	free(actual);
	actual = captured(out_json_create, write);
	CHECK_STRING(actual, json);
	free(actual);
}

static void write_object(struct out *out)
{
	out_object_begin(out, NULL);
	out_text(out, "pid ");
	out_pad(out, 5);
	out_i64(out, "pid", -3);
	out_text(out, "\n");
	out_address(out, "address", 0xffff);
	out_array_begin(out, "list");
	out_u64(out, NULL, 1);
	out_bool(out, NULL, true);
	out_null_as(out, NULL, "");
	out_array_end(out);
	out_object_end(out);
}

static void write_hostile(struct out *out)
{
	out_object_begin(out, NULL);
	out_string_bytes(out, "s", "a\0\x1b[31m\n\"\\\xff\xc3\xa9\xc2\x85", 15);
	out_text(out, "%s|%5d|%-4s|%#llx|%c\n", "\x1b\n", 7, "ab", 0x10ULL, 'c');
	out_object_end(out);
}

static void write_table(struct out *out)
{
	static const struct column columns[] = {
		{ "pid", "PID", 5 }, { "hidden", NULL, 0 }, { "comm", "COMM", -6 }, { "x", "X", -4 }
	};
	out_table_begin(out, NULL, columns, 4);
	out_row_begin(out);
	out_u64(out, "pid", 1);
	out_u64(out, "hidden", 2);
	out_string(out, "comm", "\xc3\xa9t");
	out_string(out, "x", "y");
	out_row_end(out);
	out_table_end(out);
}

static void write_torn(struct out *out)
{
	out_object_begin(out, NULL);
	out_array_begin(out, "a");
	out_object_begin(out, NULL);
	out_u64(out, "b", 1);
}

static void write_missing(struct out *out)
{
	struct error *error = error_create_at(ERROR_EXCLUDED, 1, "page \"1\"");
	out_array_begin(out, NULL);
	out_missing(out, NULL, error);
	out_array_end(out);
	error_free(error);
}

static void test_sinks(void)
{
	check_out(write_object, "pid    -3\n000000000000ffff1true",
		  "{\"pid\": -3, \"address\": \"0xffff\", \"list\": [1, true, null]}");
	check_out(write_hostile,
		  "a\\x00\\x1b[31m\\n\"\\\\\\xff\xc3\xa9\\u{85}\\x1b\\n|    7|ab  |0x10|c\n",
		  "{\"s\": \"a\\u0000\\u001b[31m\\n\\\"\\\\\\\\\\\\xff\xc3\xa9\\u0085\"}");
	check_out(write_table, "  PID COMM   X\n    1 \xc3\xa9t     y\n",
		  "[{\"pid\": 1, \"hidden\": 2, \"comm\": \"\xc3\xa9t\", \"x\": \"y\"}]");
	check_out(write_torn, "1", "{\"a\": [{\"b\": 1}]}");
	check_out(write_missing, "<excluded>", "[{\"error\": \"page \\\"1\\\"\"}]");
}

int main(void)
{
	RUN(test_error_prefix);
	RUN(test_error_advice);
	RUN(test_ascii);
	RUN(test_bytes);
	RUN(test_digits);
	RUN(test_array_bound);
	RUN(test_digits_parse);
	RUN(test_digits_scan);
	RUN(test_memory_array);
	RUN(test_memory_borrow);
	RUN(test_hash_index_keeps_equal_names_in_order);
	RUN(test_sinks);
	return test_finish();
}
