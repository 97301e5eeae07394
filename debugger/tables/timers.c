// SPDX-License-Identifier: GPL-3.0-or-later
/* Timers of the CPUs' wheels, which go by jiffies. */
#include "debugger/kernel/timer_wheel.h"

#include "base/array.h"
#include "debugger/tables/walks.h"

enum {
	COLUMN_TIMER,
	COLUMN_CPU,
	COLUMN_BASE,
	COLUMN_BUCKET,
	COLUMN_EXPIRES,
	COLUMN_LEFT,
	COLUMN_FLAGS,
	COLUMN_TASK,
	COLUMN_PID,
	COLUMN_WORK,
	COLUMN_FUNCTION,
};

static const struct table_column columns[] = {
	[COLUMN_TIMER] = { "timer", COLUMN_ADDRESS, 16, "its struct timer_list",
			   "struct timer_list" },
	[COLUMN_CPU] = { "cpu", COLUMN_INTEGER, 3, "in whose wheel it waits", NULL },
	[COLUMN_BASE] = { "base", COLUMN_INTEGER, 0, "the number of that wheel", NULL },
	[COLUMN_BUCKET] = { "bucket", COLUMN_INTEGER, 0, "the number of its list there", NULL },
	[COLUMN_EXPIRES] = { "expires", COLUMN_WIDE, 10, "when, in jiffies", NULL },
	[COLUMN_LEFT] = { "left", COLUMN_WIDE, 8, "jiffies until then; below 0: it is late", NULL },
	[COLUMN_FLAGS] = { "flags", COLUMN_TEXT, -19, "deferrable, pinned, irqsafe, migrating",
			   NULL },
	[COLUMN_TASK] = { "task", COLUMN_ADDRESS, 0, "whom it wakes, where it is one's time-out",
			  "struct task_struct" },
	[COLUMN_PID] = { "pid", COLUMN_INTEGER, 6, "the same task's", NULL },
	[COLUMN_WORK] = { "work", COLUMN_TEXT, -24, "function of the work that it starts", NULL },
	[COLUMN_FUNCTION] = { "function", COLUMN_TEXT, -28, "what it calls", NULL },
};

/* kernel include/linux/timer.h */
static const struct table_word flag_words[] = { { 0x40000, "migrating" },
						{ 0x80000, "deferrable" },
						{ 0x100000, "pinned" },
						{ 0x200000, "irqsafe" } };

struct pass {
	struct table_scan *scan;
	bool has_now;
	uint64_t now; /* jiffies */
	bool has_timeout, has_delayed;
	uint64_t timeout, delayed; /* functions whose timers are part of something known */
};

static struct error *set_left(const struct pass *pass, const struct object *timer)
{
	uint64_t expires;
	if (!pass->has_now)
		return NULL;
	TRY(object_u64(timer, "expires", &expires));
	table_set(pass->scan, COLUMN_LEFT, expires - pass->now);
	return NULL;
}

static struct error *set_owner(const struct pass *pass, const struct object *timer)
{
	struct table_scan *scan = pass->scan;
	struct object owner;
	uint64_t function;
	TRY(object_u64(timer, "function", &function));
	if (pass->has_timeout && function == pass->timeout) {
		TRY(object_container(scan->target, "struct process_timer", "timer", timer->address,
				     &owner));
		return table_set_task(scan, COLUMN_TASK, COLUMN_PID, &owner, "task");
	}
	if (!pass->has_delayed || function != pass->delayed)
		return NULL;
	TRY(object_container(scan->target, "struct delayed_work", "timer", timer->address, &owner));
	return table_set_function(scan, COLUMN_WORK, &owner, "work.func");
}

static struct error *visit_timer(void *context, const struct wheel_timer *timer)
{
	struct pass *pass = context;
	struct table_scan *scan = pass->scan;
	uint64_t flags;
	table_set(scan, COLUMN_TIMER, timer->timer.address);
	table_set(scan, COLUMN_CPU, timer->cpu);
	table_set(scan, COLUMN_BASE, timer->base);
	table_set(scan, COLUMN_BUCKET, timer->bucket);
	TRY(table_set_member(scan, COLUMN_EXPIRES, &timer->timer, "expires"));
	TRY(table_set_error(scan, COLUMN_LEFT, set_left(pass, &timer->timer)));
	struct error *error = object_u64(&timer->timer, "flags", &flags);
	if (error)
		TRY(table_set_error(scan, COLUMN_FLAGS, error));
	else
		table_set_words(scan, COLUMN_FLAGS, flag_words, ARRAY_COUNT(flag_words), flags);
	TRY(table_set_error(scan, COLUMN_TASK, set_owner(pass, &timer->timer)));
	TRY(table_set_function(scan, COLUMN_FUNCTION, &timer->timer, "function"));
	return table_emit(scan);
}

static struct error *broken(void *context, struct error *problem)
{
	const struct pass *pass = context;
	return table_broken(pass->scan, problem);
}

static struct error *read_now(struct pass *pass)
{
	struct object jiffies;
	TRY(object_variable(pass->scan->target, "jiffies", "unsigned long", &jiffies));
	TRY(object_u64(&jiffies, NULL, &pass->now));
	pass->has_now = true;
	return NULL;
}

static struct error *visit(struct table_scan *scan)
{
	struct pass pass = { .scan = scan };
	const struct wheel_visitor visitor = { visit_timer, broken, &pass };
	TRY(error_only_fatal(read_now(&pass)));
	pass.has_timeout = table_symbol(scan, "process_timeout", &pass.timeout);
	pass.has_delayed = table_symbol(scan, "delayed_work_timer_fn", &pass.delayed);
	return timer_wheel_for_each(scan->target, &visitor);
}

static const char *const examples[] = { "timers --sort left -n 10",
					"timers --where 'left < 0' -o cpu,left,function,work",
					"timers -n 3 | print {expires, flags}", NULL };

const struct table table_timers = {
	.name = "timers",
	.alias = "timer",
	.summary = "timers that wait",
	.description = "A row is a struct timer_list that waits in the wheel of a CPU. Those with "
		       "a finer clock are hrtimers.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_TIMER,
	.is_object = true,
};
