// SPDX-License-Identifier: GPL-3.0-or-later
/* Work items: one that needs what its flusher has, one that sleeps, one behind such a one. */
#include <linux/mutex.h>
#include <linux/workqueue.h>

#include "stuck.h"

static DEFINE_MUTEX(flush_lock);
static struct workqueue_struct *flush_workqueue_locks, *flush_workqueue_sleeps,
	*flush_workqueue_ordered;

static void flush_lock_work(struct work_struct *work)
{
	struct stuck_thread *self = stuck_find("work-locks");

	self->task = current;
	stuck_arrive(self, "mutex", &flush_lock);
	mutex_lock(&flush_lock);
	self->task = NULL;
}

static void flush_sleep_work(struct work_struct *work)
{
	struct stuck_thread *self = stuck_find("work-sleeps");

	self->task = current;
	stuck_sleep(self);
	self->task = NULL;
}

static void flush_first_work(struct work_struct *work)
{
	struct stuck_thread *self = stuck_find("work-first");

	self->task = current;
	stuck_sleep(self);
	self->task = NULL;
}

static void flush_second_work(struct work_struct *work)
{
}

static DECLARE_WORK(flush_first_item, flush_first_work);
static DECLARE_WORK(flush_second_item, flush_second_work);
static DECLARE_WORK(flush_lock_item, flush_lock_work);
static DECLARE_WORK(flush_sleep_item, flush_sleep_work);

int flush_owner(struct stuck_thread *self)
{
	mutex_lock(&flush_lock);
	queue_work(flush_workqueue_locks, &flush_lock_item);
	stuck_arrive(self, "work", &flush_lock_item);
	return flush_work(&flush_lock_item) + 1;
}

int flush_sleeper(struct stuck_thread *self)
{
	queue_work(flush_workqueue_sleeps, &flush_sleep_item);
	stuck_arrive(self, "work", &flush_sleep_item);
	return flush_work(&flush_sleep_item) + 1;
}

int flush_queue(struct stuck_thread *self)
{
	stuck_arrive(self, "workqueue", flush_workqueue_sleeps);
	flush_workqueue(flush_workqueue_sleeps);
	return 1;
}

int flush_behind(struct stuck_thread *self)
{
	queue_work(flush_workqueue_ordered, &flush_first_item);
	queue_work(flush_workqueue_ordered, &flush_second_item);
	stuck_arrive(self, "work", &flush_second_item);
	return flush_work(&flush_second_item) + 1;
}

int __init works_init(void)
{
	flush_workqueue_locks = alloc_workqueue("flush_locks", 0, 0);
	flush_workqueue_sleeps = alloc_workqueue("flush_sleeps", 0, 0);
	flush_workqueue_ordered = alloc_ordered_workqueue("flush_ordered", 0);
	return flush_workqueue_locks && flush_workqueue_sleeps && flush_workqueue_ordered ? 0
											  : -ENOMEM;
}
