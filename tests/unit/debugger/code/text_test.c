// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/unit/test.h"

#include "debugger/code/text.h"

#define MIB ((uint64_t)1 << 20)

static void add(struct text *text, uint64_t start, uint64_t size)
{
	struct module module = { .region_count = 1 };
	module.regions[0].start = start;
	module.regions[0].size = size;
	CHECK_OK(text_add_module(text, &module));
}

/* Each module's size may be a lie; what all have together is loaded, and has to be little. */
static void test_sizes(void)
{
	struct text text = { .count = 0 };
	add(&text, 0x1000, 100 * MIB);
	CHECK_U64(text.count, 1);
	add(&text, 0x1000, 100 * MIB);
	CHECK_U64(text.count, 1);
	add(&text, 200 * MIB, 100 * MIB);
	CHECK_U64(text.count, 1);
	add(&text, 200 * MIB, 90 * MIB);
	CHECK_U64(text.count, 2);
	add(&text, UINT64_MAX - 4096, MIB);
	add(&text, 400 * MIB, UINT64_MAX);
	add(&text, 400 * MIB, 0);
	CHECK_U64(text.count, 2);
	CHECK_U64(text.total, 190 * MIB);
	text_deinit(&text);
}

int main(void)
{
	RUN(test_sizes);
	return test_finish();
}
