// SPDX-License-Identifier: GPL-3.0-or-later
/* Mistakes elsewhere than in the task that began them. */
#include "faults.h"

#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

static void lab_device_timeout(struct timer_list *timer)
{
	struct lab_device *device = container_of(timer, struct lab_device, timer);

	device->mode = lab_device_start(device);
}

static noinline int lab_fault_timer(struct lab_device *device)
{
	device->ops = NULL;
	mod_timer(&device->timer, jiffies + HZ / 20);
	return 0;
}

static noinline void lab_request_complete(struct lab_request *request)
{
	request->state = LAB_DONE;
}

static void lab_device_tasklet(struct tasklet_struct *tasklet)
{
	struct lab_device *device = from_tasklet(device, tasklet, tasklet);

	lab_request_complete(device->current_request);
	device->users--;
}

static noinline int lab_fault_softirq(struct lab_device *device)
{
	device->current_request = NULL;
	tasklet_schedule(&device->tasklet);
	return 0;
}

static noinline u32 lab_device_parent_id(struct lab_device *device)
{
	return device->parent->id + 1;
}

static void lab_device_work(struct work_struct *work)
{
	struct lab_device *device = container_of(work, struct lab_device, work);

	device->mode = lab_device_parent_id(device);
}

static noinline int lab_fault_work(struct lab_device *device)
{
	device->parent = NULL;
	schedule_work(&device->work);
	return 0;
}

/* The timer outlives the code of its module. */
static noinline int lab_fault_removed(struct lab_device *device)
{
	device->timer.function = (void *)(((unsigned long)THIS_MODULE & PAGE_MASK) + SZ_256M);
	mod_timer(&device->timer, jiffies + HZ / 20);
	return 0;
}

/* An object that RCU was to free has been written over by a text. */
static noinline int lab_fault_callback(struct lab_device *device)
{
	static struct rcu_head head;

	call_rcu(&head, (void *)lab_device_timeout);
	memcpy((void *)&head + offsetof(struct rcu_head, func), "late.txt", sizeof(head.func));
	return 0;
}

/* Only this thread dies of it. */
static int lab_open(void *device)
{
	return lab_fault_null(device);
}

static noinline int lab_fault_oops(struct lab_device *device)
{
	int error = lab_start_thread(lab_open, device, "lab-opener");

	msleep(500);
	return error;
}

void lab_elsewhere_init(struct lab_device *device)
{
	timer_setup(&device->timer, lab_device_timeout, 0);
	tasklet_setup(&device->tasklet, lab_device_tasklet);
	INIT_WORK(&device->work, lab_device_work);
}

const struct fault lab_elsewhere_faults[] = {
	{ "timer", lab_fault_timer },
	{ "softirq", lab_fault_softirq },
	{ "work", lab_fault_work },
	{ "removed", lab_fault_removed },
	{ "callback", lab_fault_callback },
	{ "oops", lab_fault_oops },
	{ NULL, NULL },
};
