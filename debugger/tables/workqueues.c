// SPDX-License-Identifier: GPL-3.0-or-later
/* Queues of work. */
#include "debugger/tables/walks.h"

#include "base/array.h"

enum {
	COLUMN_QUEUE,
	COLUMN_FLAGS,
	COLUMN_LINKS,
	COLUMN_ACTIVE,
	COLUMN_MAX_ACTIVE,
	COLUMN_DRAINERS,
	COLUMN_RESCUER,
	COLUMN_PID,
	COLUMN_NAME,
};

static const struct table_column columns[] = {
	[COLUMN_QUEUE] = { "wq", COLUMN_ADDRESS, 16, "its struct workqueue_struct",
			   "struct workqueue_struct" },
	[COLUMN_FLAGS] = { "flags", COLUMN_TEXT, -28, "WQ_*: unbound, highpri, ...", NULL },
	[COLUMN_LINKS] = { "pools", COLUMN_INTEGER, 5, "pools of workers that it may use", NULL },
	[COLUMN_ACTIVE] = { "nr_active", COLUMN_INTEGER, 9, "works that run or wait for a worker",
			    NULL },
	[COLUMN_MAX_ACTIVE] = { "max_active", COLUMN_INTEGER, 0, "above that, they are held back",
				NULL },
	[COLUMN_DRAINERS] = { "drainers", COLUMN_INTEGER, 0, "who waits until it is empty", NULL },
	[COLUMN_RESCUER] = { "rescuer", COLUMN_ADDRESS, 0,
			     "the task that helps when memory is short", "struct task_struct" },
	[COLUMN_PID] = { "pid", COLUMN_INTEGER, 0, "that task's", NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, -24, "the queue's", NULL },
};

/* kernel include/linux/workqueue.h */
static const struct table_word flag_words[] = {
	{ 0x1, "bh" },		 { 0x2, "unbound" },	      { 0x4, "freezable" },
	{ 0x8, "mem_reclaim" },	 { 0x10, "highpri" },	      { 0x20, "cpu_intensive" },
	{ 0x40, "sysfs" },	 { 0x80, "power_efficient" }, { 0x8000, "destroying" },
	{ 0x10000, "draining" }, { 0x20000, "ordered" },
};

struct sums {
	uint64_t links, active;
};

static struct error *add_link(struct table_scan *scan, const struct object *link, void *context)
{
	struct sums *sums = context;
	uint64_t active;
	sums->links++;
	struct error *error = object_u64(link, "nr_active", &active);
	if (error)
		return table_broken(scan, error);
	sums->active += (uint32_t)active;
	return NULL;
}

static struct error *set_sums(struct table_scan *scan, const struct object *queue)
{
	struct sums sums = { 0 };
	struct object links;
	const struct table_walk walk = { CONTAINER_LIST, "struct pool_workqueue", "pwqs_node",
					 add_link, &sums };
	TRY(object_member(queue, "pwqs", &links));
	TRY(table_walk(scan, links.address, &walk));
	table_set(scan, COLUMN_LINKS, sums.links);
	table_set(scan, COLUMN_ACTIVE, sums.active);
	return NULL;
}

static struct error *set_rescuer(struct table_scan *scan, const struct object *queue)
{
	struct object worker;
	TRY(object_follow(queue, "rescuer", &worker));
	return worker.address ? table_set_task(scan, COLUMN_RESCUER, COLUMN_PID, &worker, "task")
			      : NULL;
}

static struct error *visit_queue(struct table_scan *scan, const struct object *queue, void *context)
{
	uint64_t flags;
	(void)context;
	table_set(scan, COLUMN_QUEUE, queue->address);
	struct error *error = object_u64(queue, "flags", &flags);
	if (error)
		TRY(table_set_error(scan, COLUMN_FLAGS, error));
	else
		table_set_words(scan, COLUMN_FLAGS, flag_words, ARRAY_COUNT(flag_words), flags);
	TRY(table_set_error(scan, COLUMN_LINKS, set_sums(scan, queue)));
	/* saved_max_active until 6.9 */
	TRY(table_set_member(scan, COLUMN_MAX_ACTIVE, queue,
			     object_has(queue, "max_active") ? "max_active" : "saved_max_active"));
	TRY(table_set_member(scan, COLUMN_DRAINERS, queue, "nr_drainers"));
	TRY(table_set_error(scan, COLUMN_RESCUER, set_rescuer(scan, queue)));
	TRY(table_set_chars(scan, COLUMN_NAME, queue, "name"));
	return table_emit(scan);
}

static struct error *visit(struct table_scan *scan)
{
	const struct table_walk walk = { CONTAINER_LIST, "struct workqueue_struct", "list",
					 visit_queue, NULL };
	return table_walk_variable(scan, "workqueues", "struct list_head", &walk);
}

static const char *const examples[] = { "workqueues --where 'nr_active > 0'",
					"workqueues --sort -nr_active -n 5", NULL };

const struct table table_workqueues = {
	.name = "workqueues",
	.summary = "queues of work",
	.description = "A row is a struct workqueue_struct. What is in them are works.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_QUEUE,
	.is_object = true,
};
