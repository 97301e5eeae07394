// SPDX-License-Identifier: GPL-3.0-or-later
/* Reports of KFENCE and KASAN, in lines as kernels have them; cut off, out of turn, one after the
 * other. */
#include "base/array.h"
#include "debugger/analysis/check_report.h"
#include "tests/unit/test.h"

static const char *const kfence[] = {
	" lab_before+0x1/0x10 [faults]",
	"BUG: KFENCE: use-after-free read in lab_record_first+0x5/0x10 [faults]",
	"",
	"Use-after-free read at 0x00000000ba8f225a (in kfence-#48):",
	" lab_record_first+0x5/0x10 [faults]",
	"kfence-#48: 0x00000000ba8f225a-0x000000001d8d26ee, size=64, cache=kmalloc-64",
	"allocated by task 376 on cpu 0 at 31.5s:",
	" kmalloc_trace+0x1/0x10",
	" lab_fault_kfence+0x2e/0x90 [faults]",
	" lab_other+0x2e/0x90 [faults]",
	"freed by task 376 on cpu 0 at 31.5s (0.0s ago):",
	" ? lab_guess+0x3f/0x90 [faults]",
	" lab_finish+0x3f/0x90 [faults]",
	" lab_other+0x2e/0x90 [faults]",
};

static const char *const kasan[] = {
	"BUG: KASAN: slab-use-after-free in lab_read+0x5/0x10 [faults]",
	"Allocated by task 12:",
	" kasan_save_stack+0x1/0x10",
	" lab_open+0x2e/0x90 [faults]",
	"Freed by task 13:",
	" kfree+0x1/0x10",
	" lab_close+0x3f/0x90 [faults]",
	"The buggy address belongs to the object at ffff888000000000",
	" which belongs to the cache kmalloc-96 of size 96",
};

static void read_lines(struct check_report *report, const char *const *lines, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check_report_line(report, lines[i]);
}

static void test_reports(void)
{
	struct check_report report = { .words = "BUG: KFENCE: " };
	read_lines(&report, kfence, ARRAY_COUNT(kfence));
	CHECK_STRING(report.line, "use-after-free read in lab_record_first+0x5/0x10 [faults]");
	CHECK_STRING(report.object, kfence[5]);
	CHECK_STRING(report.allocated, "lab_fault_kfence [faults]");
	CHECK_STRING(report.freed, "lab_finish [faults]");
	/* Another one takes its place, whole. */
	check_report_line(&report, kfence[1]);
	CHECK_STRING(report.freed, "");
	report = (struct check_report){ .words = "BUG: KASAN: " };
	read_lines(&report, kasan, ARRAY_COUNT(kasan));
	CHECK_STRING(report.line, "slab-use-after-free in lab_read+0x5/0x10 [faults]");
	CHECK_STRING(report.object, " which belongs to the cache kmalloc-96 of size 96");
	CHECK_STRING(report.allocated, "lab_open [faults]");
	CHECK_STRING(report.freed, "lab_close [faults]");
}

static void test_panics(void)
{
	CHECK_STRING(
		checker_of_panic("Kernel panic - not syncing: KFENCE: panic_on_warn set ...")->name,
		"KFENCE");
	CHECK_STRING(
		checker_of_panic("Kernel panic - not syncing: UBSAN: panic_on_warn set ...")->line,
		"UBSAN: ");
	CHECK(!checker_of_panic("Kernel panic - not syncing: kernel: panic_on_warn set ..."));
	CHECK(!checker_of_panic("KFENCE: panic_on_warn set"));
	CHECK(!checker_of_panic(""));
}

static void test_damaged(void)
{
	char line[2 * CHECK_REPORT_LINE];
	for (size_t i = 0; i < ARRAY_COUNT(kfence); i++)
		for (size_t k = 0; k <= strlen(kfence[i]); k++) {
			struct check_report report = { .words = "BUG: KFENCE: " };
			for (size_t m = 0; m < ARRAY_COUNT(kfence); m++) {
				snprintf(line, sizeof(line), "%s", kfence[m]);
				if (m == i)
					line[k] = k % 2 ? 0 : '\n';
				check_report_line(&report, line);
			}
			CHECK(strlen(report.freed) < CHECK_REPORT_LINE);
		}
	/* Longer than there is room for; and parts of no report. */
	struct check_report report = { .words = "BUG: KFENCE: " };
	read_lines(&report, kfence + 2, ARRAY_COUNT(kfence) - 2);
	CHECK_STRING(report.freed, "");
	CHECK_STRING(report.object, "");
	snprintf(line, sizeof(line), "BUG: KFENCE: %400s", "x");
	check_report_line(&report, line);
	CHECK_U64(strlen(report.line), CHECK_REPORT_LINE - 1);
}

int main(void)
{
	RUN(test_reports);
	RUN(test_panics);
	RUN(test_damaged);
	return test_finish();
}
