// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A CPU that takes no interrupts, and the watchdog that finds out by NMIs. Emulators have no
 * counter whose overflow is one: another CPU sends them, and what that counter would call is
 * called.
 */
#include "faults.h"

#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include <asm/apic.h>
#include <asm/nmi.h>

#define LAB_PERIOD_MS 2000

static perf_overflow_handler_t lab_watchdog; /* the kernel's */
static struct perf_event lab_counter;
static unsigned int lab_watched;

static int lab_counter_overflow(unsigned int type, struct pt_regs *interrupted)
{
	if (smp_processor_id() != lab_watched)
		return NMI_DONE;
	lab_watchdog(&lab_counter, NULL, interrupted);
	return NMI_HANDLED;
}

static int lab_count(void *unused)
{
	for (;;) {
		msleep(LAB_PERIOD_MS);
		apic->send_IPI(lab_watched, NMI_VECTOR);
	}
	return 0;
}

/* Modules cannot call it by its name. */
static int lab_find_watchdog(void)
{
	struct kprobe probe = { .symbol_name = "watchdog_overflow_callback" };
	int error = register_kprobe(&probe);

	if (error)
		return error;
	lab_watchdog = (perf_overflow_handler_t)probe.addr;
	unregister_kprobe(&probe);
	return 0;
}

static noinline int lab_fault_hard(struct lab_device *device)
{
	int error = lab_find_watchdog();

	lab_watched = num_online_cpus() - 1;
	error = error ?: register_nmi_handler(NMI_LOCAL, lab_counter_overflow, 0, "lab");
	device->mode = 0;
	error = error ?: lab_start_thread(lab_spin_deaf, device, "lab-deaf");
	return error ?: lab_start_thread_on(lab_count, device, "lab-counter", 0);
}

const struct fault lab_watchdog_faults[] = {
	{ "hard", lab_fault_hard },
	{ NULL, NULL },
};
