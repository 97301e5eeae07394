// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Lists of .eh_frame that somebody made to be slow: the time is that of the bytes, whatever they
 * say, and Ctrl-C ends it. BTFCRASH_TEST_MEGABYTES: of each section (2).
 */
#include "debugger/user_stack/cfi.h"
#include "tests/unit/test.h"

#include "base/bytes.h"
#include "base/interrupt.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BASE	     0x10000000
#define MEGABYTE     ((size_t)1 << 20)
#define DEFAULT_SIZE 2	/* MB */
#define FUNCTION     16 /* bytes of the shortest entry that is made here */
/* What the square of their number costs is a hundred times as much with two megabytes. */
#ifdef __SANITIZE_ADDRESS__
#define SECONDS_PER_MEGABYTE 2.0
#else
#define SECONDS_PER_MEGABYTE 0.2
#endif

struct section {
	uint8_t *data;
	size_t size, at;
};

static void put(struct section *section, const void *bytes, size_t size)
{
	memcpy(section->data + section->at, bytes, size);
	section->at += size;
}

static void put_u32(struct section *section, uint64_t value)
{
	uint32_t word = (uint32_t)value;
	put(section, &word, sizeof(word));
}

/* A common entry with these letters, and as many bytes of what they say. Returns where it is. */
static size_t put_common(struct section *section, size_t letters)
{
	static const uint8_t numbers[] = { 1, 0x78, 16 }; /* factors, return address */
	size_t at = section->at;
	uint8_t size[4] = { 0x80 | (letters & 0x7f), 0x80 | (letters >> 7 & 0x7f),
			    0x80 | (letters >> 14 & 0x7f), letters >> 21 & 0x7f };
	put_u32(section, 4 + 1 + 1 + letters + 1 + sizeof(numbers) + sizeof(size) + letters);
	put_u32(section, 0);
	put(section, "\1z", 2);
	memset(section->data + section->at, 'L', letters);
	section->at += letters;
	put(section, "", 1);
	put(section, numbers, sizeof(numbers));
	put(section, size, sizeof(size));
	section->at += letters;
	return at;
}

/* A function's entry, of the common one at `common`. */
static void put_function(struct section *section, uint64_t start, size_t common)
{
	put_u32(section, 12);
	put_u32(section, section->at - common);
	put(section, &start, sizeof(start));
}

static void fill_functions(struct section *section, size_t common)
{
	for (uint64_t start = 0x7fffffff; section->at + FUNCTION + 4 <= section->size; start--)
		put_function(section, start, common);
}

/* --- what is slow ---------------------------------------------------------------------------- */

static void each_its_own(struct section *section)
{
	for (uint64_t start = 0; section->at + 64 <= section->size; start += 16)
		put_function(section, start, put_common(section, 1));
}

static void one_long(struct section *section)
{
	fill_functions(section, put_common(section, section->size / 8));
}

static void many_long(struct section *section)
{
	size_t commons[64], count = 64, length = section->size / 512;
	for (size_t i = 0; i < count; i++)
		commons[i] = put_common(section, length);
	for (uint64_t start = 0; section->at + FUNCTION + 4 <= section->size; start++)
		put_function(section, start * 7919 % 1000003, commons[start % count]);
}

/* Entries whose common one is the entry before, themselves, or far in front of the section. */
static void led_back(struct section *section)
{
	for (uint64_t start = 0; section->at + FUNCTION + 4 <= section->size; start++)
		put_function(section, start,
			     start % 3 == 0   ? section->at
			     : start % 3 == 1 ? section->at - FUNCTION
					      : section->at - (1u << 30));
}

/* Common entries within common entries: what is inside of one is the beginning of the next. */
static void nested(struct section *section)
{
	static const uint8_t head[] = { 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1 };
	size_t half = section->size / 2, first = section->at;
	put_u32(section, half - 4);
	while (section->at + sizeof(head) < half)
		put(section, head, sizeof(head));
	section->at = half;
	for (size_t i = 0; section->at + FUNCTION + 4 <= section->size; i++)
		put_function(section, i, first + i % 1000 * sizeof(head));
}

static void shortest(struct section *section)
{
	while (section->at + 12 <= section->size) {
		put_u32(section, 4);
		put_u32(section, 4);
	}
}

static const struct {
	const char *name;
	void (*make)(struct section *section);
	bool has_entries;
} kinds[] = {
	{ "each function has a common entry of its own", each_its_own, true },
	{ "all have one long common entry", one_long, false },
	{ "long common entries in turns", many_long, false },
	{ "common entries that lead back", led_back, false },
	{ "common entries in one another", nested, false },
	{ "entries without anything", shortest, false },
};

static double processor_seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static struct error *list(const struct section *section, struct cfi_table *ret)
{
	struct memory_array array;
	memory_array_init(&array, BASE, section->data, section->size);
	*ret = (struct cfi_table){ .memory = &array.memory };
	struct error *error = cfi_table_list(ret, BASE, section->size);
	ret->memory = NULL;
	return error;
}

static void test_kinds(void)
{
	const char *megabytes = getenv("BTFCRASH_TEST_MEGABYTES");
	size_t size = (megabytes ? strtoul(megabytes, NULL, 10) : DEFAULT_SIZE) * MEGABYTE;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct section section = { .data = calloc(1, size), .size = size };
		struct cfi_table table;
		kinds[i].make(&section);
		double before = processor_seconds();
		struct error *error = list(&section, &table);
		double seconds = processor_seconds() - before;
		printf("%s: %zu MB, %zu entries, %.3f s%s%s\n", kinds[i].name, size / MEGABYTE,
		       table.count, seconds, error ? ": " : "", error ? error->message : "");
		CHECK(seconds < SECONDS_PER_MEGABYTE * (double)(size / MEGABYTE));
		CHECK(!kinds[i].has_entries || table.count > size / 128);
		error_free(error);
		cfi_table_deinit(&table);
		free(section.data);
	}
}

static void test_order(void)
{
	struct section section = { .data = calloc(1, 4096), .size = 4096 };
	struct cfi_table table;
	fill_functions(&section, put_common(&section, 1));
	CHECK_OK(list(&section, &table));
	CHECK(table.count > 200);
	for (size_t i = 1; i < table.count; i++)
		CHECK(table.entries[i - 1].start < table.entries[i].start);
	cfi_table_deinit(&table);
	free(section.data);
}

static void test_interrupt(void)
{
	struct section section = { .data = calloc(1, MEGABYTE), .size = MEGABYTE };
	struct cfi_table table;
	fill_functions(&section, put_common(&section, 1));
	interrupt_flag = 1;
	struct error *error = list(&section, &table);
	CHECK(error && error->kind == ERROR_INTERRUPTED);
	interrupt_clear();
	error_free(error);
	cfi_table_deinit(&table);
	free(section.data);
}

int main(void)
{
	RUN(test_order);
	RUN(test_kinds);
	RUN(test_interrupt);
	return test_finish();
}
