// SPDX-License-Identifier: GPL-3.0-or-later
/* What tasks wait for, and who has it. */
#include "debugger/analysis/waits.h"

#include "base/array.h"
#include "debugger/tables/table.h"

enum {
	COLUMN_TASK,
	COLUMN_PID,
	COLUMN_COMM,
	COLUMN_STATE,
	COLUMN_KIND,
	COLUMN_MODE,
	COLUMN_TYPE,
	COLUMN_OBJECT,
	COLUMN_WITHIN_TYPE,
	COLUMN_WITHIN,
	COLUMN_SURE,
	COLUMN_HOW,
	COLUMN_OWNER,
	COLUMN_OWNER_HOW,
	COLUMN_GRANTED,
	COLUMN_AGE,
	COLUMN_CALLER,
	COLUMN_FUNCTION
};

static const struct table_column columns[] = {
	[COLUMN_TASK] = { "task", COLUMN_ADDRESS, 0, "who waits", "struct task_struct" },
	[COLUMN_PID] = { "pid", COLUMN_INTEGER, 7, "its number", NULL },
	[COLUMN_COMM] = { "comm", COLUMN_TEXT, -15, "its name", NULL },
	[COLUMN_STATE] = { "state", COLUMN_TEXT, -2, "S, D, ...", NULL },
	[COLUMN_KIND] = { "kind", COLUMN_TEXT, -12,
			  "mutex, semaphore, pipe, ...; sleep: nothing is known to wait for",
			  NULL },
	[COLUMN_MODE] = { "mode", COLUMN_TEXT, 0, "read, write, shared", NULL },
	[COLUMN_TYPE] = { "type", COLUMN_TEXT, 0, "of the object", NULL },
	[COLUMN_OBJECT] = { "object", COLUMN_ADDRESS, 16, "what it waits for", NULL },
	[COLUMN_WITHIN_TYPE] = { "within_type", COLUMN_TEXT, 0, "what the object is part of",
				 NULL },
	[COLUMN_WITHIN] = { "within", COLUMN_ADDRESS, 0, "where that is", NULL },
	[COLUMN_SURE] = { "sure", COLUMN_TEXT, 0, "of the object: certain, inferred, guess", NULL },
	[COLUMN_HOW] = { "how", COLUMN_TEXT, 0, "what says which object it is", NULL },
	[COLUMN_OWNER] = { "owner", COLUMN_ADDRESS, 16, "who has it", "struct task_struct" },
	[COLUMN_OWNER_HOW] = { "owner_how", COLUMN_TEXT, 0, "what says so, or why nobody is known",
			       NULL },
	[COLUMN_GRANTED] = { "granted", COLUMN_INTEGER, 0, "1: it need not wait any more", NULL },
	[COLUMN_AGE] = { "age", COLUMN_DURATION, 12, "since it last ran", NULL },
	[COLUMN_CALLER] = { "caller", COLUMN_TEXT, -20, "the function that wanted it", NULL },
	[COLUMN_FUNCTION] = { "function", COLUMN_TEXT, -20, "that it sleeps in", NULL },
};

static void set_text(struct table_scan *scan, unsigned int column, const char *text)
{
	if (text && *text)
		table_set_text(scan, column, text);
}

static struct error *visit_wait(struct table_scan *scan, const struct wait *wait)
{
	const char state[] = { wait->task.state_letter, 0 };
	table_set(scan, COLUMN_TASK, wait->task.address);
	table_set(scan, COLUMN_PID, (uint64_t)wait->task.pid);
	table_set_text(scan, COLUMN_COMM, wait->task.comm);
	table_set_text(scan, COLUMN_STATE, state);
	set_text(scan, COLUMN_KIND, wait->kind);
	set_text(scan, COLUMN_MODE, wait->mode);
	set_text(scan, COLUMN_TYPE, wait->type);
	set_text(scan, COLUMN_WITHIN_TYPE, wait->within_type);
	set_text(scan, COLUMN_HOW, wait->how);
	set_text(scan, COLUMN_OWNER_HOW, wait->owner_how);
	set_text(scan, COLUMN_CALLER, wait->caller);
	set_text(scan, COLUMN_FUNCTION, wait->function);
	if (wait->object) {
		table_set(scan, COLUMN_OBJECT, wait->object);
		table_set_text(scan, COLUMN_SURE, confidence_name(wait->sure));
	}
	if (wait->within)
		table_set(scan, COLUMN_WITHIN, wait->within);
	if (wait->owner)
		table_set(scan, COLUMN_OWNER, wait->owner);
	table_set(scan, COLUMN_GRANTED, wait->is_granted);
	if (wait->has_age)
		table_set(scan, COLUMN_AGE, wait->age);
	return table_emit(scan);
}

static struct error *visit(struct table_scan *scan)
{
	struct waits waits;
	TRY(waits_find(scan->target, &waits));
	struct error *error = NULL;
	for (size_t i = 0; i < waits.count && !error; i++)
		error = visit_wait(scan, &waits.items[i]);
	if (!error) {
		error = table_broken(scan, waits.problem);
		waits.problem = NULL;
	}
	waits_deinit(&waits);
	return error;
}

static const char *const examples[] = { "waits --sort -age -n 5",
					"sql SELECT object, kind, count(*) AS n FROM waits WHERE "
					"object > 0 GROUP BY object ORDER BY n DESC",
					NULL };

const struct table table_waits = {
	.name = "waits",
	.summary = "what tasks wait for, and who has it",
	.description =
		"A row is a task that sleeps uninterruptibly, or one that sleeps otherwise and "
		"whose object is known. `locks` shows the same as chains, and says who holds "
		"up whom.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_TASK,
};
