// SPDX-License-Identifier: GPL-3.0-or-later
/* Calls and accesses through pointers that are NULL, or that are none. */
#include "faults.h"

#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#define LAB_TABLE_PAGES 2

noinline int lab_device_start(struct lab_device *device)
{
	return device->ops->start(device) + 1;
}

static noinline int lab_device_open(struct lab_device *device, u32 mode)
{
	device->mode = mode;
	device->users++;
	return lab_device_start(device) + device->users;
}

noinline int lab_fault_null(struct lab_device *device)
{
	device->ops = NULL;
	return lab_device_open(device, 3) + 1;
}

static noinline int lab_device_set_mode(struct lab_device *device, u32 mode)
{
	device->mode = mode;
	device->notify(device, mode);
	return device->users;
}

static noinline int lab_fault_jump(struct lab_device *device)
{
	device->notify = NULL;
	return lab_device_set_mode(device, 5) + 1;
}

static noinline u32 lab_device_depth(struct lab_device *device)
{
	u32 depth = 0;

	for (; device->id; device = device->parent)
		depth++;
	return depth;
}

static noinline int lab_fault_wild(struct lab_device *device)
{
	device->parent = (struct lab_device *)0x0bad1dea0bad1deaul;
	return lab_device_depth(device) + 1;
}

/* Who has no device has an error instead. */
static noinline struct lab_device *lab_device_find(const char *name)
{
	return sysfs_streq(lab_device->name, name) ? lab_device : ERR_PTR(-ENOMEM);
}

static noinline int lab_fault_errptr(struct lab_device *device)
{
	struct lab_device *other = lab_device_find("lab1");

	return other->id + device->id;
}

/* A pointer that the user gave, and that is followed as if it were the kernel's. */
static noinline int lab_device_configure(struct lab_device *device, const struct lab_config *config)
{
	device->interval = config->rate;
	device->mode = config->mode;
	return device->mode & 1;
}

static noinline int lab_fault_user(struct lab_device *device)
{
	return lab_device_configure(device, (void *)ALIGN_DOWN(current->mm->arg_start, 8)) + 1;
}

/* Behind the table lies a page that is never mapped. */
static noinline u64 lab_table_sum(const u64 *table, size_t count)
{
	u64 sum = 0;
	size_t i;

	for (i = 0; i < count; i++)
		sum += READ_ONCE(table[i]);
	return sum;
}

static noinline int lab_fault_overrun(struct lab_device *device)
{
	u64 *table = vzalloc(LAB_TABLE_PAGES * PAGE_SIZE);

	if (!table)
		return -ENOMEM;
	device->bytes = lab_table_sum(table, LAB_TABLE_PAGES * PAGE_SIZE / sizeof(*table) + 1);
	return 1;
}

/* In front of it lies the page that is left free behind another one. */
static noinline u64 lab_table_before(const u64 *table)
{
	return READ_ONCE(table[-1]);
}

static noinline int lab_fault_underrun(struct lab_device *device)
{
	u64 *table = vzalloc(LAB_TABLE_PAGES * PAGE_SIZE);

	if (!table)
		return -ENOMEM;
	device->bytes = lab_table_before(table);
	return 1;
}

/* No area has it any more, nor do the page tables. */
static noinline int lab_fault_unmapped(struct lab_device *device)
{
	u64 *table = vzalloc(LAB_TABLE_PAGES * PAGE_SIZE);

	if (!table)
		return -ENOMEM;
	vfree(table);
	vm_unmap_aliases();
	device->bytes = lab_table_sum(table, 1);
	return 1;
}

/* What the loader made read-only when the module had started. */
static noinline int lab_device_rename(struct lab_device *device, const char *name)
{
	struct lab_ops *ops = (struct lab_ops *)device->ops;

	WRITE_ONCE(ops->name, name);
	return device->users;
}

static noinline int lab_fault_constant(struct lab_device *device)
{
	return lab_device_rename(device, "lab1") + 1;
}

/* Data is no code, wherever it lies. */
static noinline int lab_fault_noexec(struct lab_device *device)
{
	device->notify = (void *)&device->bytes;
	return lab_device_set_mode(device, 6) + 1;
}

/* What the program that asks runs is not for the kernel to run. */
static noinline int lab_fault_usercode(struct lab_device *device)
{
	device->notify = (void *)current->mm->start_code;
	return lab_device_set_mode(device, 7) + 1;
}

/*
 * A pointer with a mark in its lowest bit, that nobody took off: the byte behind the first one of
 * the instruction that calls or steps over the tracer begins none.
 */
static noinline void lab_device_noted(struct lab_device *device, u32 mode)
{
	device->bytes += mode;
}

static noinline int lab_fault_midway(struct lab_device *device)
{
	const u8 *code = (const u8 *)lab_device_noted;

	if (!memcmp(code, "\xf3\x0f\x1e\xfa", 4)) /* endbr64 */
		code += 4;
	device->notify = (void *)(code + 1);
	return lab_device_set_mode(device, 8) + 1;
}

/* The compiler takes the buffer to be aligned, as its type says. */
static noinline void lab_device_load(const void *buffer)
{
	asm volatile("movaps (%0), %%xmm0" : : "r"(buffer) : "memory");
}

static noinline int lab_fault_misaligned(struct lab_device *device)
{
	lab_device_load((const u8 *)&device->bytes + 1);
	return device->users;
}

const struct fault lab_pointer_faults[] = {
	{ "null", lab_fault_null },
	{ "jump", lab_fault_jump },
	{ "wild", lab_fault_wild },
	{ "errptr", lab_fault_errptr },
	{ "user", lab_fault_user },
	{ "overrun", lab_fault_overrun },
	{ "underrun", lab_fault_underrun },
	{ "unmapped", lab_fault_unmapped },
	{ "constant", lab_fault_constant },
	{ "noexec", lab_fault_noexec },
	{ "usercode", lab_fault_usercode },
	{ "midway", lab_fault_midway },
	{ "misaligned", lab_fault_misaligned },
	{ NULL, NULL },
};
