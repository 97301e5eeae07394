// SPDX-License-Identifier: GPL-3.0-or-later
/* Who waits for works: for the worker that runs them, or keeps them back (kernel/workqueue.c). */
#include "debugger/analysis/waits_private.h"
#include "debugger/kernel/work_links.h"
#include "debugger/kernel/worker.h"

#include "base/array.h"

#define PF_WQ_WORKER 0x00000020u
#define BARRIER	     "struct wq_barrier"
#define LINK	     "struct pool_workqueue"

static const char not_known[] = "which worker runs it could not be found out";

static bool read_worker(const struct wait_world *world, const struct task *task,
			struct wait_worker *ret)
{
	const char *type = "struct worker";
	struct object object = { .address = 0 };
	struct error *error = worker_of_task(world->target, task->address, &object);
	uint64_t offset, worker = object.address;
	bool is_found = !error;
	error_free(error);
	if (!is_found || !wait_read(world, type, worker, "current_work", &ret->work) ||
	    !wait_offset(world, type, "scheduled", &offset))
		return false;
	ret->link = ret->queue = 0;
	if (ret->work && (!wait_read(world, type, worker, "current_pwq", &ret->link) ||
			  !wait_read(world, LINK, ret->link, "wq", &ret->queue) ||
			  !wait_read(world, type, worker, "current_color", &ret->color)))
		return false;
	ret->task = task->address;
	ret->scheduled = worker + offset;
	return true;
}

static struct error *load_workers(struct wait_world *world)
{
	for (size_t i = 0; i < world->task_count; i++) {
		const struct task *task = &world->tasks[i];
		struct wait_worker worker;
		uint64_t flags;
		bool is_read =
			wait_read(world, "struct task_struct", task->address, "flags", &flags);
		if (is_read && !(flags & PF_WQ_WORKER))
			continue;
		if (!is_read || !read_worker(world, task, &worker)) {
			world->workers_unread = true;
			continue;
		}
		if (!array_reserve(&world->workers, &world->worker_capacity,
				   world->worker_count + 1))
			return error_no_memory();
		world->workers[world->worker_count++] = worker;
	}
	world->workers_loaded = true;
	return NULL;
}

/*
 * Who flushes a work puts a barrier behind it: into the list of the worker that runs it, or, while
 * none does, into the pool's.
 */
static struct error *worker_of_barrier(struct sleeper *sleeper, uint64_t entry,
				       const struct wait_worker **ret)
{
	struct wait_world *world = sleeper->world;
	*ret = NULL;
	if (!world->workers_loaded)
		TRY(load_workers(world));
	for (size_t i = 0; i < world->worker_count && !*ret; i++) {
		bool shares;
		TRY(wait_rings_share(&world->rings, world->target, entry,
				     world->workers[i].scheduled, &shares));
		if (shares)
			*ret = &world->workers[i];
	}
	return NULL;
}

#define ANY_COLOR UINT64_MAX

/*
 * Who runs a work of what `like` says: of a struct pool_workqueue (link), or of a workqueue, and a
 * color of it. A worker of several is not the only one; one that was not read may be another.
 */
static void find_runner(const struct wait_world *world, const struct wait_worker *like,
			const struct runner_texts *texts, struct wait *wait)
{
	size_t count = 0;
	for (size_t i = 0; i < world->worker_count; i++) {
		const struct wait_worker *worker = &world->workers[i];
		bool runs = like->link ? worker->link == like->link
				       : worker->queue == like->queue &&
						 (like->color == ANY_COLOR ||
						  worker->color == like->color);
		if (runs && !count++)
			wait->owner = worker->task;
	}
	wait->owner_how = !count ? texts->none : count == 1 ? texts->one : texts->several;
	if (count)
		wait->owner_sure = count == 1 && !world->workers_unread ? CONFIDENCE_CERTAIN
									: CONFIDENCE_INFERRED;
}

struct error *wait_runner_of_queue(struct sleeper *sleeper, uint64_t queue,
				   const struct runner_texts *texts)
{
	struct wait_world *world = sleeper->world;
	struct wait_worker like = { .queue = queue, .color = ANY_COLOR };
	if (!world->workers_loaded)
		TRY(load_workers(world));
	find_runner(world, &like, texts, sleeper->wait);
	return NULL;
}

struct error *wait_worker_of_work(struct sleeper *sleeper, uint64_t work, uint64_t *ret)
{
	struct wait_world *world = sleeper->world;
	*ret = 0;
	if (!world->workers_loaded)
		TRY(load_workers(world));
	for (size_t i = 0; i < world->worker_count && !*ret; i++)
		if (world->workers[i].work == work)
			*ret = world->workers[i].task;
	return NULL;
}

