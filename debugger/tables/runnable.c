// SPDX-License-Identifier: GPL-3.0-or-later
/* Tasks that run or want to, by their CPU: crash's runq. */
#include "debugger/tables/walks.h"

#include "base/array.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	COLUMN_CPU,
	COLUMN_TASK,
	COLUMN_PID,
	COLUMN_RUNNING,
	COLUMN_CLASS,
	COLUMN_PRIO,
	COLUMN_DELAYED,
	COLUMN_VRUNTIME,
	COLUMN_WAITED,
	COLUMN_COMM
};

static const struct table_column columns[] = {
	[COLUMN_CPU] = { "cpu", COLUMN_INTEGER, 3, "in whose queue it is", NULL },
	[COLUMN_TASK] = { "task", COLUMN_ADDRESS, 16, "its struct task_struct",
			  "struct task_struct" },
	[COLUMN_PID] = { "pid", COLUMN_INTEGER, 7, "its number", NULL },
	[COLUMN_RUNNING] = { "running", COLUMN_INTEGER, 7, "1: it runs", NULL },
	[COLUMN_CLASS] = { "class", COLUMN_TEXT, -8,
			   "stop, dl, rt, fair, ext, or idle: nobody wants to", NULL },
	[COLUMN_PRIO] = { "prio", COLUMN_INTEGER, 4, "below 100: real-time", NULL },
	[COLUMN_DELAYED] = { "delayed", COLUMN_INTEGER, 0,
			     "1: it sleeps, and still has to pay for what it ran (6.12)", NULL },
	[COLUMN_VRUNTIME] = { "vruntime", COLUMN_WIDE, 0, "of fair ones: who ran less runs first",
			      NULL },
	[COLUMN_WAITED] = { "waited", COLUMN_DURATION, 12,
			    "since it wanted to run, by its queue's clock", NULL },
	[COLUMN_COMM] = { "comm", COLUMN_TEXT, -16, "its name", NULL },
};

struct pass {
	const struct cpu *cpu;
	const struct object *rq;
	const char *class; /* whose list is walked; NULL: none's */
	uint64_t current;
	bool has_current; /* it came */
};

/* It counts from when it was queued; the clock is as old as the last look at it. */
static struct error *set_waited(struct table_scan *scan, const struct pass *pass,
				const struct object *task)
{
	uint64_t queued, now;
	TRY(object_u64(task, "sched_info.last_queued", &queued));
	TRY(object_u64(pass->rq, "clock", &now));
	if (queued && queued <= now)
		table_set(scan, COLUMN_WAITED, now - queued);
	return NULL;
}

/* By the name of its struct sched_class: "idle" of idle_sched_class. */
static struct error *set_own_class(struct table_scan *scan, const struct object *task)
{
	static const char end[] = "_sched_class";
	struct symbol symbol;
	uint64_t class, offset;
	TRY(object_u64(task, "sched_class", &class));
	if (!symtab_by_address(scan->target->symbols, class, &symbol, &offset) || offset)
		return NULL;
	const char *behind = strstr(symbol.name, end);
	if (!behind || behind[sizeof(end) - 1])
		return NULL;
	char *own = strndup(symbol.name, (size_t)(behind - symbol.name));
	if (!own)
		return error_no_memory();
	table_set_text(scan, COLUMN_CLASS, own);
	free(own);
	return NULL;
}

static struct error *visit_task(struct table_scan *scan, const struct object *task, void *context)
{
	struct pass *pass = context;
	bool is_current = task->address == pass->current;
	pass->has_current |= is_current;
	table_set(scan, COLUMN_CPU, pass->cpu->number);
	table_set(scan, COLUMN_TASK, task->address);
	table_set(scan, COLUMN_RUNNING, is_current);
	if (pass->class)
		table_set_text(scan, COLUMN_CLASS, pass->class);
	else
		TRY(table_set_error(scan, COLUMN_CLASS, set_own_class(scan, task)));
	TRY(table_set_member(scan, COLUMN_PID, task, "pid"));
	TRY(table_set_member(scan, COLUMN_PRIO, task, "prio"));
	TRY(table_set_member(scan, COLUMN_DELAYED, task, "se.sched_delayed"));
	TRY(table_set_member(scan, COLUMN_VRUNTIME, task, "se.vruntime"));
	if (!is_current)
		TRY(table_set_error(scan, COLUMN_WAITED, set_waited(scan, pass, task)));
	TRY(table_set_chars(scan, COLUMN_COMM, task, "comm"));
	return table_emit(scan);
}

