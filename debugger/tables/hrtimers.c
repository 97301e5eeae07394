// SPDX-License-Identifier: GPL-3.0-or-later
/* Timers of high resolution, as /proc/timer_list has them. */
#include "debugger/tables/walks.h"

#include "base/array.h"
#include <stdio.h>

enum {
	COLUMN_TIMER,
	COLUMN_CPU,
	COLUMN_CLOCK,
	COLUMN_SOFT,
	COLUMN_EXPIRES,
	COLUMN_TASK,
	COLUMN_PID,
	COLUMN_FUNCTION,
};

static const struct table_column columns[] = {
	[COLUMN_TIMER] = { "hrtimer", COLUMN_ADDRESS, 16, "its struct hrtimer", "struct hrtimer" },
	[COLUMN_CPU] = { "cpu", COLUMN_INTEGER, 3, "on which it waits", NULL },
	[COLUMN_CLOCK] = { "clock", COLUMN_TEXT, -14,
			   "HRTIMER_BASE_*: MONOTONIC, REALTIME, ...; SOFT: not in the interrupt",
			   NULL },
	[COLUMN_SOFT] = { "softexpires", COLUMN_WIDE, 0, "earliest, in nanoseconds of its clock",
			  NULL },
	[COLUMN_EXPIRES] = { "expires", COLUMN_WIDE, 19, "latest, in nanoseconds of its clock",
			     NULL },
	[COLUMN_TASK] = { "task", COLUMN_ADDRESS, 0, "whom it wakes, where one sleeps so",
			  "struct task_struct" },
	[COLUMN_PID] = { "pid", COLUMN_INTEGER, 6, "the same task's", NULL },
	[COLUMN_FUNCTION] = { "function", COLUMN_TEXT, -24, "what it calls", NULL },
};

/* There are 8. */
#define CLOCKS_MAX 64

struct pass {
	const struct cpu *cpu;
	unsigned int clock;
	bool has_wakeup;
	uint64_t wakeup; /* the function of those that sleep */
};

static struct error *set_task(struct table_scan *scan, const struct pass *pass,
			      const struct object *timer)
{
	struct object sleeper;
	uint64_t function;
	TRY(object_u64(timer, "function", &function));
	if (!pass->has_wakeup || function != pass->wakeup)
		return NULL;
	TRY(object_container(scan->target, "struct hrtimer_sleeper", "timer", timer->address,
			     &sleeper));
	return table_set_task(scan, COLUMN_TASK, COLUMN_PID, &sleeper, "task");
}

static struct error *visit_timer(struct table_scan *scan, const struct object *timer, void *context)
{
	const struct pass *pass = context;
	table_set(scan, COLUMN_TIMER, timer->address);
	table_set(scan, COLUMN_CPU, pass->cpu->number);
	table_set_enumerator(scan, COLUMN_CLOCK, "enum hrtimer_base_type", "HRTIMER_BASE_",
			     pass->clock);
	TRY(table_set_member(scan, COLUMN_SOFT, timer, "_softexpires"));
	TRY(table_set_member(scan, COLUMN_EXPIRES, timer, "node.expires"));
	TRY(table_set_error(scan, COLUMN_TASK, set_task(scan, pass, timer)));
	TRY(table_set_function(scan, COLUMN_FUNCTION, timer, "function"));
	return table_emit(scan);
}

static struct error *visit_cpu(struct table_scan *scan, const struct cpu *cpu,
			       const struct object *bases, void *context)
{
	struct pass *pass = context;
	const struct table_walk walk = { CONTAINER_RBTREE, "struct hrtimer", "node.node",
					 visit_timer, pass };
	pass->cpu = cpu;
	for (pass->clock = 0; pass->clock < CLOCKS_MAX; pass->clock++) {
		char path[64];
		struct object root;
		snprintf(path, sizeof(path), "clock_base[%u].active.rb_root.rb_root", pass->clock);
		/* Behind the last. */
		if (pass->clock && !object_has(bases, path))
			break;
		TRY(object_member(bases, path, &root));
		TRY(table_walk(scan, root.address, &walk));
	}
	return NULL;
}

static struct error *visit(struct table_scan *scan)
{
	struct pass pass = { 0 };
	pass.has_wakeup = table_symbol(scan, "hrtimer_wakeup", &pass.wakeup);
	return table_each_cpu(scan, "hrtimer_bases", "struct hrtimer_cpu_base", visit_cpu, &pass);
}

static const char *const examples[] = { "hrtimers",
					"hrtimers --sort expires -o cpu,expires,function",
					"hrtimers | print {is_soft, is_hard}", NULL };

const struct table table_hrtimers = {
	.name = "hrtimers",
	.summary = "timers of high resolution that wait",
	.description = "A row is a struct hrtimer that waits on a CPU, as /proc/timer_list has "
		       "them. Those that go by jiffies are timers.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_TIMER,
	.is_object = true,
};
