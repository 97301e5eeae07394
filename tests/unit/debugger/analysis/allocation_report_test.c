// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What the log says of pages that could not be had, and why: lines as kernels have them, with
 * numbers of our own, and lines that are cut off, out of turn or full of numbers that are none.
 */
#include "base/array.h"
#include "debugger/analysis/allocation_report.h"
#include "debugger/analysis/log_frame.h"
#include "tests/unit/test.h"

#define LINE 256

static const char *const atomic[] = {
	"collect: page allocation failure: order:0, mode:0x820(GFP_ATOMIC), "
	"nodemask=(null),cpuset=/,mems_allowed=0",
	"CPU: 0 UID: 0 PID: 311 Comm: collect Tainted: G           OE      "
	"6.12.117+deb12-cloud-amd64 #1",
	"Call Trace:",
	" <TASK>",
	" dump_stack_lvl+0x45/0x5e",
	" warn_alloc+0x134/0x160",
	" ? some_guess+0x1/0x2",
	" __alloc_pages_slowpath.constprop.0+0xc9e/0xd60",
	" lab_fill+0x2e/0x80 [faults]",
	" lab_fault_watermark+0x1/0x80 [faults]",
	" </TASK>",
	"Mem-Info:",
	"Node 0 active_anon:0kB inactive_anon:0kB",
	"Node 0 DMA free:700kB boost:0kB min:100kB low:120kB high:140kB reserved_highatomic:0KB",
	"lowmem_reserve[]: 0 158 158 158",
	"Node 0 DMA32 free:300kB boost:0kB min:1200kB low:1500kB high:1800kB",
	"lowmem_reserve[]: 0 0 0 0",
	"Node 0 DMA: 5*4kB (U) 0*8kB 10*16kB (UM) = 700kB",
	"Node 0 DMA32: 3*4kB (U) 0*8kB 0*16kB = 300kB",
	"Node 0 hugepages_total=0 hugepages_free=0 hugepages_surp=0 hugepages_size=2048kB",
	"1234 total pagecache pages",
	"Node 0 Normal free:9kB boost:0kB min:0kB low:0kB high:0kB",
};

static const char *const pieces[] = {
	("x: y: page allocation failure: order:10, mode:0xcc0(GFP_KERNEL), "
	 "nodemask=(null),cpuset=/,mems_allowed=0"),
	"Node 0 DMA32 free:90000kB boost:0kB min:1200kB low:1500kB high:1800kB",
	"lowmem_reserve[]: 0 0 0 0",
	"Node 0 DMA32: 3*4kB (U) 0*8kB 900*64kB (U) 0*4096kB = 90000kB",
	"12 total pagecache pages",
};

static const char *const nodes[] = {
	("collect: page allocation failure: order:0, mode:0x12cc0(GFP_USER|__GFP_NORETRY), "
	 "nodemask=(null),cpuset=near,mems_allowed=1"),
	"Node 0 DMA32 free:90000kB boost:0kB min:1200kB low:1500kB high:1800kB",
	"lowmem_reserve[]: 0 0 0 0",
	"Node 1 DMA32 free:400kB boost:0kB min:400kB low:500kB high:600kB",
	"lowmem_reserve[]: 0 0 0 0",
};

static struct allocation_report read_lines(const char *const *lines, size_t count)
{
	struct allocation_report report = { .phase = ALLOCATION_NONE };
	for (size_t i = 0; i < count; i++)
		allocation_report_line(&report, lines[i]);
	return report;
}

static void test_watermark(void)
{
	struct allocation_report report = read_lines(atomic, ARRAY_COUNT(atomic));
	const struct allocation_zone *zone;
	CHECK_STRING(report.comm, "collect");
	CHECK_STRING(report.mode, "GFP_ATOMIC");
	CHECK_STRING(report.caller, "lab_fill [faults]");
	CHECK_STRING(report.cpuset, "/");
	CHECK_STRING(report.nodes, "0");
	CHECK_U64(report.pid, 311);
	CHECK(!allocation_may_wait(&report));
	/* What stands behind the end of a report is of none. */
	CHECK_U64(report.count, 2);
	CHECK_U64(report.zones[0].reserve, 632);
	CHECK_U64(report.zones[0].largest, 16);
	CHECK_U64(report.zones[1].largest, 4);
	CHECK_U64(allocation_report_reason(&report, &zone), ALLOCATION_WATERMARK);
	CHECK(zone == &report.zones[1]);
	/* A device that reaches no more than that zone. */
	strcpy(report.mode, "GFP_KERNEL|GFP_DMA");
	CHECK(allocation_may_wait(&report));
	CHECK_U64(allocation_report_reason(&report, &zone), ALLOCATION_WATERMARK);
	CHECK(zone == &report.zones[0]);
}

static void test_pieces(void)
{
	struct allocation_report report = read_lines(pieces, ARRAY_COUNT(pieces));
	const struct allocation_zone *zone;
	CHECK_STRING(report.comm, "x: y");
	CHECK_U64(report.zones[0].largest, 64);
	CHECK_U64(allocation_report_reason(&report, &zone), ALLOCATION_FRAGMENTED);
	report.zones[0].largest = 4096;
	CHECK_U64(allocation_report_reason(&report, &zone), ALLOCATION_UNKNOWN);
	/* Nothing to compare with. */
	report.zones[0].largest = 0;
	CHECK_U64(allocation_report_reason(&report, &zone), ALLOCATION_UNKNOWN);
	report.count = 0;
	CHECK_U64(allocation_report_reason(&report, &zone), ALLOCATION_UNKNOWN);
	CHECK(!zone);
}

