// SPDX-License-Identifier: GPL-3.0-or-later
/* Perf events that tasks opened. */
#include "debugger/tables/walks.h"

#include "base/array.h"

enum {
	COLUMN_PID,
	COLUMN_COMM,
	COLUMN_EVENT,
	COLUMN_PMU,
	COLUMN_TYPE,
	COLUMN_CONFIG,
	COLUMN_CPU,
	COLUMN_STATE,
	COLUMN_COUNT,
	COLUMN_TARGET,
	COLUMN_TARGET_PID,
	COLUMN_TASK
};

static const struct table_column columns[] = {
	[COLUMN_PID] = { "pid", COLUMN_INTEGER, 7, "of the thread that opened it", NULL },
	[COLUMN_COMM] = { "comm", COLUMN_TEXT, -15, "its name", NULL },
	[COLUMN_EVENT] = { "event", COLUMN_ADDRESS, 16, "its struct perf_event",
			   "struct perf_event" },
	[COLUMN_PMU] = { "pmu", COLUMN_TEXT, -12, "what counts it", NULL },
	[COLUMN_TYPE] = { "type", COLUMN_INTEGER, 4, "of its perf_event_attr", NULL },
	[COLUMN_CONFIG] = { "config", COLUMN_WIDE, 6, "which event of that type", NULL },
	[COLUMN_CPU] = { "cpu", COLUMN_INTEGER, 3, "the CPU that it is of; -1: any", NULL },
	[COLUMN_STATE] = { "state", COLUMN_TEXT, -8, "active, inactive, off, error, exit, dead",
			   NULL },
	[COLUMN_COUNT] = { "count", COLUMN_WIDE, 12, "as it was last read", NULL },
	[COLUMN_TARGET] = { "target", COLUMN_ADDRESS, 0, "the task that it counts; NULL: a CPU's",
			    "struct task_struct" },
	[COLUMN_TARGET_PID] = { "target_pid", COLUMN_INTEGER, 10, "the same task's", NULL },
	[COLUMN_TASK] = { "task", COLUMN_ADDRESS, 0, "who opened it", "struct task_struct" },
};

static struct error *set_pmu(struct table_scan *scan, const struct object *event)
{
	struct object pmu;
	TRY(object_follow(event, "pmu", &pmu));
	return pmu.address ? table_set_pointed(scan, COLUMN_PMU, &pmu, "name") : NULL;
}

/* enum perf_event_state, from -4 on; those between came with 6.16. */
static struct error *set_state(struct table_scan *scan, const struct object *event)
{
	static const char *const names[] = { "off", "inactive", "active" };
	uint64_t number;
	TRY(object_u64(event, "state", &number));
	int32_t state = (int32_t)number;
	if (state >= -1 && state <= 1)
		table_set_text(scan, COLUMN_STATE, names[state + 1]);
	else
		table_set_enumerator(scan, COLUMN_STATE, "enum perf_event_state",
				     "PERF_EVENT_STATE_", (uint64_t)(int64_t)state);
	return NULL;
}

static struct error *set_target(struct table_scan *scan, const struct object *event)
{
	struct object context, task;
	TRY(object_follow(event, "ctx", &context));
	if (!context.address)
		return NULL;
	TRY(object_follow(&context, "task", &task));
	/* -1: the task has ended. */
	if (!task.address || task.address == UINT64_MAX)
		return NULL;
	table_set(scan, COLUMN_TARGET, task.address);
	return table_set_member(scan, COLUMN_TARGET_PID, &task, "pid");
}

static struct error *visit_event(struct table_scan *scan, const struct object *event, void *context)
{
	const struct task *task = context;
	table_set(scan, COLUMN_PID, (uint64_t)task->pid);
	table_set_text(scan, COLUMN_COMM, task->comm);
	table_set(scan, COLUMN_TASK, task->address);
	table_set(scan, COLUMN_EVENT, event->address);
	TRY(table_set_error(scan, COLUMN_PMU, set_pmu(scan, event)));
	TRY(table_set_member(scan, COLUMN_TYPE, event, "attr.type"));
	TRY(table_set_member(scan, COLUMN_CONFIG, event, "attr.config"));
	TRY(table_set_member(scan, COLUMN_CPU, event, "cpu"));
	TRY(table_set_error(scan, COLUMN_STATE, set_state(scan, event)));
	TRY(table_set_member(scan, COLUMN_COUNT, event, "count.a.a.counter"));
	TRY(table_set_error(scan, COLUMN_TARGET, set_target(scan, event)));
	return table_emit(scan);
}

static struct error *visit_task(struct table_scan *scan, const struct task *task)
{
	const struct table_walk walk = { CONTAINER_LIST, "struct perf_event", "owner_entry",
					 visit_event, (void *)task };
	struct object object, head;
	TRY(object_at(scan->target, "struct task_struct", task->address, &object));
	/* A kernel without perf. */
	if (!object_has(&object, "perf_event_list"))
		return NULL;
	TRY(object_member(&object, "perf_event_list", &head));
	/* An idle task's was never set up. */
	return task->is_idle ? NULL : table_walk(scan, head.address, &walk);
}

static const char *const examples[] = { "perfevents -a", NULL };

const struct table table_perfevents = {
	.name = "perfevents",
	.summary = "perf events that tasks opened",
	.description =
		"A row is a struct perf_event that a task opened with perf_event_open(2), and "
		"that is not closed. The kernel's own have no owner and are not here.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit_task = visit_task,
	.item = COLUMN_EVENT,
};
