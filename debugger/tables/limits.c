// SPDX-License-Identifier: GPL-3.0-or-later
/* Limits of processes, as /proc/PID/limits has them. */
#include "debugger/tables/walks.h"

#include "base/array.h"
#include <stdio.h>

enum { COLUMN_PID, COLUMN_COMM, COLUMN_TASK, COLUMN_SOFT, COLUMN_HARD, COLUMN_RESOURCE };

static const struct table_column columns[] = {
	[COLUMN_PID] = { "pid", COLUMN_INTEGER, 7, "of the process", NULL },
	[COLUMN_COMM] = { "comm", COLUMN_TEXT, -15, "its name", NULL },
	[COLUMN_TASK] = { "task", COLUMN_ADDRESS, 0, "its struct task_struct",
			  "struct task_struct" },
	[COLUMN_SOFT] = { "soft", COLUMN_WIDE, 20, "the limit; none: there is no", NULL },
	[COLUMN_HARD] = { "hard", COLUMN_WIDE, 20, "how far it may raise that itself", NULL },
	[COLUMN_RESOURCE] = { "resource", COLUMN_TEXT, -12, "of what: RLIMIT_* of getrlimit(2)",
			      NULL },
};

/* kernel include/uapi/asm-generic/resource.h */
static const char *const resources[] = {
	"cpu",	   "fsize", "data",  "stack",	   "core",     "rss",  "nproc",	 "nofile",
	"memlock", "as",    "locks", "sigpending", "msgqueue", "nice", "rtprio", "rttime",
};
#define NO_LIMIT UINT64_MAX

static struct error *set_limit(struct table_scan *scan, unsigned int column,
			       const struct object *signal, const char *path)
{
	uint64_t limit;
	struct error *error = object_u64(signal, path, &limit);
	if (error)
		return table_set_error(scan, column, error);
	if (limit != NO_LIMIT)
		table_set(scan, column, limit);
	return NULL;
}

static struct error *visit_task(struct table_scan *scan, const struct task *task)
{
	struct object object, signal;
	TRY(object_at(scan->target, "struct task_struct", task->address, &object));
	TRY(object_follow(&object, "signal", &signal));
	for (unsigned int i = 0; signal.address && i < ARRAY_COUNT(resources); i++) {
		char soft[32], hard[32];
		snprintf(soft, sizeof(soft), "rlim[%u].rlim_cur", i);
		snprintf(hard, sizeof(hard), "rlim[%u].rlim_max", i);
		table_set(scan, COLUMN_PID, (uint64_t)task->pid);
		table_set_text(scan, COLUMN_COMM, task->comm);
		table_set(scan, COLUMN_TASK, task->address);
		table_set_text(scan, COLUMN_RESOURCE, resources[i]);
		TRY(set_limit(scan, COLUMN_SOFT, &signal, soft));
		TRY(set_limit(scan, COLUMN_HARD, &signal, hard));
		TRY(table_emit(scan));
	}
	return NULL;
}

static const char *const examples[] = { "limits 1", "limits -a --where \"resource = 'nofile'\"",
					NULL };

const struct table table_limits = {
	.name = "limits",
	.summary = "resource limits of processes",
	.description = "A row is one of the limits of a process (struct signal_struct.rlim), which "
		       "all its threads share.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit_task = visit_task,
	.shared = "signal",
	.item = COLUMN_TASK,
};
