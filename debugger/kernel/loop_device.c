// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/loop_device.h"

#include <string.h>

/* All loop devices, and no other disks, have this function. */
#define IOCTL "lo_ioctl"

struct error *loop_device_find(struct target *target, uint64_t disk, struct object *ret)
{
	struct object gendisk, operations, loop = { .target = target };
	struct symbol symbol;
	uint64_t function, offset, its;
	char name[SYMBOL_NAME_SIZE];
	*ret = (struct object){ .target = target };
	TRY(object_at(target, "struct gendisk", disk, &gendisk));
	TRY(object_follow(&gendisk, "fops", &operations));
	if (!operations.address)
		return NULL;
	TRY(object_u64(&operations, "ioctl", &function));
	if (!function || !target_symbol_at_into(target, function, name, &symbol, &offset) ||
	    offset || strcmp(symbol.name, IOCTL) != 0)
		return NULL;
	TRY(object_u64(&gendisk, "private_data", &loop.address));
	TRY(target_find_type(target, target_symbol_btf(target, &symbol), "struct loop_device",
			     &loop.type));
	TRY(object_u64(&loop, "lo_disk", &its));
	if (its == disk)
		*ret = loop;
	return NULL;
}

struct error *loop_device_queue(const struct object *loop, uint64_t *ret)
{
	*ret = 0;
	return object_has(loop, "workqueue") ? object_u64(loop, "workqueue", ret) : NULL;
}

struct error *loop_device_inode(const struct object *loop, uint64_t *ret)
{
	struct object file;
	*ret = 0;
	TRY(object_follow(loop, "lo_backing_file", &file));
	return file.address ? object_u64(&file, "f_inode", ret) : NULL;
}
