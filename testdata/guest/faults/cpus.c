// SPDX-License-Identifier: GPL-3.0-or-later
/* CPUs that do nothing else. */
#include "faults.h"

#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#define LAB_STARVED_S 6
#define LAB_DAY_MS    86400000

static DEFINE_SPINLOCK(lab_left);
static DEFINE_SPINLOCK(lab_right);

static noinline void lab_device_poll(struct lab_device *device)
{
	while (!READ_ONCE(device->mode))
		cpu_relax();
}

static int lab_spin(void *device)
{
	preempt_disable();
	lab_device_poll(device);
	preempt_enable();
	return 0;
}

int lab_spin_deaf(void *device)
{
	local_irq_disable();
	lab_device_poll(device);
	local_irq_enable();
	return 0;
}

static int lab_read(void *device)
{
	rcu_read_lock();
	lab_device_poll(device);
	rcu_read_unlock();
	return 0;
}

static int lab_wait_for_readers(void *unused)
{
	for (;;) {
		synchronize_rcu();
		msleep(20);
	}
	return 0;
}

int lab_start_thread_on(int (*run)(void *), struct lab_device *device, const char *name,
			unsigned int cpu)
{
	struct task_struct *task = kthread_create(run, device, "%s", name);

	if (IS_ERR(task))
		return PTR_ERR(task);
	if (device)
		kthread_bind(task, cpu);
	wake_up_process(task);
	return 0;
}

int lab_start_thread(int (*run)(void *), struct lab_device *device, const char *name)
{
	return lab_start_thread_on(run, device, name, num_online_cpus() - 1);
}

static noinline int lab_fault_soft(struct lab_device *device)
{
	device->mode = 0;
	return lab_start_thread(lab_spin, device, "lab-spinner");
}

static noinline int lab_fault_irqoff(struct lab_device *device)
{
	device->mode = 0;
	return lab_start_thread(lab_spin_deaf, device, "lab-deaf");
}

static noinline int lab_fault_rcu(struct lab_device *device)
{
	int error;

	device->mode = 0;
	error = lab_start_thread(lab_read, device, "lab-reader");
	return error ?: lab_start_thread(lab_wait_for_readers, NULL, "lab-synchronize");
}

/* A reader must not sleep: nobody who waits for readers gets on. */
static noinline int lab_device_rest(struct lab_device *device)
{
	rcu_read_lock();
	msleep(LAB_DAY_MS);
	rcu_read_unlock();
	return device->users;
}

static int lab_read_asleep(void *device)
{
	return lab_device_rest(device) & 1;
}

static noinline int lab_fault_rcusleep(struct lab_device *device)
{
	int error = lab_start_thread(lab_read_asleep, device, "lab-sleeper");

	msleep(200);
	return error ?: lab_start_thread(lab_wait_for_readers, NULL, "lab-synchronize");
}

/* Two locks in different order, each taken by a CPU. */
static noinline void lab_take_both(spinlock_t *first, spinlock_t *second)
{
	spin_lock(first);
	mdelay(500);
	spin_lock(second);
	spin_unlock(second);
	spin_unlock(first);
}

static int lab_cross(void *unused)
{
	bool is_left = current->comm[4] == 'l';

	lab_take_both(is_left ? &lab_left : &lab_right, is_left ? &lab_right : &lab_left);
	return 0;
}

static noinline int lab_fault_spin(struct lab_device *device)
{
	int error = lab_start_thread_on(lab_cross, device, "lab-left", 0);

	return error ?: lab_start_thread_on(lab_cross, device, "lab-right", 1);
}

static void lab_device_sync(void *device)
{
	((struct lab_device *)device)->users++;
}

/* The other CPU is to run a function, and does not take the interrupt that asks it to. */
static int lab_call(void *device)
{
	msleep(500); /* until it is deaf */
	smp_call_function_single(num_online_cpus() - 1, lab_device_sync, device, 1);
	return 0;
}

static noinline int lab_fault_ipi(struct lab_device *device)
{
	int error = lab_fault_irqoff(device);

	return error ?: lab_start_thread_on(lab_call, device, "lab-caller", 0);
}

/* It gives the CPU away to nobody who is not more important. */
static int lab_hog(void *device)
{
	struct lab_device *busy = device;

	sched_set_fifo(current);
	while (!READ_ONCE(busy->mode))
		cond_resched();
	return 0;
}

static int lab_starve(void *device)
{
	sched_set_fifo_low(current);
	for (;;)
		msleep(20);
	return 0;
}

static noinline int lab_fault_hog(struct lab_device *device)
{
	int error = lab_start_thread(lab_starve, device, "lab-starved");

	device->mode = 0;
	msleep(100);
	error = error ?: lab_start_thread(lab_hog, device, "lab-hog");
	/* Who waits for less than five seconds is not starved. */
	ssleep(LAB_STARVED_S);
	return error;
}

/* The reader keeps his CPU until one comes that is more important, and keeps it for ever. */
static noinline int lab_fault_rcupreempt(struct lab_device *device)
{
	int error = lab_fault_rcu(device);

	msleep(200);
	return error ?: lab_start_thread(lab_hog, device, "lab-hog");
}

static int lab_interlude(void *unused)
{
	sched_set_fifo(current);
	mdelay(500);
	return 0;
}

/* The reader loses his CPU for a while only, and has it again when somebody asks what he does. */
static noinline int lab_fault_rcuresume(struct lab_device *device)
{
	int error = lab_fault_rcu(device);

	msleep(200);
	return error ?: lab_start_thread(lab_interlude, device, "lab-interlude");
}

const struct fault lab_cpu_faults[] = {
	{ "soft", lab_fault_soft },
	{ "rcu", lab_fault_rcu },
	{ "irqoff", lab_fault_irqoff },
	{ "ipi", lab_fault_ipi },
	{ "hog", lab_fault_hog },
	{ "spin", lab_fault_spin },
	{ "rcusleep", lab_fault_rcusleep },
	{ "rcupreempt", lab_fault_rcupreempt },
	{ "rcuresume", lab_fault_rcuresume },
	{ NULL, NULL },
};
