/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Types by which disks are found from the inodes of their devices, in layouts of the tests' own. */
#ifndef TESTS_UNIT_DISK_TYPES_H
#define TESTS_UNIT_DISK_TYPES_H

#include "tests/unit/kernel_data.h"

/*
 * struct gendisk of 5.10: its queue, its name of 32 bytes at `name_at`; the caller may add members.
 * Returns its number. Its devices have bd_contains, behind the pointer to their disk.
 */
static inline int add_old_gendisk(struct libbpf_btf *btf, int ulong, int letter, size_t size,
				  size_t name_at)
{
	int name = btf__add_array(btf, ulong, letter, 32);
	int disk = btf__add_struct(btf, "gendisk", (uint32_t)size);
	add_member(btf, "queue", ulong, 8);
	add_member(btf, "disk_name", name, (uint32_t)name_at);
	return disk;
}

/* The same of today: it begins with its first device. */
static inline int add_gendisk(struct libbpf_btf *btf, int ulong, int letter, size_t size,
			      size_t name_at)
{
	int disk = add_old_gendisk(btf, ulong, letter, size, name_at);
	add_member(btf, "part0", ulong, 0);
	return disk;
}

static inline void add_devices_of(struct libbpf_btf *btf, bool is_old, int ulong, int list,
				  int disk, size_t size, size_t inode_at)
{
	int inode = btf__add_struct(btf, "inode", 24);
	add_member(btf, "i_sb_list", list, 0);
	add_member(btf, "i_sb", ulong, 16);
	int to_disk = btf__add_ptr(btf, disk);
	int device = btf__add_struct(btf, "block_device", is_old ? 16 : 8);
	add_member(btf, "bd_disk", to_disk, 0);
	if (is_old)
		add_member(btf, "bd_contains", ulong, 8);
	btf__add_struct(btf, "bdev_inode", (uint32_t)size);
	add_member(btf, "bdev", device, 0);
	add_member(btf, "vfs_inode", inode, (uint32_t)inode_at);
	btf__add_struct(btf, "super_block", 16);
	add_member(btf, "s_inodes", list, 0);
}

/* A device of `size` bytes begins with a pointer to its disk, and has its inode at `inode_at`. */
static inline void add_devices(struct libbpf_btf *btf, int ulong, int list, int disk, size_t size,
			       size_t inode_at)
{
	add_devices_of(btf, false, ulong, list, disk, size, inode_at);
}

static inline void add_old_devices(struct libbpf_btf *btf, int ulong, int list, int disk,
				   size_t size, size_t inode_at)
{
	add_devices_of(btf, true, ulong, list, disk, size, inode_at);
}

/* Returns the number of struct xarray. */
static inline int add_xarray(struct libbpf_btf *btf, int ulong, int letter)
{
	int slots = btf__add_array(btf, ulong, ulong, 64);
	btf__add_struct(btf, "xa_node", 16 + 64 * 8);
	add_member(btf, "shift", letter, 0);
	add_member(btf, "offset", letter, 1);
	add_member(btf, "parent", ulong, 8);
	add_member(btf, "slots", slots, 16);
	int xarray = btf__add_struct(btf, "xarray", 16);
	add_member(btf, "xa_head", ulong, 8);
	return xarray;
}

/*
 * struct request_queue, which leads to its hardware queues by an xarray, and those to their tags.
 * Returns a pointer to struct blk_mq_hw_ctx.
 */
static inline int add_queue_of_hardware(struct libbpf_btf *btf, int ulong, int letter)
{
	int xarray = add_xarray(btf, ulong, letter);
	btf__add_struct(btf, "request_queue", 16);
	add_member(btf, "hctx_table", xarray, 0);
	int tags = btf__add_struct(btf, "blk_mq_tags", 16);
	add_member(btf, "nr_tags", ulong, 0);
	add_member(btf, "rqs", ulong, 8);
	int to_tags = btf__add_ptr(btf, tags);
	int hardware = btf__add_struct(btf, "blk_mq_hw_ctx", 24);
	add_member(btf, "tags", to_tags, 0);
	add_member(btf, "queue_num", ulong, 8);
	add_member(btf, "queue", ulong, 16);
	return btf__add_ptr(btf, hardware);
}

#endif
