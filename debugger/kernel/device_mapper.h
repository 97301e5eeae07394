/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Disks that the device mapper makes of others (kernel drivers/md/dm.c, dm-core.h). */
#ifndef DEBUGGER_KERNEL_DEVICE_MAPPER_H
#define DEBUGGER_KERNEL_DEVICE_MAPPER_H

#include "debugger/target/object.h"

#define DEVICE_MAPPER_SUSPENDED ((uint64_t)1 << 1) /* DMF_SUSPENDED of its flags */

/*
 * The struct mapped_device of the struct gendisk at `disk`; at address 0: it is none of the device
 * mapper's. Its type is that of the device mapper's module, where it is one.
 */
struct error *device_mapper_find(struct target *target, uint64_t disk,
				 struct object *ret) MUST_CHECK;

/*
 * Whether the disk of the struct block_device at `device` is one of them, and is suspended: then
 * what is asked of it waits.
 */
struct error *device_mapper_is_suspended(struct target *target, uint64_t device,
					 bool *ret) MUST_CHECK;

#endif
