// SPDX-License-Identifier: GPL-3.0-or-later
/* Run queues of the CPUs. */
#include "debugger/tables/walks.h"

#include "base/array.h"

enum {
	COLUMN_RQ,
	COLUMN_CPU,
	COLUMN_ONLINE,
	COLUMN_RUNNING,
	COLUMN_FAIR,
	COLUMN_REALTIME,
	COLUMN_DEADLINE,
	COLUMN_UNINTERRUPTIBLE,
	COLUMN_SWITCHES,
	COLUMN_CLOCK,
	COLUMN_CURRENT,
	COLUMN_PID,
	COLUMN_COMM,
};

static const struct table_column columns[] = {
	[COLUMN_RQ] = { "rq", COLUMN_ADDRESS, 16, "its struct rq", "struct rq" },
	[COLUMN_CPU] = { "cpu", COLUMN_INTEGER, 4, "whose it is", NULL },
	[COLUMN_ONLINE] = { "online", COLUMN_INTEGER, 0, "1: the scheduler uses it", NULL },
	[COLUMN_RUNNING] = { "nr_running", COLUMN_INTEGER, 10, "tasks that run or want to", NULL },
	[COLUMN_FAIR] = { "cfs", COLUMN_INTEGER, 4, "of these, fair ones", NULL },
	[COLUMN_REALTIME] = { "rt", COLUMN_INTEGER, 3, "real-time ones", NULL },
	[COLUMN_DEADLINE] = { "dl", COLUMN_INTEGER, 3, "with a deadline", NULL },
	[COLUMN_UNINTERRUPTIBLE] = { "nr_uninterruptible", COLUMN_INTEGER, 0,
				     "only the sum over all CPUs means something", NULL },
	[COLUMN_SWITCHES] = { "nr_switches", COLUMN_WIDE, 11, "of tasks, since the start", NULL },
	[COLUMN_CLOCK] = { "clock", COLUMN_DURATION, 12, "its time, when it last looked", NULL },
	[COLUMN_CURRENT] = { "curr", COLUMN_ADDRESS, 16, "the task that runs",
			     "struct task_struct" },
	[COLUMN_PID] = { "pid", COLUMN_INTEGER, 6, "that task's", NULL },
	[COLUMN_COMM] = { "comm", COLUMN_TEXT, -15, "its name", NULL },
};

/* One that slept here may wake elsewhere: then it is below 0, whatever its type says. */
static struct error *set_uninterruptible(struct table_scan *scan, const struct object *rq)
{
	uint64_t count;
	TRY(object_u64(rq, "nr_uninterruptible", &count));
	table_set(scan, COLUMN_UNINTERRUPTIBLE, (uint64_t)(int64_t)(int32_t)count);
	return NULL;
}

static struct error *visit_cpu(struct table_scan *scan, const struct cpu *cpu,
			       const struct object *rq, void *context)
{
	struct object task;
	(void)context;
	table_set(scan, COLUMN_RQ, rq->address);
	table_set(scan, COLUMN_CPU, cpu->number);
	TRY(table_set_member(scan, COLUMN_ONLINE, rq, "online"));
	TRY(table_set_member(scan, COLUMN_RUNNING, rq, "nr_running"));
	/* In groups, too: the name changed in 6.13 and before that in 6.12. */
	const char *const fair[] = { "cfs.h_nr_queued", "cfs.h_nr_running" };
	for (size_t i = 0; i < ARRAY_COUNT(fair); i++)
		if (object_has(rq, fair[i])) {
			TRY(table_set_member(scan, COLUMN_FAIR, rq, fair[i]));
			break;
		}
	TRY(table_set_member(scan, COLUMN_REALTIME, rq, "rt.rt_nr_running"));
	TRY(table_set_member(scan, COLUMN_DEADLINE, rq, "dl.dl_nr_running"));
	TRY(table_set_error(scan, COLUMN_UNINTERRUPTIBLE, set_uninterruptible(scan, rq)));
	TRY(table_set_member(scan, COLUMN_SWITCHES, rq, "nr_switches"));
	TRY(table_set_member(scan, COLUMN_CLOCK, rq, "clock"));
	struct error *error = object_follow(rq, "curr", &task);
	if (error)
		TRY(table_set_error(scan, COLUMN_CURRENT, error));
	else if (task.address) {
		table_set(scan, COLUMN_CURRENT, task.address);
		TRY(table_set_member(scan, COLUMN_PID, &task, "pid"));
		TRY(table_set_chars(scan, COLUMN_COMM, &task, "comm"));
	}
	return table_emit(scan);
}

static struct error *visit(struct table_scan *scan)
{
	return table_each_cpu(scan, "runqueues", "struct rq", visit_cpu, NULL);
}

static const char *const examples[] = { "runqueues", "runqueues --sort -nr_running -n 5",
					"runqueues | print {avg_idle, next_balance}", NULL };

const struct table table_runqueues = {
	.name = "runqueues",
	.summary = "run queues of the CPUs",
	.description = "A row is the struct rq of a possible CPU.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_RQ,
	.is_object = true,
};
