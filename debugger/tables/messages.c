// SPDX-License-Identifier: GPL-3.0-or-later
/* Records of the kernel's log. */
#include "debugger/kernel/printk.h"

#include "base/array.h"
#include "debugger/tables/walks.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	COLUMN_SEQ,
	COLUMN_TIME,
	COLUMN_LEVEL,
	COLUMN_FACILITY,
	COLUMN_CALLER,
	COLUMN_PID,
	COLUMN_CPU,
	COLUMN_TEXT_ITSELF
};

static const struct table_column columns[] = {
	[COLUMN_SEQ] = { "seq", COLUMN_WIDE, 6, "its number, from 0 at the start", NULL },
	[COLUMN_TIME] = { "time", COLUMN_DURATION, 12, "since the machine was started", NULL },
	[COLUMN_LEVEL] = { "level", COLUMN_INTEGER, 5, "0 emergency ... 3 error ... 7 debug",
			   NULL },
	[COLUMN_FACILITY] = { "facility", COLUMN_INTEGER, 0, "as syslog(3): 0 is the kernel",
			      NULL },
	[COLUMN_CALLER] = { "caller", COLUMN_TEXT, -8,
			    "who wrote it: T and a task's pid, or C and a CPU", NULL },
	[COLUMN_PID] = { "pid", COLUMN_INTEGER, 0, "the task's, where one wrote it", NULL },
	[COLUMN_CPU] = { "cpu", COLUMN_INTEGER, 0, "the CPU's, where it was no task", NULL },
	[COLUMN_TEXT_ITSELF] = { "text", COLUMN_TEXT, -40, "may have several lines", NULL },
};

/* Its NULs, which a text has none of, end it. */
static struct error *set_text(struct table_scan *scan, const struct printk_record *record)
{
	char *text = strndup(record->text, record->size);
	if (!text)
		return error_no_memory();
	table_set_text(scan, COLUMN_TEXT_ITSELF, text);
	free(text);
	return NULL;
}

static struct error *visit_record(void *context, const struct printk_record *record)
{
	struct table_scan *scan = context;
	bool is_cpu = record->caller & PRINTK_CALLER_CPU;
	uint32_t number = record->caller & ~PRINTK_CALLER_CPU;
	char caller[16];
	snprintf(caller, sizeof(caller), "%c%" PRIu32, is_cpu ? 'C' : 'T', number);
	table_set(scan, COLUMN_SEQ, record->seq);
	table_set(scan, COLUMN_TIME, record->time);
	if (record->level != PRINTK_UNKNOWN) {
		table_set(scan, COLUMN_LEVEL, record->level);
		table_set(scan, COLUMN_FACILITY, record->facility);
	}
	table_set_text(scan, COLUMN_CALLER, caller);
	table_set(scan, is_cpu ? COLUMN_CPU : COLUMN_PID, number);
	TRY(set_text(scan, record));
	return table_emit(scan);
}

static struct error *visit(struct table_scan *scan)
{
	uint64_t lost = 0;
	TRY(printk_for_each(scan->target, visit_record, scan, &lost));
	return lost ? table_broken(scan, error_create(ERROR_FORMAT,
						      "%" PRIu64 " records cannot be read", lost))
		    : NULL;
}

static const char *const examples[] = {
	"messages --where 'level <= 3'",
	"sql SELECT caller, count(*) AS lines FROM messages GROUP BY "
	"caller ORDER BY lines DESC LIMIT 5",
	NULL
};

const struct table table_messages = {
	.name = "messages",
	.summary = "records of the kernel's log",
	.description = "A row is a record of the kernel's log, oldest first; log shows them as the "
		       "console does.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_SEQ,
};
