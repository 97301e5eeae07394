// SPDX-License-Identifier: GPL-3.0-or-later
/* What the kernel guards against: it finds the mistake itself, beside or behind where that was
 * made. */
#include "faults.h"

#include <linux/delay.h>
#include <linux/kfence.h>
#include <linux/preempt.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#define LAB_LABEL     16
#define LAB_RECORD    64
#define LAB_GUARDED   20000 /* allocations, of which one in a while is guarded */
#define LAB_GUARD_US  50
#define LAB_TEXT_SIZE 40

static const char lab_text[LAB_TEXT_SIZE] = "a name that is too long";
static char lab_labels[2 * LAB_LABEL];
static DEFINE_SPINLOCK(lab_lock);

/* A compiler that knew the length would see the mistake. */
static noinline size_t lab_text_size(void)
{
	return READ_ONCE(lab_device->bytes);
}

/* Behind the label lies the canary. */
static noinline int lab_device_label(struct lab_device *device, const char *text, size_t size)
{
	char label[LAB_LABEL];
	char *to = label;
	size_t i;

	OPTIMIZER_HIDE_VAR(to);
	for (i = 0; i < size; i++)
		to[i] = text[i];
	barrier_data(label);
	return label[device->users & 1];
}

static noinline int lab_fault_smash(struct lab_device *device)
{
	device->bytes = LAB_LABEL + sizeof(long);
	return lab_device_label(device, lab_text, lab_text_size()) + 1;
}

/* As if the stack had grown to its very end, and over the mark that lies there. */
static noinline int lab_device_nest(struct lab_device *device)
{
	WRITE_ONCE(*end_of_stack(current), device->id);
	msleep(20);
	return device->users;
}

static noinline int lab_fault_stackend(struct lab_device *device)
{
	return lab_device_nest(device) + 1;
}

static noinline int lab_device_export(struct lab_device *device, const void *record, size_t size)
{
	void __user *to = (void __user *)current->mm->start_stack;

	return copy_to_user(to, record, size) ? -EFAULT : device->users;
}

static noinline int lab_fault_usercopy(struct lab_device *device)
{
	void *record = kzalloc(LAB_RECORD, GFP_KERNEL);

	if (!record)
		return -ENOMEM;
	device->bytes = 2 * LAB_RECORD;
	return lab_device_export(device, record, lab_text_size()) + 1;
}

static noinline int lab_device_describe(struct lab_device *device, const char *text, size_t size)
{
	memcpy(lab_labels, text, size);
	return device->users + lab_labels[0];
}

static noinline int lab_fault_fortify(struct lab_device *device)
{
	device->bytes = LAB_TEXT_SIZE;
	return lab_device_describe(device, lab_text, lab_text_size()) + 1;
}

static noinline void lab_record_put(void *record)
{
	kfree(record);
}

static noinline int lab_fault_doublefree(struct lab_device *device)
{
	void *record = kzalloc(LAB_RECORD, GFP_KERNEL);

	if (!record)
		return -ENOMEM;
	preempt_disable();
	lab_record_put(record);
	lab_record_put(record);
	preempt_enable();
	return device->users;
}

static noinline u64 lab_record_first(const u64 *record)
{
	return READ_ONCE(*record);
}

/* One allocation in a while has a page of its own, which nobody may touch when it was freed. */
static noinline int lab_fault_kfence(struct lab_device *device)
{
	u64 *record;
	int i;

	for (i = 0; i < LAB_GUARDED; i++) {
		record = kzalloc(LAB_RECORD, GFP_KERNEL);
		if (!record)
			return -ENOMEM;
		kfree(record);
		if (is_kfence_address(record))
			return lab_record_first(record) + device->users;
		udelay(LAB_GUARD_US);
	}
	return -ENODEV;
}

/* Who has a spinlock must not sleep. */
static noinline int lab_device_settle(struct lab_device *device)
{
	spin_lock(&lab_lock);
	msleep(20);
	spin_unlock(&lab_lock);
	return device->users;
}

static noinline int lab_fault_atomic(struct lab_device *device)
{
	return lab_device_settle(device) + 1;
}

const struct fault lab_guard_faults[] = {
	{ "smash", lab_fault_smash },		{ "stackend", lab_fault_stackend },
	{ "usercopy", lab_fault_usercopy },	{ "fortify", lab_fault_fortify },
	{ "doublefree", lab_fault_doublefree }, { "kfence", lab_fault_kfence },
	{ "atomic", lab_fault_atomic },		{ NULL, NULL },
};
