// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/check_report.h"

#include "base/array.h"
#include "debugger/analysis/log_frame.h"
#include <stdio.h>
#include <string.h>

static const struct checker checkers[] = { { "KFENCE", "BUG: KFENCE: " },
					   { "KASAN", "BUG: KASAN: " },
					   { "KMSAN", "BUG: KMSAN: " },
					   { "KCSAN", "BUG: KCSAN: " },
					   { "UBSAN", "UBSAN: " } };

const struct checker *checker_of_panic(const char *panic)
{
	for (size_t i = 0; i < ARRAY_COUNT(checkers); i++) {
		char words[64];
		snprintf(words, sizeof(words), " %s: panic_on_warn set", checkers[i].name);
		if (strstr(panic, words))
			return &checkers[i];
	}
	return NULL;
}

static void look_for_frame(const char *line, char buffer[CHECK_REPORT_LINE])
{
	char text[CHECK_REPORT_LINE];
	if (!*buffer && log_frame_to_blame(line, text, sizeof(text)))
		strcpy(buffer, text);
}

void check_report_line(struct check_report *report, const char *line)
{
	const char *found = strstr(line, report->words);
	if (found) {
		*report = (struct check_report){ .words = report->words, .told = TOLD_ACCESS };
		snprintf(report->line, sizeof(report->line), "%s", found + strlen(report->words));
	} else if (report->told == TOLD_NONE) {
		return;
	} else if (strstr(line, "llocated by task ")) {
		report->told = TOLD_ALLOCATED;
	} else if (strstr(line, "reed by task ")) {
		report->told = TOLD_FREED;
	} else if (!*report->object &&
		   (strstr(line, ", cache=") || strstr(line, "belongs to the cache "))) {
		snprintf(report->object, sizeof(report->object), "%s", line);
	} else if (report->told == TOLD_ALLOCATED) {
		look_for_frame(line, report->allocated);
	} else if (report->told == TOLD_FREED) {
		look_for_frame(line, report->freed);
	}
}
