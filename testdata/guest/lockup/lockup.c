// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * lockup: CPUs that never answer again.
 *
 * Writing to /sys/module/lockup/parameters/start makes CPU 2 wait for ever in a kernel thread with
 * interrupts off, and CPU 1 in an interrupt that came while a kernel thread ran there; if "nmi" is
 * written, in an NMI, and no other NMI reaches a CPU before it has left one. The write returns when
 * both wait. Tests know the functions by their names.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>

#include <asm/apic.h>
#include <asm/nmi.h>

#define INTERRUPT_CPU 1
#define THREAD_CPU    2

static bool lockup_over; /* which it never is */
static bool lockup_is_busy, lockup_in_thread, lockup_in_interrupt, lockup_in_nmi;

/* With interrupts off it is not woken; one that spins takes an emulator's time from the others. */
static noinline void lockup_wait(bool *arrived)
{
	WRITE_ONCE(*arrived, true);
	while (!READ_ONCE(lockup_over))
		asm volatile("hlt" : : : "memory");
}

/* A number that is kept across the call makes the frame more than a return address. */
static noinline unsigned long lockup_inner(bool *arrived, unsigned long number)
{
	lockup_wait(arrived);
	return number * 3;
}

static noinline unsigned long lockup_outer(bool *arrived, unsigned long number)
{
	return lockup_inner(arrived, number + 1) + number;
}

/* It has slept before, deeper in its stack than it is then: what that left there is no trace. */
static int lockup_thread(void *unused)
{
	unsigned long number;

	msleep(20);
	local_irq_disable();
	number = lockup_outer(&lockup_in_thread, 42);
	local_irq_enable();
	return number & 1;
}

static noinline unsigned long lockup_count(unsigned long number)
{
	for (; !READ_ONCE(lockup_over); number++)
		cpu_relax();
	return number;
}

static int lockup_busy(void *unused)
{
	WRITE_ONCE(lockup_is_busy, true);
	return lockup_count(7) & 1;
}

static void lockup_interrupt(void *unused)
{
	lockup_outer(&lockup_in_interrupt, 43);
}

static call_single_data_t lockup_call;

static int lockup_nmi(unsigned int type, struct pt_regs *interrupted)
{
	if (smp_processor_id() != INTERRUPT_CPU)
		return NMI_DONE;
	lockup_outer(&lockup_in_nmi, 44);
	return NMI_HANDLED;
}

static int lockup_start_thread(int (*run)(void *), unsigned int cpu, const char *name)
{
	struct task_struct *task = kthread_create_on_node(run, NULL, cpu_to_node(cpu), "%s", name);

	if (IS_ERR(task))
		return PTR_ERR(task);
	kthread_bind(task, cpu);
	wake_up_process(task);
	return 0;
}

/* It does not sleep: who would wake it may hang by now. */
static void lockup_await(bool *arrived)
{
	while (!READ_ONCE(*arrived))
		cpu_relax();
}

static int lockup_send_interrupt(void)
{
	int error;

	lockup_call.func = lockup_interrupt;
	error = smp_call_function_single_async(INTERRUPT_CPU, &lockup_call);
	if (error)
		return error;
	lockup_await(&lockup_in_interrupt);
	return 0;
}

static int lockup_send_nmi(void)
{
	int error = register_nmi_handler(NMI_LOCAL, lockup_nmi, 0, "lockup");

	if (error)
		return error;
	apic->send_IPI(INTERRUPT_CPU, NMI_VECTOR);
	lockup_await(&lockup_in_nmi);
	return 0;
}

static int lockup_start(const char *value, const struct kernel_param *parameter)
{
	int error = lockup_start_thread(lockup_busy, INTERRUPT_CPU, "lockup-busy");

	if (error)
		return error;
	lockup_await(&lockup_is_busy);
	error = lockup_start_thread(lockup_thread, THREAD_CPU, "lockup-thread");
	if (error)
		return error;
	lockup_await(&lockup_in_thread);
	return sysfs_streq(value, "nmi") ? lockup_send_nmi() : lockup_send_interrupt();
}

static const struct kernel_param_ops lockup_start_ops = { .set = lockup_start };
module_param_cb(start, &lockup_start_ops, NULL, 0200);

static int __init lockup_init(void)
{
	return num_online_cpus() > THREAD_CPU ? 0 : -ENODEV;
}
module_init(lockup_init);

/* Threads that stay need the module: there is no way out. */
MODULE_DESCRIPTION("CPUs that lock up, for tests of what a dump says of them");
MODULE_LICENSE("GPL");
