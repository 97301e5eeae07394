// SPDX-License-Identifier: GPL-3.0-or-later
/* What the code itself says is wrong, or what its numbers are not good for. */
#include "faults.h"

#include <linux/bug.h>
#include <linux/panic.h>
#include <linux/refcount.h>
#include <linux/string.h>

#define LAB_PATH_SIZE 200

/* A compiler that knew from its callers how many there are would leave no condition. */
static __attribute__((noipa)) int lab_device_put(struct lab_device *device)
{
	BUG_ON(device->users <= 0);
	return --device->users;
}

static noinline int lab_fault_bug(struct lab_device *device)
{
	device->users = 0;
	return lab_device_put(device) + 1;
}

static noinline int lab_device_check(struct lab_device *device)
{
	WARN_ON(device->users > 100);
	return device->users;
}

static noinline int lab_fault_warn(struct lab_device *device)
{
	device->users = 1000;
	return lab_device_check(device) + 1;
}

/* The kernel counts for us, and warns of a count that cannot be. */
static noinline int lab_device_release(struct lab_device *device)
{
	return refcount_dec_and_test(&device->references) ? device->users : -1;
}

static noinline int lab_fault_refcount(struct lab_device *device)
{
	refcount_set(&device->references, 1);
	return lab_device_release(device) + lab_device_release(device);
}

static noinline int lab_device_reset(struct lab_device *device)
{
	if (device->mode)
		panic("%s: the controller does not answer (mode %u)\n", device->name, device->mode);
	return device->users;
}

static noinline int lab_fault_panic(struct lab_device *device)
{
	device->mode = 7;
	return lab_device_reset(device) + 1;
}

static noinline u64 lab_device_rate(struct lab_device *device)
{
	return device->bytes / device->interval;
}

/* The interval is 0 from the beginning: a compiler that saw it here would make a trap of it. */
static noinline int lab_fault_divide(struct lab_device *device)
{
	device->bytes = 4096;
	return lab_device_rate(device) & 1;
}

/* A device that is its own parent has a path without an end. */
static noinline size_t lab_device_path(struct lab_device *device, size_t length)
{
	char path[LAB_PATH_SIZE];

	memset(path, 'a' + length % 26, sizeof(path));
	barrier_data(path);
	if (device->parent)
		length = lab_device_path(device->parent, length + 1);
	return length + path[length % sizeof(path)];
}

static noinline int lab_fault_overflow(struct lab_device *device)
{
	device->parent = device;
	return lab_device_path(device, 0) & 1;
}

const struct fault lab_claim_faults[] = {
	{ "bug", lab_fault_bug },
	{ "warn", lab_fault_warn },
	{ "refcount", lab_fault_refcount },
	{ "panic", lab_fault_panic },
	{ "divide", lab_fault_divide },
	{ "overflow", lab_fault_overflow },
	{ NULL, NULL },
};
