// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * faults: a driver of a device that there is not, with a mistake for every way to die.
 *
 * Writing a name of the tables to /sys/module/faults/parameters/start makes that mistake, in the
 * task that writes unless the name says where: in a timer, in a tasklet, in a work item. Tests know
 * the functions, the types and their members by their names.
 */
#include "faults.h"

#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

struct lab_device *lab_device;

static const struct fault *const tables[] = {
	lab_pointer_faults, lab_list_faults,	  lab_claim_faults, lab_elsewhere_faults,
	lab_cpu_faults,	    lab_watchdog_faults,  lab_storm_faults, lab_memory_faults,
	lab_guard_faults,   lab_neighbour_faults,
};

static int faults_start(const char *value, const struct kernel_param *parameter)
{
	const struct fault *fault;
	int i, result;

	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		for (fault = tables[i]; fault->name; fault++) {
			if (!sysfs_streq(value, fault->name))
				continue;
			result = fault->make(lab_device);
			return result < 0 ? result : 0;
		}
	}
	return -EINVAL;
}

static const struct kernel_param_ops faults_start_ops = { .set = faults_start };
module_param_cb(start, &faults_start_ops, NULL, 0200);

static int lab_null_start(struct lab_device *device)
{
	return device->users;
}

static void lab_null_notify(struct lab_device *device, u32 mode)
{
	device->bytes += mode;
}

static const struct lab_ops lab_null_ops = {
	.start = lab_null_start,
	.stop = lab_null_start,
	.name = "null",
};

struct kmem_cache *lab_cache(const char *name, size_t size)
{
	return kmem_cache_create_usercopy(name, size, 8, 0, 0, size, NULL);
}

static int __init faults_init(void)
{
	lab_device = kzalloc(sizeof(*lab_device), GFP_KERNEL);
	if (!lab_device)
		return -ENOMEM;
	lab_device->name = "lab0";
	lab_device->id = 42;
	lab_device->ops = &lab_null_ops;
	lab_device->notify = lab_null_notify;
	lab_elsewhere_init(lab_device);
	return lab_memory_init() ?: lab_lists_init(lab_device);
}
module_init(faults_init);

/* What it breaks cannot be mended: there is no way out. */
MODULE_DESCRIPTION("mistakes of a driver, for tests of what a dump says of them");
MODULE_LICENSE("GPL");
