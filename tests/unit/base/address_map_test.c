// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/address_map.h"

#include "tests/unit/test.h"

#define COUNT 10000

struct entry {
	uint64_t address;
	uint32_t number;
};

static uint64_t address_of(uint32_t number)
{
	/* Of one page's distance, as globals and functions often are: their low bits are alike. */
	return 0xffffffff81000000u + (uint64_t)number * 4096;
}

static void test_many(void)
{
	struct address_map map = { .entries = NULL };
	CHECK(!address_map_find(&map, sizeof(struct entry), address_of(0)));
	for (uint32_t i = 0; i < COUNT; i++) {
		struct entry *entry = address_map_add(&map, sizeof(*entry), address_of(i));
		CHECK(entry && entry->address == address_of(i) && !entry->number);
		if (entry)
			entry->number = i + 1;
	}
	for (uint32_t i = 0; i < COUNT; i++) {
		const struct entry *entry = address_map_find(&map, sizeof(*entry), address_of(i));
		CHECK(entry && entry->number == i + 1);
		CHECK(!address_map_find(&map, sizeof(*entry), address_of(i) + 8));
	}
	struct entry *again = address_map_add(&map, sizeof(*again), address_of(7));
	CHECK(again && again->number == 8);
	CHECK_U64(map.count, COUNT);
	address_map_clear(&map, sizeof(*again));
	CHECK(!map.count && !address_map_find(&map, sizeof(*again), address_of(7)));
	again = address_map_add(&map, sizeof(*again), address_of(7));
	CHECK(again && !again->number);
	address_map_deinit(&map);
	CHECK(!map.count && !map.capacity);
}

static void test_zero(void)
{
	struct address_map map = { .entries = NULL };
	CHECK(!address_map_add(&map, sizeof(uint64_t), 0));
	CHECK(address_map_add(&map, sizeof(uint64_t), 1));
	CHECK(!address_map_find(&map, sizeof(uint64_t), 0));
	address_map_deinit(&map);
}

/* Addresses that differ in their highest bits only, as nobody's but an attacker's do. */
static void test_apart(void)
{
	struct address_map map = { .entries = NULL };
	size_t run = 0, longest = 0;
	for (uint64_t i = 1; i <= COUNT; i++)
		CHECK(address_map_add(&map, sizeof(uint64_t), i << 44));
	CHECK_U64(map.count, COUNT);
	for (size_t i = 0; i < map.capacity; i++) {
		uint64_t address;
		memcpy(&address, map.entries + i * sizeof(address), sizeof(address));
		run = address ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	CHECK(longest < COUNT - 1);
	address_map_deinit(&map);
}

int main(void)
{
	RUN(test_many);
	RUN(test_zero);
	RUN(test_apart);
	return test_finish();
}
