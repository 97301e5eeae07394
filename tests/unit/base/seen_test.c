// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/seen.h"

#include "tests/unit/test.h"

static bool add(struct seen *seen, uint64_t address)
{
	bool again = false;
	CHECK_OK(seen_add(seen, address, &again));
	return again;
}

static void test_again(void)
{
	struct seen seen = { .pages = { .entries = NULL } };
	for (uint64_t i = 0; i < 10000; i++)
		CHECK(!add(&seen, 0xffff888000000000 + i * 8));
	for (uint64_t i = 0; i < 10000; i++)
		CHECK(add(&seen, 0xffff888000000000 + i * 8));
	/* What lies in one word is one. */
	CHECK(add(&seen, 0xffff888000000004));
	CHECK(!add(&seen, 0xffff888000000000 + 10000 * 8));
	seen_deinit(&seen);
	CHECK(!add(&seen, 0xffff888000000000));
	seen_deinit(&seen);
}

/* The lowest and the highest page, of which hostile links are. */
static void test_ends(void)
{
	struct seen seen = { .pages = { .entries = NULL } };
	CHECK(!add(&seen, 0));
	CHECK(!add(&seen, 8));
	CHECK(!add(&seen, UINT64_MAX));
	CHECK(!add(&seen, UINT64_MAX - 8));
	CHECK(add(&seen, 0));
	CHECK(add(&seen, UINT64_MAX));
	seen_deinit(&seen);
}

static void test_bound(void)
{
	struct seen seen = { .pages = { .entries = NULL } };
	bool again = false;
	for (uint64_t i = 0; i < 1u << 20; i++)
		CHECK(!add(&seen, i << 12));
	struct error *error = seen_add(&seen, UINT64_C(1) << 40, &again);
	CHECK(error && error->kind == ERROR_FORMAT);
	error_free(error);
	/* What is known still is. */
	CHECK(add(&seen, 0));
	seen_deinit(&seen);
}

int main(void)
{
	RUN(test_again);
	RUN(test_ends);
	RUN(test_bound);
	return test_finish();
}