/* A queue that has as many active works as it may: who runs them keeps the others back. */
static void find_active(struct sleeper *sleeper, uint64_t link)
{
	static const struct runner_texts texts = {
		"its queue runs as many works as it may, and has not come to it",
		"the worker that runs a work of its queue, which runs as many as it may",
		"one of several workers that run works of its queue, which runs as many as it may"
	};
	struct wait_worker like = { .link = link };
	find_runner(sleeper->world, &like, &texts, sleeper->wait);
}

/* That no worker runs it is known if the barrier lies where works lie that none has begun. */
static struct error *find_place(struct sleeper *sleeper, uint64_t barrier)
{
	struct wait_world *world = sleeper->world;
	struct wait *wait = sleeper->wait;
	struct work_links links;
	uint64_t data, link, pool, entry, pending, inactive;
	bool is_pending, is_inactive = false;
	wait->owner_how = not_known;
	if (!work_links_find(world->target, &links) ||
	    !wait_read(world, BARRIER, barrier, "work.data.counter", &data) ||
	    !(data & links.flag) || !wait_offset(world, BARRIER, "work.entry", &entry) ||
	    !wait_offset(world, "struct worker_pool", "worklist", &pending) ||
	    !wait_offset(world, LINK, links.inactive, &inactive))
		return NULL;
	link = data & links.mask;
	if (!wait_read(world, LINK, link, "pool", &pool))
		return NULL;
	TRY(wait_rings_share(&world->rings, world->target, barrier + entry, pool + pending,
			     &is_pending));
	if (!is_pending)
		TRY(wait_rings_share(&world->rings, world->target, barrier + entry, link + inactive,
				     &is_inactive));
	if (is_pending)
		wait->owner_how = "no worker has begun it";
	else if (is_inactive)
		find_active(sleeper, link);
	return NULL;
}

struct error *wait_flush_of_work(struct sleeper *sleeper, bool *ret)
{
	struct wait_world *world = sleeper->world;
	struct wait *wait = sleeper->wait;
	const struct wait_worker *worker;
	uint64_t done, function, task, entry, work = 0;
	*ret = false;
	if (!wait_offset(world, BARRIER, "done", &done))
		return NULL;
	uint64_t barrier = wait->object - done;
	if (!wait_read(world, BARRIER, barrier, "work.func", &function) ||
	    !wait_is_function(world, function, "wq_barrier_func") ||
	    !wait_read(world, BARRIER, barrier, "task", &task) || task != sleeper->task->address ||
	    !wait_offset(world, BARRIER, "work.entry", &entry))
		return NULL;
	*ret = true;
	wait->kind = "flush work";
	wait->type = "struct work_struct";
	TRY(worker_of_barrier(sleeper, barrier + entry, &worker));
	if (worker) {
		wait->object = worker->work;
		wait->how = "list";
		wait->owner = worker->task;
		wait->owner_sure = CONFIDENCE_CERTAIN;
		wait->owner_how = "the worker that runs it";
		return NULL;
	}
	bool known = wait_argument(sleeper, sleeper->frame, sleeper->frame + 4,
				   "struct work_struct *", &work);
	wait->object = known ? work : 0;
	wait->how = known ? "argument" : NULL;
	wait->sure = known ? CONFIDENCE_CERTAIN : CONFIDENCE_UNKNOWN;
	return find_place(sleeper, barrier);
}

/*
 * All works of a queue that have the flusher's color (struct wq_flusher on its stack, which the
 * queue leads to).
 */
struct error *wait_flush_of_queue(struct sleeper *sleeper, bool *ret)
{
	struct wait_world *world = sleeper->world;
	struct wait *wait = sleeper->wait;
	const char *type = "struct workqueue_struct";
	struct wait_worker like = { 0 };
	uint64_t done, first;
	*ret = false;
	if (!wait_argument(sleeper, sleeper->frame, sleeper->frame + 4, "struct workqueue_struct *",
			   &like.queue) ||
	    !wait_offset(world, "struct wq_flusher", "done", &done) ||
	    !wait_read(world, "struct wq_flusher", wait->object - done, "flush_color",
		       &like.color) ||
	    !wait_read(world, type, like.queue, "first_flusher", &first) ||
	    first != wait->object - done)
		return NULL;
	*ret = true;
	wait->kind = "flush workqueue";
	wait->type = type;
	wait->object = like.queue;
	if (!world->workers_loaded)
		TRY(load_workers(world));
	struct runner_texts texts = { world->workers_unread ? not_known
							    : "no worker runs a work of it",
				      "the worker that runs a work of it",
				      "one of several workers that run works of it" };
	find_runner(world, &like, &texts, wait);
	return NULL;
}
