// SPDX-License-Identifier: GPL-3.0-or-later
/* Work items: those that run, that wait for a worker, that are held back, and that wait for time.
 */
#include "debugger/tables/walks.h"

#include "base/array.h"
#include "debugger/kernel/timer_wheel.h"
#include "debugger/kernel/work_links.h"
#include <inttypes.h>
#include <stdio.h>

enum {
	COLUMN_WORK,
	COLUMN_STATE,
	COLUMN_QUEUE,
	COLUMN_QUEUE_NAME,
	COLUMN_POOL,
	COLUMN_CPU,
	COLUMN_TASK,
	COLUMN_PID,
	COLUMN_EXPIRES,
	COLUMN_FUNCTION,
};

static const struct table_column columns[] = {
	[COLUMN_WORK] = { "work", COLUMN_ADDRESS, 16, "its struct work_struct",
			  "struct work_struct" },
	[COLUMN_STATE] = { "state", COLUMN_TEXT, -9,
			   "running, pending (for a worker), inactive (its queue has enough), "
			   "delayed (by a timer)",
			   NULL },
	[COLUMN_QUEUE] = { "wq", COLUMN_ADDRESS, 0, "its struct workqueue_struct",
			   "struct workqueue_struct" },
	[COLUMN_QUEUE_NAME] = { "workqueue", COLUMN_TEXT, -20, "the name of that", NULL },
	[COLUMN_POOL] = { "pool", COLUMN_INTEGER, 4, "number of the pool of workers", NULL },
	[COLUMN_CPU] = { "cpu", COLUMN_INTEGER, 3, "the pool's or the timer's; below 0: any",
			 NULL },
	[COLUMN_TASK] = { "task", COLUMN_ADDRESS, 0, "the worker that runs it",
			  "struct task_struct" },
	[COLUMN_PID] = { "pid", COLUMN_INTEGER, 6, "that worker's", NULL },
	[COLUMN_EXPIRES] = { "expires", COLUMN_WIDE, 0, "of one that is delayed, in jiffies",
			     NULL },
	[COLUMN_FUNCTION] = { "function", COLUMN_TEXT, -28, "what it does", NULL },
};

struct pass {
	struct table_scan *scan;
	struct object pool;  /* whose works are visited */
	uint64_t workers;    /* of it that were visited */
	struct object queue; /* the same of inactive ones */
	uint64_t delayed;    /* the function of timers that start works */
	struct work_links links;
	bool has_links;
};

/* --- cells ----------------------------------------------------------------------------------- */

static struct error *set_queue(struct table_scan *scan, const struct object *queue)
{
	if (!queue->address)
		return NULL;
	table_set(scan, COLUMN_QUEUE, queue->address);
	return table_set_chars(scan, COLUMN_QUEUE_NAME, queue, "name");
}

static struct error *set_queue_of(struct table_scan *scan, const struct object *owner,
				  const char *path)
{
	struct object queue;
	TRY(object_follow(owner, path, &queue));
	return set_queue(scan, &queue);
}

/* Its data is the struct pool_workqueue that it was queued by, and flags below. */
static struct error *set_queue_by_data(const struct pass *pass, const struct object *work)
{
	struct object link;
	uint64_t data;
	if (!pass->has_links)
		return NULL;
	TRY(object_u64(work, "data.counter", &data));
	if (!(data & pass->links.flag))
		return NULL;
	TRY(object_at(pass->scan->target, "struct pool_workqueue", data & pass->links.mask, &link));
	return set_queue_of(pass->scan, &link, "wq");
}

static struct error *set_pool(struct table_scan *scan, const struct object *pool)
{
	TRY(table_set_member(scan, COLUMN_POOL, pool, "id"));
	return table_set_member(scan, COLUMN_CPU, pool, "cpu");
}

static void begin(struct table_scan *scan, const struct object *work, const char *state)
{
	table_set(scan, COLUMN_WORK, work->address);
	table_set_text(scan, COLUMN_STATE, state);
}

/* --- of pools -------------------------------------------------------------------------------- */

static struct error *visit_pending(struct table_scan *scan, const struct object *work,
				   void *context)
{
	const struct pass *pass = context;
	begin(scan, work, "pending");
	TRY(set_pool(scan, &pass->pool));
	TRY(table_set_error(scan, COLUMN_QUEUE, set_queue_by_data(pass, work)));
	TRY(table_set_function(scan, COLUMN_FUNCTION, work, "func"));
	return table_emit(scan);
}

static struct error *visit_worker(struct table_scan *scan, const struct object *worker,
				  void *context)
{
	struct pass *pass = context;
	struct object work;
	pass->workers++;
	struct error *error = object_follow(worker, "current_work", &work);
	if (error || !work.address)
		return table_broken(scan, error);
	begin(scan, &work, "running");
	TRY(set_pool(scan, &pass->pool));
	/* What runs may have freed its work: the worker has all of it. */
	error = object_follow(worker, "current_pwq", &work);
	if (!error && work.address)
		error = set_queue_of(scan, &work, "wq");
	TRY(table_set_error(scan, COLUMN_QUEUE, error));
	TRY(table_set_task(scan, COLUMN_TASK, COLUMN_PID, worker, "task"));
	TRY(table_set_function(scan, COLUMN_FUNCTION, worker, "current_func"));
	return table_emit(scan);
}

