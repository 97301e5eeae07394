// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Interrupts without an end: the device's own, which asks for the next one as soon as it is served,
 * a tasklet that schedules itself, and a timer that is due again at once.
 */
#include "faults.h"

#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/irq.h>
#include <linux/jiffies.h>
#include <linux/smp.h>
#include <linux/timer.h>

#include <asm/apic.h>
#include <asm/hw_irq.h>

#define LAB_LINE 10 /* of the interrupt controller; nothing else is there */

static struct tasklet_struct lab_poller;
static struct timer_list lab_runaway;

/* As if the device held its line: the vector that the line has on this CPU is sent to it again. */
static irqreturn_t lab_device_interrupt(int line, void *unused)
{
	struct lab_device *device = lab_device;

	device->bytes++;
	if (!READ_ONCE(device->mode))
		apic->send_IPI(smp_processor_id(), irqd_cfg(irq_get_irq_data(line))->vector);
	return IRQ_HANDLED;
}

static void lab_first_interrupt(void *unused)
{
	apic->send_IPI(smp_processor_id(), irqd_cfg(irq_get_irq_data(LAB_LINE))->vector);
}

static noinline int lab_fault_storm(struct lab_device *device)
{
	const struct cpumask *cpus;
	int error;

	device->mode = 0;
	error = request_irq(LAB_LINE, lab_device_interrupt, IRQF_NOBALANCING, "lab0", &lab_device);
	if (error)
		return error;
	/* Where the line goes: on other CPUs its vector is nobody's. */
	cpus = irq_data_get_effective_affinity_mask(irq_get_irq_data(LAB_LINE));
	return smp_call_function_single(cpumask_first(cpus), lab_first_interrupt, NULL, 0);
}

static void lab_device_poll_again(struct tasklet_struct *tasklet)
{
	lab_device->bytes++;
	tasklet_schedule(tasklet);
}

static void lab_schedule_poller(void *unused)
{
	tasklet_schedule(&lab_poller);
}

static noinline int lab_fault_tasklets(struct lab_device *device)
{
	tasklet_setup(&lab_poller, lab_device_poll_again);
	smp_call_function_single(num_online_cpus() - 1, lab_schedule_poller, NULL, 1);
	msleep(5000);
	return 0;
}

/* It is due when it is set: the softirq that runs timers never comes to their end. */
static void lab_device_expire(struct timer_list *timer)
{
	lab_device->bytes++;
	mod_timer(timer, jiffies);
	mdelay(2 * 1000 / HZ);
}

static noinline int lab_fault_timers(struct lab_device *device)
{
	timer_setup(&lab_runaway, lab_device_expire, TIMER_PINNED);
	lab_runaway.expires = jiffies + 1;
	add_timer_on(&lab_runaway, num_online_cpus() - 1);
	return 0;
}

const struct fault lab_storm_faults[] = {
	{ "storm", lab_fault_storm },
	{ "tasklets", lab_fault_tasklets },
	{ "timers", lab_fault_timers },
	{ NULL, NULL },
};