static void test_nodes(void)
{
	struct allocation_report report = read_lines(nodes, ARRAY_COUNT(nodes));
	const struct allocation_zone *zone;
	CHECK_STRING(report.cpuset, "near");
	CHECK_U64(allocation_report_reason(&report, &zone), ALLOCATION_CPUSET);
	CHECK(zone == &report.zones[0]);
	/* All are used up: it is not the cpuset. */
	report.zones[0].free = 1000;
	CHECK_U64(allocation_report_reason(&report, &zone), ALLOCATION_WATERMARK);
	CHECK(zone == &report.zones[1]);
	CHECK(allocation_has_node("0-1,3", 1));
	CHECK(!allocation_has_node("0-1,3", 2));
	CHECK(allocation_has_node("0-1,3", 3));
	CHECK(!allocation_has_node("", 0));
	CHECK(allocation_has_node("3-", 9));
	CHECK(allocation_has_node("x", 9));
	CHECK(allocation_has_node("1 2", 9));
}

/* Each line cut off at each byte, and each byte of it another one. */
static void test_damaged(void)
{
	const struct allocation_zone *zone;
	char line[LINE];
	for (size_t i = 0; i < ARRAY_COUNT(atomic); i++)
		for (size_t k = 0; k < strlen(atomic[i]); k++) {
			struct allocation_report report = { .phase = ALLOCATION_NONE };
			for (size_t m = 0; m < ARRAY_COUNT(atomic); m++) {
				snprintf(line, sizeof(line), "%s", atomic[m]);
				if (m == i)
					line[k] = (char)(k % 3 ? line[k] ^ 0x15 : 0);
				allocation_report_line(&report, line);
			}
			CHECK(report.count <= 3);
			allocation_report_reason(&report, &zone);
			CHECK(!zone ||
			      (zone >= report.zones && zone < report.zones + ALLOCATION_ZONES_MAX));
		}
}

static void test_wild(void)
{
	struct allocation_report report = { .phase = ALLOCATION_NONE };
	const struct allocation_zone *zone;
	char line[LINE];
	allocation_report_line(&report, "Node 0 DMA free:1kB boost:0kB min:1kB low:1kB");
	allocation_report_line(&report, "x: page allocation failure: order:64, mode:0x0");
	allocation_report_line(&report, "x: page allocation failure: order:99999999999999999999");
	CHECK_U64(report.count, 0);
	CHECK_U64(report.phase, ALLOCATION_NONE);
	allocation_report_line(&report, "x: page allocation failure: order:31, mode:0x0");
	for (unsigned int i = 0; i < 2 * ALLOCATION_ZONES_MAX; i++) {
		snprintf(line, sizeof(line),
			 "Node %u DMA free:18446744073709551615kB min:18446744073709551615kB "
			 "low:0kB",
			 i);
		allocation_report_line(&report, line);
		allocation_report_line(
			&report, "lowmem_reserve[]: 18446744073709551615 7 99999999999999999999");
	}
	allocation_report_line(&report, "Node 4294967296 DMA free:1kB min:1kB low:1kB");
	allocation_report_line(&report,
			       "Node 0 aNameThatIsTooLongForAZone free:1kB min:1kB low:1kB");
	CHECK_U64(report.count, ALLOCATION_ZONES_MAX);
	CHECK_U64(allocation_report_reason(&report, &zone), ALLOCATION_WATERMARK);
	CHECK_STRING(report.nodes, "");
	CHECK_STRING(report.mode, "0x0");
}

static void test_frames(void)
{
	char buffer[32];
	CHECK(log_frame_to_blame(" lab_fill+0x2e/0x80 [faults]", buffer, sizeof(buffer)));
	CHECK_STRING(buffer, "lab_fill [faults]");
	CHECK(log_frame_to_blame("vfs_read+0x2e/0x80", buffer, sizeof(buffer)));
	CHECK_STRING(buffer, "vfs_read");
	CHECK(!log_frame_to_blame(" ? vfs_read+0x2e/0x80", buffer, sizeof(buffer)));
	CHECK(!log_frame_to_blame(" kfree+0x2e/0x80", buffer, sizeof(buffer)));
	CHECK(!log_frame_to_blame(" RIP: 0010:vfs_read+0x2e/0x80", buffer, sizeof(buffer)));
	CHECK(!log_frame_to_blame(" <TASK>", buffer, sizeof(buffer)));
	CHECK(!log_frame_to_blame("", buffer, sizeof(buffer)));
	CHECK(!log_frame_to_blame(" +0x1", buffer, sizeof(buffer)));
	/* A module's function is to blame whatever its name; an endless one is cut off. */
	CHECK(log_frame_to_blame(" kfree+0x2e/0x80 [m", buffer, sizeof(buffer)));
	CHECK(log_frame_to_blame(" a+0x1/0x2 [an_endless_name_of_a_module_that_is_none]", buffer,
				 sizeof(buffer)));
	CHECK_U64(strlen(buffer), sizeof(buffer) - 1);
}

int main(void)
{
	RUN(test_watermark);
	RUN(test_pieces);
	RUN(test_nodes);
	RUN(test_damaged);
	RUN(test_wild);
	RUN(test_frames);
	return test_finish();
}
