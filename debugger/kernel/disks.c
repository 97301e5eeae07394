// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/disks.h"

#include "base/interrupt.h"
#include "debugger/kernel/walk.h"

#define QUEUES_MAX 65536
#define TAGS_MAX   65536 /* of a hardware queue; drivers ask for 10240 at most (BLK_MQ_MAX_DEPTH) */

struct disks {
	struct target *target;
	disk_visitor *visit;
	void *context;
};

static struct error *end_walk(void *context, struct error *problem)
{
	(void)context;
	return problem;
}

/* --- disks ------------------------------------------------------------------------------------ */

/*
 * Partitions have the disk of the whole. That says which device is the whole, or (up to 5.10, where
 * part0 is no device) each device does.
 */
static struct error *whole_device(const struct object *device, const struct object *gendisk,
				  uint64_t *ret)
{
	bool each_says = object_has(device, "bd_contains");
	return object_u64(each_says ? device : gendisk, each_says ? "bd_contains" : "part0", ret);
}

static struct error *visit_inode(void *context, const struct walk_item *item)
{
	struct disks *disks = context;
	struct object inode, whole, device, gendisk;
	struct disk disk = { 0 };
	uint64_t first;
	TRY(object_container(disks->target, "struct inode", "i_sb_list", item->address, &inode));
	TRY(object_container(disks->target, "struct bdev_inode", "vfs_inode", inode.address,
			     &whole));
	TRY(object_member(&whole, "bdev", &device));
	TRY(object_follow(&device, "bd_disk", &gendisk));
	disk.address = gendisk.address;
	if (!disk.address)
		return NULL;
	TRY(whole_device(&device, &gendisk, &first));
	if (first != device.address)
		return NULL;
	TRY(object_u64(&gendisk, "queue", &disk.queue));
	TRY(object_string(&gendisk, "disk_name", disk.name, sizeof(disk.name)));
	return disk.queue ? disks->visit(disks->context, &disk) : NULL;
}

static struct error *device_filesystem(struct target *target, struct object *ret)
{
	struct object pointer;
	TRY(object_variable(target, "blockdev_superblock", "unsigned long", &pointer));
	uint64_t address;
	TRY(object_u64(&pointer, NULL, &address));
	return object_at(target, "struct super_block", address, ret);
}

struct error *disks_for_each(struct target *target, disk_visitor *visit, void *context)
{
	struct disks disks = { target, visit, context };
	struct walk walk = { target, visit_inode, end_walk, &disks };
	struct object filesystem, inodes;
	TRY(device_filesystem(target, &filesystem));
	TRY(object_member(&filesystem, "s_inodes", &inodes));
	return walk_list(&walk, inodes.address, false);
}

struct error *block_device_of_inode(struct target *target, uint64_t inode, uint64_t *ret)
{
	struct object object, filesystem, whole, device;
	uint64_t its;
	*ret = 0;
	TRY(object_at(target, "struct inode", inode, &object));
	TRY(object_u64(&object, "i_sb", &its));
	TRY(device_filesystem(target, &filesystem));
	if (!its || its != filesystem.address)
		return NULL;
	TRY(object_container(target, "struct bdev_inode", "vfs_inode", inode, &whole));
	TRY(object_member(&whole, "bdev", &device));
	*ret = device.address;
	return NULL;
}

/* --- requests --------------------------------------------------------------------------------- */

struct requests {
	struct target *target;
	uint64_t queue, in_flight; /* the value of the state */
	disk_request_visitor *visit;
	void *context;
	uint64_t *left;
};

/* A tag leads to who had it last: only one that is on its way says that it has it now. */
static struct error *look_at_request(struct requests *requests, const struct object *hardware,
				     uint64_t address, uint64_t tag)
{
	struct object request;
	struct disk_request found = { .address = address };
	uint64_t queue, context, state, its_tag;
	TRY(object_at(requests->target, "struct request", address, &request));
	TRY(object_u64(&request, "q", &queue));
	TRY(object_u64(&request, "mq_hctx", &context));
	TRY(object_u64(&request, "state", &state));
	TRY(object_u64(&request, "tag", &its_tag));
	if (queue != requests->queue || context != hardware->address ||
	    state != requests->in_flight || (uint32_t)its_tag != tag)
		return NULL;
	if (object_has(&request, "start_time_ns"))
		TRY(object_u64(&request, "start_time_ns", &found.start));
	TRY(object_u64(&request, "__sector", &found.sector));
	TRY(object_u64(&request, "__data_len", &found.bytes));
	return requests->visit(requests->context, &found);
}

static struct error *look_at_hardware(struct requests *requests, const struct object *hardware)
{
	struct memory *memory = requests->target->memory;
	struct object tags;
	uint64_t count, table;
	TRY(object_follow(hardware, "tags", &tags));
	if (!tags.address)
		return NULL;
	TRY(object_u64(&tags, "nr_tags", &count));
	TRY(object_u64(&tags, "rqs", &table));
	if (count > TAGS_MAX)
		return error_create(ERROR_FORMAT, "a disk has more tags than there can be");
	for (uint64_t i = 0; i < count && *requests->left; i++, --*requests->left) {
		uint64_t request;
		TRY(memory_read_word(memory, table + i * memory->word_size, &request));
		if (request)
			TRY(error_only_fatal(look_at_request(requests, hardware, request, i)));
	}
	return NULL;
}

static struct error *visit_hardware(void *context, const struct walk_item *item)
{
	struct requests *requests = context;
	struct object hardware;
	TRY(object_at(requests->target, "struct blk_mq_hw_ctx", item->address, &hardware));
	return look_at_hardware(requests, &hardware);
}

/* Each says which one it is: one that is met again is not at its place. */
static struct error *visit_array(struct requests *requests, const struct object *queue)
{
	struct memory *memory = requests->target->memory;
	uint64_t count, table;
	TRY(object_u64(queue, "nr_hw_queues", &count));
	TRY(object_u64(queue, "queue_hw_ctx", &table));
	if (count > QUEUES_MAX)
		return error_create(ERROR_FORMAT, "a disk has more queues than there can be");
	for (uint64_t i = 0; table && i < count && *requests->left; i++) {
		struct object hardware;
		uint64_t address, number;
		TRY(interrupt_check());
		TRY(memory_read_word(memory, table + i * memory->word_size, &address));
		if (!address)
			continue;
		TRY(object_at(requests->target, "struct blk_mq_hw_ctx", address, &hardware));
		TRY(object_u64(&hardware, "queue_num", &number));
		if (number == i)
			TRY(look_at_hardware(requests, &hardware));
	}
	return NULL;
}

struct error *disk_requests_for_each(struct target *target, const struct disk *disk,
				     disk_request_visitor *visit, void *context, uint64_t *left)
{
	struct requests requests = { .target = target,
				     .queue = disk->queue,
				     .visit = visit,
				     .context = context,
				     .left = left };
	struct walk walk = { target, visit_hardware, end_walk, &requests };
	struct object queue, table;
	struct btf_enumerator state;
	uint32_t id;
	TRY(object_at(target, "struct request_queue", disk->queue, &queue));
	if (!btf_find_enumerator(target->btf, "MQ_RQ_IN_FLIGHT", &id, &state))
		return NULL;
	requests.in_flight = (uint64_t)state.value;
	/* An array before 4e5cc99e1e48 (5.19), and again in 7.3. */
	if (!object_has(&queue, "hctx_table"))
		return object_has(&queue, "queue_hw_ctx") ? visit_array(&requests, &queue) : NULL;
	TRY(object_member(&queue, "hctx_table", &table));
	return walk_xarray(&walk, table.address);
}