static struct error *visit_list(struct table_scan *scan, const struct object *owner,
				const char *path, const struct table_walk *walk)
{
	struct object list;
	struct error *error = object_member(owner, path, &list);
	return error ? table_broken(scan, error) : table_walk(scan, list.address, walk);
}

static struct error *visit_pool(struct table_scan *scan, const struct object *pool, void *context)
{
	struct pass *pass = context;
	const struct table_walk workers = { CONTAINER_LIST, "struct worker", "node", visit_worker,
					    pass };
	const struct table_walk works = { CONTAINER_LIST, "struct work_struct", "entry",
					  visit_pending, pass };
	pass->pool = *pool;
	pass->workers = 0;
	TRY(visit_list(scan, pool, "workers", &workers));
	TRY(table_check_count(scan, pool, "nr_workers", pass->workers));
	return visit_list(scan, pool, "worklist", &works);
}

/* --- of queues ------------------------------------------------------------------------------- */

static struct error *visit_inactive(struct table_scan *scan, const struct object *work,
				    void *context)
{
	const struct pass *pass = context;
	begin(scan, work, "inactive");
	TRY(set_pool(scan, &pass->pool));
	TRY(table_set_error(scan, COLUMN_QUEUE, set_queue(scan, &pass->queue)));
	TRY(table_set_function(scan, COLUMN_FUNCTION, work, "func"));
	return table_emit(scan);
}

static struct error *visit_link(struct table_scan *scan, const struct object *link, void *context)
{
	struct pass *pass = context;
	const struct table_walk works = { CONTAINER_LIST, "struct work_struct", "entry",
					  visit_inactive, pass };
	struct error *error = object_follow(link, "pool", &pass->pool);
	if (error)
		return table_broken(scan, error);
	return visit_list(scan, link, pass->has_links ? pass->links.inactive : "inactive_works",
			  &works);
}

static struct error *visit_queue(struct table_scan *scan, const struct object *queue, void *context)
{
	struct pass *pass = context;
	const struct table_walk links = { CONTAINER_LIST, "struct pool_workqueue", "pwqs_node",
					  visit_link, pass };
	pass->queue = *queue;
	return visit_list(scan, queue, "pwqs", &links);
}

/* --- of timers ------------------------------------------------------------------------------- */

static struct error *visit_timer(void *context, const struct wheel_timer *timer)
{
	const struct pass *pass = context;
	struct table_scan *scan = pass->scan;
	struct object delayed, work;
	uint64_t function;
	struct error *error = object_u64(&timer->timer, "function", &function);
	if (error || function != pass->delayed)
		return table_broken(scan, error);
	TRY(object_container(scan->target, "struct delayed_work", "timer", timer->timer.address,
			     &delayed));
	TRY(object_member(&delayed, "work", &work));
	begin(scan, &work, "delayed");
	table_set(scan, COLUMN_CPU, timer->cpu);
	TRY(table_set_member(scan, COLUMN_EXPIRES, &timer->timer, "expires"));
	TRY(table_set_error(scan, COLUMN_QUEUE, set_queue_of(scan, &delayed, "wq")));
	TRY(table_set_function(scan, COLUMN_FUNCTION, &work, "func"));
	return table_emit(scan);
}

static struct error *broken(void *context, struct error *problem)
{
	const struct pass *pass = context;
	return table_broken(pass->scan, problem);
}

/* --- all ------------------------------------------------------------------------------------- */

static struct error *visit(struct table_scan *scan)
{
	struct pass pass = { .scan = scan };
	const struct table_walk pools = { CONTAINER_IDR, "struct worker_pool", NULL, visit_pool,
					  &pass };
	const struct table_walk queues = { CONTAINER_LIST, "struct workqueue_struct", "list",
					   visit_queue, &pass };
	const struct wheel_visitor timers = { visit_timer, broken, &pass };
	pass.has_links = work_links_find(scan->target, &pass.links);
	TRY(table_walk_variable(scan, "worker_pool_idr", "struct idr", &pools));
	TRY(table_walk_variable(scan, "workqueues", "struct list_head", &queues));
	if (!table_symbol(scan, "delayed_work_timer_fn", &pass.delayed))
		return NULL;
	return timer_wheel_for_each(scan->target, &timers);
}

static const char *const examples[] = { "works", "works --where \"state <> 'delayed'\"",
					"sql SELECT workqueue, state, count(*) AS works FROM works "
					"GROUP BY workqueue, state",
					NULL };

const struct table table_works = {
	.name = "works",
	.summary = "work items that run or wait",
	.description = "A row is a struct work_struct that a worker runs, that waits for one, that "
		       "its queue holds back, or that a timer will queue.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_WORK,
	.is_object = true,
};
