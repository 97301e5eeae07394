// SPDX-License-Identifier: GPL-3.0-or-later
/* Lines of the kernel's check of lists, as 6.1 and 6.12 print them. */
#include "tests/unit/test.h"

#include "debugger/analysis/list_report.h"

static void check(const char *line, enum list_fault fault, uint64_t entry, uint64_t found)
{
	struct list_report report;
	CHECK(list_report_parse(line, &report));
	CHECK_U64(report.fault, fault);
	CHECK_U64(report.entry, entry);
	CHECK_U64(report.found, found);
}

static void test_reports(void)
{
	check("list_add corruption. prev->next should be next (ffff8b32c1ad6478), but was "
	      "0000000000000000. (prev=ffff8b32d37eb5c0).",
	      LIST_BROKEN, 0xffff8b32d37eb5c0u, 0);
	check("list_add corruption. next->prev should be prev (ffff8b32c1ad6478), but was "
	      "2f4c4542414c2d51. (next=ffff8b32d37eb5c0).",
	      LIST_BROKEN, 0xffff8b32d37eb5c0u, 0x2f4c4542414c2d51u);
	check("list_del corruption. prev->next should be ffff8b32c1ad6478, but was "
	      "ffff8b32c1ad6400. (prev=ffff8b32d37eb5c0)",
	      LIST_BROKEN, 0xffff8b32d37eb5c0u, 0xffff8b32c1ad6400u);
	check("list_del corruption, ffff8e58421b9b18->next is LIST_POISON1 (dead000000000100)",
	      LIST_DELETED, 0xffff8e58421b9b18u, 0);
	check("list_del corruption, ffff8e58421b9b18->prev is LIST_POISON2 (dead000000000122)",
	      LIST_DELETED, 0xffff8e58421b9b18u, 0);
	check("list_add double add: new=ffff8e58421b9b18, prev=ffff8e58421b9b18, "
	      "next=ffff8e58421b9b20.",
	      LIST_ADDED, 0xffff8e58421b9b18u, 0);
}

/* What a new entry was to be put next to; where one is taken off it is that one itself. */
static void test_neighbours(void)
{
	struct list_report report;
	CHECK(list_report_parse("list_add corruption. next->prev should be prev "
				"(ffff8b32c1ad6478), but was 0. (next=ffff8b32d37eb5c0).",
				&report));
	CHECK_U64(report.neighbour, 0xffff8b32c1ad6478u);
	CHECK(list_report_parse("list_add corruption. prev->next should be next "
				"(ffff8b32c1ad6480), but was 0. (prev=ffff8b32d37eb5c0).",
				&report));
	CHECK_U64(report.neighbour, 0xffff8b32c1ad6480u);
	CHECK(list_report_parse("list_del corruption. prev->next should be ffff8b32c1ad6478, but "
				"was ffff8b32c1ad6400. (prev=ffff8b32d37eb5c0)",
				&report));
	CHECK_U64(report.neighbour, 0);
}

/* A line that somebody else wrote says nothing. */
static void test_others(void)
{
	struct list_report report;
	CHECK(!list_report_parse("", &report));
	CHECK(!list_report_parse("lab0: but was 12. (prev=ffff8b32d37eb5c0)", &report));
	check("list_add corruption. (prev=", LIST_UNKNOWN, 0, 0);
	check("list_del corruption, ->next is LIST_POISON1", LIST_UNKNOWN, 0, 0);
	check("list_add corruption. but was zz. (prev=ffff8b32d37eb5c0)", LIST_UNKNOWN, 0, 0);
}

int main(void)
{
	RUN(test_reports);
	RUN(test_neighbours);
	RUN(test_others);
	return test_finish();
}
