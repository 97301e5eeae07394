// SPDX-License-Identifier: GPL-3.0-or-later
/* Addresses that are none, by the constants of the kernel's sources and of real dumps. */
#include "tests/unit/test.h"

#include "base/array.h"
#include "debugger/analysis/bad_address.h"

static const struct {
	uint64_t address;
	enum bad_kind kind;
	const char *text;
} cases[] = {
	{ 0, BAD_NULL, "NULL" },
	{ 8, BAD_NULL, "NULL + 0x8" },
	{ 4095, BAD_NULL, "NULL + 0xfff" },
	{ 4096, BAD_USER, "an address of user space" },
	{ (uint64_t)-12, BAD_ERROR, "-ENOMEM as a pointer" },
	{ (uint64_t)-4095, BAD_ERROR, "error -4095 as a pointer" },
	{ (uint64_t)-4096, BAD_NOTHING, "" },
	{ 0xdead000000000100, BAD_LIST_POISON, "LIST_POISON1" },
	{ 0xdead000000000110, BAD_LIST_POISON, "LIST_POISON1 + 0x10" },
	{ 0xdead000000000122, BAD_LIST_POISON, "LIST_POISON2" },
	{ 0xdead0000000000f8, BAD_LIST_POISON, "the poison of pointers + 0xf8" },
	{ 0xdead000000001000, BAD_NON_CANONICAL, "non-canonical: no address at all" },
	{ 0x6b6b6b6b6b6b6b6b, BAD_FREE_POISON, "the poison of freed slab objects" },
	{ 0x6b6b6b6b6b6b6ba3, BAD_FREE_POISON, "the poison of freed slab objects" },
	{ 0x00007f0000001000, BAD_USER, "an address of user space" },
	{ 0x0000800000000000, BAD_NON_CANONICAL, "non-canonical: no address at all" },
	{ 0xff11000000000000, BAD_NON_CANONICAL, "non-canonical: no address at all" },
	{ 0xffff888000000000, BAD_NOTHING, "" },
	{ 0xffffffff81000000, BAD_NOTHING, "" },
	{ 0xffffc90000560000 - 8, BAD_GUARD, "the guard page below the task's stack" },
	{ 0xffffc90000560000 - 4096, BAD_GUARD, "the guard page below the task's stack" },
	{ 0xffffc90000560000 - 4097, BAD_NOTHING, "" },
	{ 0xffffc90000560000, BAD_NOTHING, "" },
};

static void test_kinds(void)
{
	const struct target target = { 0 };
	const struct task task = { .stack = 0xffffc90000560000 };
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct bad_address bad;
		bad_address_find(&target, &task, cases[i].address, &bad);
		CHECK_U64(bad.kind, cases[i].kind);
		CHECK_STRING(bad.text, cases[i].text);
	}
}

/* With five levels of page tables more of user space and of the kernel's half are addresses. */
static void test_five_levels(void)
{
	static const char text[] = "OSRELEASE=6.12\nNUMBER(pgtable_l5_enabled)=1\n";
	struct vmcoreinfo *info;
	struct bad_address bad;
	CHECK_OK(vmcoreinfo_parse(text, sizeof(text) - 1, &info));
	const struct target target = { .vmcoreinfo = info };
	bad_address_find(&target, NULL, 0x0000800000000000, &bad);
	CHECK_U64(bad.kind, BAD_USER);
	bad_address_find(&target, NULL, 0xff11000000000000, &bad);
	CHECK_U64(bad.kind, BAD_NOTHING);
	bad_address_find(&target, NULL, 0x0100000000000000, &bad);
	CHECK_U64(bad.kind, BAD_NON_CANONICAL);
	vmcoreinfo_free(info);
}

/* Where the task has nothing, a value of user space's half was meant as no address of it. */
static void test_look_up(void)
{
	static const struct {
		uint64_t address;
		enum bad_kind kind;
		const char *text;
	} values[] = {
		{ 0x6c706d6178652e32, BAD_NON_CANONICAL, "no address but text: \"2.exampl\"" },
		{ 0x0000007478742e61, BAD_USER, "an address of user space" },
		{ 0x6c706d6178652e07, BAD_NON_CANONICAL, "non-canonical: no address at all" },
		{ 0x6c706d0078652e32, BAD_NON_CANONICAL, "non-canonical: no address at all" },
		{ 8, BAD_NULL, "NULL + 0x8" },
	};
	struct memory_array memory;
	memory_array_init(&memory, 0, NULL, 0);
	struct target target = { .memory = &memory.memory };
	for (size_t i = 0; i < ARRAY_COUNT(values); i++) {
		struct bad_address bad;
		CHECK_OK(bad_address_look_up(&target, NULL, values[i].address, &bad));
		CHECK_U64(bad.kind, values[i].kind);
		CHECK_STRING(bad.text, values[i].text);
	}
}

int main(void)
{
	RUN(test_kinds);
	RUN(test_five_levels);
	RUN(test_look_up);
	return test_finish();
}
