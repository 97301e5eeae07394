// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/device_mapper.h"

#include <inttypes.h>
#include <string.h>

/* All disks of the device mapper, and no others, have this function. */
#define IOCTL "dm_blk_ioctl"

struct error *device_mapper_find(struct target *target, uint64_t disk, struct object *ret)
{
	struct object gendisk, operations;
	struct symbol symbol;
	uint64_t function, offset, address, its;
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
	TRY(object_u64(&gendisk, "private_data", &address));
	if (!address)
		return NULL;
	TRY(target_find_type(target, target_symbol_btf(target, &symbol), "struct mapped_device",
			     &ret->type));
	ret->address = address;
	TRY(object_u64(ret, "disk", &its));
	if (its != disk)
		return error_create(ERROR_FORMAT, "mapped_device 0x%" PRIx64 " is another disk's",
				    address);
	return NULL;
}

struct error *device_mapper_is_suspended(struct target *target, uint64_t device, bool *ret)
{
	struct object block, mapped;
	uint64_t disk, flags;
	*ret = false;
	TRY(object_at(target, "struct block_device", device, &block));
	TRY(object_u64(&block, "bd_disk", &disk));
	if (!disk)
		return NULL;
	TRY(device_mapper_find(target, disk, &mapped));
	if (!mapped.address)
		return NULL;
	TRY(object_u64(&mapped, "flags", &flags));
	*ret = flags & DEVICE_MAPPER_SUSPENDED;
	return NULL;
}
