// SPDX-License-Identifier: GPL-3.0-or-later
/* What only aligns the next function, told from the last bytes of this one. */
#include "debugger/code/lower.h"
#include "tests/unit/test.h"

static size_t read_hex(const char *hex, uint8_t bytes[64])
{
	size_t count = 0;
	for (; *hex && count < 64; hex += hex[2] ? 3 : 2)
		bytes[count++] = (uint8_t)strtoul((char[]){ hex[0], hex[1], 0 }, NULL, 16);
	return count;
}

static size_t padding(const char *hex)
{
	uint8_t bytes[64];
	size_t count = read_hex(hex, bytes);
	return lowering_x86_64.padding(bytes, count);
}

static bool is_entry(const char *hex, uint64_t hook)
{
	uint8_t bytes[64];
	size_t count = read_hex(hex, bytes);
	return lowering_x86_64.is_entry(bytes, count, 0x1000, hook);
}

static void test_nops(void)
{
	CHECK_U64(padding("5b c3 cc cc cc cc 90"), 1);
	CHECK_U64(padding("5b c3 cc cc cc cc 66 66 2e 0f 1f 84 00 00 00 00 00 0f 1f 40 00"), 15);
	CHECK_U64(padding("e9 10 00 00 00 66 2e 0f 1f 84 00 00 00 00 00 90"), 11);
	CHECK_U64(padding("e8 10 00 00 00"), 0);
	CHECK_U64(padding("0f 0b 66 0f 1f 44 00 00"), 6);
	/* The zeros of a number are none of a no-operation. */
	CHECK_U64(padding("48 c7 c0 00 00 00 00"), 0);
	CHECK_U64(padding(""), 0);
}

static void test_short_jumps(void)
{
	CHECK_U64(padding("85 c0 eb 90"), 0);
	CHECK_U64(padding("85 c0 eb 90 90"), 1);
	CHECK_U64(padding("85 c0 eb 66 90"), 1);
	CHECK_U64(padding("85 c0 eb eb 66 90"), 2);
}

static void test_traps(void)
{
	CHECK_U64(padding("5b c3 cc cc cc cc"), 0);
	CHECK_U64(padding("5b c3 cc cc cc cc cc cc cc"), 3);
	CHECK_U64(padding("ff e0 cc cc cc"), 2);
	CHECK_U64(padding("41 ff e3 cc"), 0);
	CHECK_U64(padding("e9 10 00 00 00 cc"), 0);
	CHECK_U64(padding("e9 10 00 00 00 cc cc cc"), 3);
	CHECK_U64(padding("e8 10 00 00 00 cc"), 1);
}

/* The room in front of an entry that 6.2 and later leave: it has a symbol, and is all its own. */
static void test_rooms(void)
{
	CHECK_U64(padding("90 90 90 90 90 90 90 90 90 90 90 90 90 90 90 90"), 0);
	CHECK_U64(padding("cc cc cc cc cc cc cc cc cc cc cc cc cc cc cc cc"), 0);
	CHECK_U64(padding("90"), 0);
}

/* How a compiled function begins: traced or not, with a landing pad or where one was. */
static void test_entries(void)
{
	CHECK(is_entry("0f 1f 44 00 00", 0));
	CHECK(is_entry("f3 0f 1e fa 0f 1f 44 00 00 53", 0));
	CHECK(is_entry("66 0f 1f 00 0f 1f 44 00 00", 0));
	CHECK(is_entry("e8 fb 0f 00 00", 0x2000));
	CHECK(is_entry("f3 0f 1e fa e8 f7 0f 00 00", 0x2000));
	CHECK(!is_entry("e8 fb 0f 00 00", 0x2001));
	CHECK(!is_entry("e8 fb 0f 00 00", 0));
	CHECK(!is_entry("f3 0f 1e fa 53", 0x2000));
	CHECK(!is_entry("0f 1f 44 00", 0));
	CHECK(!is_entry("f3 0f 1e", 0));
	CHECK(!is_entry("", 0));
}

int main(void)
{
	RUN(test_nops);
	RUN(test_short_jumps);
	RUN(test_traps);
	RUN(test_rooms);
	RUN(test_entries);
	return test_finish();
}