/* The lists of each priority, where its bit is set. */
static struct error *visit_realtime(struct table_scan *scan, const struct object *rq,
				    struct pass *pass)
{
	const struct table_walk walk = { CONTAINER_LIST, "struct task_struct", "rt.run_list",
					 visit_task, pass };
	struct object head;
	uint64_t first, second;
	TRY(object_u64(rq, "rt.active.bitmap[0]", &first));
	TRY(object_u64(rq, "rt.active.bitmap[1]", &second));
	pass->class = "rt";
	for (unsigned int i = 0; i < 100; i++) {
		char path[40];
		if (!((i < 64 ? first >> i : second >> (i - 64)) & 1))
			continue;
		snprintf(path, sizeof(path), "rt.active.queue[%u]", i);
		TRY(object_member(rq, path, &head));
		TRY(table_broken(scan, table_walk(scan, head.address, &walk)));
	}
	return NULL;
}

/* The scheduler's own entities in it (since 6.8) are no tasks. */
static struct error *visit_entity(struct table_scan *scan, const struct object *task, void *context)
{
	uint64_t is_server = 0;
	if (object_has(task, "dl.dl_server"))
		TRY(object_u64(task, "dl.dl_server", &is_server));
	return is_server ? NULL : visit_task(scan, task, context);
}

static struct error *visit_deadline(struct table_scan *scan, const struct object *rq,
				    struct pass *pass)
{
	const struct table_walk walk = { CONTAINER_RBTREE, "struct task_struct", "dl.rb_node",
					 visit_entity, pass };
	struct object root;
	uint64_t count;
	TRY(object_u64(rq, "dl.dl_nr_running", &count));
	TRY(object_member(rq, "dl.root.rb_root", &root));
	pass->class = "dl";
	return count ? table_walk(scan, root.address, &walk) : NULL;
}

static struct error *visit_fair(struct table_scan *scan, const struct object *rq, struct pass *pass)
{
	const struct table_walk walk = { CONTAINER_LIST, "struct task_struct", "se.group_node",
					 visit_task, pass };
	struct object head;
	TRY(object_member(rq, "cfs_tasks", &head));
	pass->class = "fair";
	return table_walk(scan, head.address, &walk);
}

/* The one that stops the CPU, or takes a task away from it, is in no list. */
static struct error *visit_stop(struct table_scan *scan, const struct object *rq, struct pass *pass)
{
	struct object task;
	uint64_t is_queued;
	if (!object_has(rq, "stop"))
		return NULL;
	TRY(object_follow(rq, "stop", &task));
	if (!task.address)
		return NULL;
	TRY(object_u64(&task, "on_rq", &is_queued));
	pass->class = "stop";
	return is_queued == 1 ? visit_task(scan, &task, pass) : NULL;
}

static struct error *visit_cpu(struct table_scan *scan, const struct cpu *cpu,
			       const struct object *rq, void *context)
{
	struct pass pass = { .cpu = cpu, .rq = rq };
	struct object task;
	(void)context;
	TRY(object_follow(rq, "curr", &task));
	pass.current = task.address;
	TRY(table_broken(scan, visit_stop(scan, rq, &pass)));
	TRY(table_broken(scan, visit_deadline(scan, rq, &pass)));
	TRY(table_broken(scan, visit_realtime(scan, rq, &pass)));
	TRY(table_broken(scan, visit_fair(scan, rq, &pass)));
	if (pass.has_current || !task.address)
		return NULL;
	/* The idle task, and one that goes to sleep, are in no list. */
	pass.class = task.address == cpu->idle_task ? "idle" : NULL;
	return visit_task(scan, &task, &pass);
}

static struct error *visit(struct table_scan *scan)
{
	return table_each_cpu(scan, "runqueues", "struct rq", visit_cpu, NULL);
}

static const char *const examples[] = { "runnable", "runnable --where 'running = 0' --sort -waited",
					NULL };

const struct table table_runnable = {
	.name = "runnable",
	.alias = "runq",
	.summary = "tasks that run or want to",
	.description = "A row is a task in the queue of a CPU, by class: the one that stops it, "
		       "those with deadlines, real-time ones by their priority, fair ones. The one "
		       "that runs is among them. The queues themselves are runqueues.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_TASK,
};
