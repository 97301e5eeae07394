// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/disks.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/kernel/device_sets.h"
#include "debugger/kernel/walk.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define QUEUES_MAX 65536
#define TAGS_MAX   65536 /* of a hardware queue; drivers ask for 10240 at most (BLK_MQ_MAX_DEPTH) */

struct disks {
	struct target *target;
	disk_visitor *visit;
	disk_broken *broken;
	void *context;
	/* Up to 5.10: the struct gendisk of those that were visited. */
	bool is_old, is_ended; /* by the visitor */
	uint64_t *seen;
	size_t seen_count, seen_capacity;
};

static struct error *tell(disk_broken *broken, void *context, struct error *problem)
{
	return problem && broken ? broken(context, problem) : problem;
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

/* Without a queue: it is no disk, or a part of one. */
static struct error *read_disk(const struct object *device, struct disk *ret)
{
	struct object gendisk;
	uint64_t first;
	TRY(object_follow(device, "bd_disk", &gendisk));
	ret->address = gendisk.address;
	if (!ret->address)
		return NULL;
	TRY(whole_device(device, &gendisk, &first));
	if (first != device->address)
		return NULL;
	TRY(object_string(&gendisk, "disk_name", ret->name, sizeof(ret->name)));
	return object_u64(&gendisk, "queue", &ret->queue);
}

static struct error *visit_inode(void *context, const struct walk_item *item)
{
	struct disks *disks = context;
	struct object inode, whole, device;
	struct disk disk = { 0 };
	TRY(object_container(disks->target, "struct inode", "i_sb_list", item->address, &inode));
	TRY(object_container(disks->target, "struct bdev_inode", "vfs_inode", inode.address,
			     &whole));
	TRY(object_member(&whole, "bdev", &device));
	struct error *error = read_disk(&device, &disk);
	if (error)
		return tell(disks->broken, disks->context,
			    error_prefix(error, "block device 0x%" PRIx64, device.address));
	if (!disk.queue)
		return NULL;
	if (disks->is_old) {
		if (!array_reserve(&disks->seen, &disks->seen_capacity, disks->seen_count + 1))
			return error_no_memory();
		disks->seen[disks->seen_count++] = disk.address;
	}
	return disks->visit(disks->context, &disk);
}

static struct error *broken_list(void *context, struct error *problem)
{
	struct disks *disks = context;
	return tell(disks->broken, disks->context, problem);
}

static struct error *device_filesystem(struct target *target, struct object *ret)
{
	struct object pointer;
	TRY(object_variable(target, "blockdev_superblock", "unsigned long", &pointer));
	uint64_t address;
	TRY(object_u64(&pointer, NULL, &address));
	return object_at(target, "struct super_block", address, ret);
}

/* --- disks that nobody has open, up to 5.10 --------------------------------------------------- */

static int compare_addresses(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* A device of block's class is a struct hd_struct, that of a whole disk lies in its gendisk. */
static struct error *read_part(const struct object *device, struct disk *ret)
{
	struct object part, gendisk;
	uint64_t number;
	TRY(object_container(device->target, "struct hd_struct", "__dev", device->address, &part));
	TRY(object_u64(&part, "partno", &number));
	if (number)
		return NULL;
	TRY(object_container(device->target, "struct gendisk", "part0.__dev", device->address,
			     &gendisk));
	ret->address = gendisk.address;
	TRY(object_string(&gendisk, "disk_name", ret->name, sizeof(ret->name)));
	return object_u64(&gendisk, "queue", &ret->queue);
}

static struct error *visit_part(void *context, const struct object *set,
				const struct object *device)
{
	struct disks *disks = context;
	struct disk disk = { 0 };
	(void)set;
	struct error *error = read_part(device, &disk);
	if (error)
		return tell(disks->broken, disks->context,
			    error_prefix(error, "device 0x%" PRIx64, device->address));
	if (!disk.queue || array_search(&disk.address, disks->seen, disks->seen_count,
					sizeof(*disks->seen), compare_addresses))
		return NULL;
	error = disks->visit(disks->context, &disk);
	disks->is_ended = error != NULL;
	return error;
}

static struct error *visit_closed(struct disks *disks)
{
	const struct device_visitor visitor = { visit_part, broken_list, disks };
	struct type part;
	uint64_t class;
	TRY(target_find_type(disks->target, NULL, "struct hd_struct", &part));
	if (!symtab_address(disks->target->symbols, "block_class", &class))
		return error_create(ERROR_NOT_FOUND, "the kernel has no symbol block_class");
	array_sort(disks->seen, disks->seen_count, sizeof(*disks->seen), compare_addresses);
	return class_devices_for_each(disks->target, class, &visitor);
}

/* --- all of them ------------------------------------------------------------------------------ */

static struct error *visit_disks(struct disks *disks)
{
	struct walk walk = { .target = disks->target,
			     .visit = visit_inode,
			     .broken = broken_list,
			     .context = disks };
	struct object filesystem, inodes, device;
	TRY(device_filesystem(disks->target, &filesystem));
	TRY(object_member(&filesystem, "s_inodes", &inodes));
	TRY(object_at(disks->target, "struct block_device", 0, &device));
	disks->is_old = object_has(&device, "bd_contains");
	TRY(walk_list(&walk, inodes.address, false));
	struct error *error = disks->is_old ? visit_closed(disks) : NULL;
	if (!error || disks->is_ended || error_is_fatal(error))
		return error;
	return tell(disks->broken, disks->context,
		    error_prefix(error, "disks that nobody has open"));
}

struct error *disks_for_each(struct target *target, disk_visitor *visit, disk_broken *broken,
			     void *context)
{
	struct disks disks = {
		.target = target, .visit = visit, .broken = broken, .context = context
	};
	struct error *error = visit_disks(&disks);
	free(disks.seen);
	return error;
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

/* --- hardware queues -------------------------------------------------------------------------- */

struct queues {
	struct target *target;
	disk_queue_visitor *visit;
	disk_broken *broken;
	void *context;
};

static struct error *broken_queue(void *context, struct error *problem)
{
	struct queues *queues = context;
	return tell(queues->broken, queues->context, problem);
}

/* Each says which one it is: one that is met again is not at its place. */
static struct error *look_at_queue(struct queues *queues, uint64_t address, uint64_t place)
{
	struct object hardware;
	uint64_t number;
	struct error *error = object_at(queues->target, "struct blk_mq_hw_ctx", address, &hardware);
	error = error ?: object_u64(&hardware, "queue_num", &number);
	if (error)
		return broken_queue(queues, error);
	return number == place ? queues->visit(queues->context, &hardware) : NULL;
}

static struct error *visit_hardware(void *context, const struct walk_item *item)
{
	return item->is_value ? NULL : look_at_queue(context, item->address, item->index);
}

static struct error *visit_array(struct queues *queues, const struct object *queue)
{
	struct memory *memory = queues->target->memory;
	uint64_t count, table;
	TRY(object_u64(queue, "nr_hw_queues", &count));
	TRY(object_u64(queue, "queue_hw_ctx", &table));
	if (count > QUEUES_MAX)
		return error_create(ERROR_FORMAT, "a disk has more queues than there can be");
	for (uint64_t i = 0; table && i < count; i++) {
		uint64_t address;
		TRY(interrupt_check());
		TRY(memory_read_word(memory, table + i * memory->word_size, &address));
		if (address)
			TRY(look_at_queue(queues, address, i));
	}
	return NULL;
}

struct error *disk_queues_for_each(struct target *target, uint64_t address,
				   disk_queue_visitor *visit, disk_broken *broken, void *context)
{
	struct queues queues = { target, visit, broken, context };
	struct walk walk = { .target = target,
			     .visit = visit_hardware,
			     .broken = broken_queue,
			     .context = &queues };
	struct object queue, table;
	TRY(object_at(target, "struct request_queue", address, &queue));
	/* An array before 4e5cc99e1e48 (5.19), and again in 7.3. */
	if (!object_has(&queue, "hctx_table"))
		return object_has(&queue, "queue_hw_ctx") ? visit_array(&queues, &queue) : NULL;
	TRY(object_member(&queue, "hctx_table", &table));
	return walk_xarray(&walk, table.address);
}

/* --- requests --------------------------------------------------------------------------------- */

struct requests {
	struct target *target;
	uint64_t queue, in_flight; /* the value of the state */
	uint64_t last;		   /* tags that were gone through: queues may share them */
	disk_request_visitor *visit;
	disk_broken *broken;
	void *context;
	uint64_t *left;
};

static struct error *broken_request(void *context, struct error *problem)
{
	struct requests *requests = context;
	return tell(requests->broken, requests->context, problem);
}

/* A tag leads to who had it last: only one that is on its way says that it has it now. */
static struct error *read_request(const struct requests *requests, uint64_t tag,
				  struct disk_request *ret, bool *ret_is_here)
{
	struct object request, hardware;
	uint64_t queue, state, its_tag;
	TRY(object_at(requests->target, "struct request", ret->address, &request));
	TRY(object_u64(&request, "q", &queue));
	TRY(object_u64(&request, "state", &state));
	TRY(object_u64(&request, "tag", &its_tag));
	if (queue != requests->queue || state != requests->in_flight || (uint32_t)its_tag != tag)
		return NULL;
	TRY(object_follow(&request, "mq_hctx", &hardware));
	TRY(object_u64(&hardware, "queue", &queue));
	*ret_is_here = queue == requests->queue;
	if (!*ret_is_here)
		return NULL;
	if (object_has(&request, "start_time_ns"))
		TRY(object_u64(&request, "start_time_ns", &ret->start));
	TRY(object_u64(&request, "__sector", &ret->sector));
	return object_u64(&request, "__data_len", &ret->bytes);
}

static struct error *look_at_request(struct requests *requests, uint64_t address, uint64_t tag)
{
	struct disk_request found = { .address = address };
	bool is_here = false;
	struct error *error = read_request(requests, tag, &found, &is_here);
	if (error)
		return broken_request(requests, error_prefix(error, "request 0x%" PRIx64, address));
	return is_here ? requests->visit(requests->context, &found) : NULL;
}

static struct error *look_at_hardware(void *context, const struct object *hardware)
{
	struct requests *requests = context;
	struct memory *memory = requests->target->memory;
	struct object tags;
	uint64_t count = 0, table = 0;
	struct error *error = object_follow(hardware, "tags", &tags);
	if (!error && (!tags.address || tags.address == requests->last))
		return NULL;
	requests->last = error ? 0 : tags.address;
	error = error ?: object_u64(&tags, "nr_tags", &count);
	error = error ?: object_u64(&tags, "rqs", &table);
	if (!error && count > TAGS_MAX)
		error = error_create(ERROR_FORMAT, "a disk has more tags than there can be");
	if (!error && count > *requests->left)
		error = error_create(ERROR_FORMAT, "more tags than are looked at");
	if (error)
		return broken_request(requests, error);
	*requests->left -= count;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t request;
		TRY(interrupt_check());
		error = memory_read_word(memory, table + i * memory->word_size, &request);
		if (error)
			return broken_request(requests, error);
		if (request)
			TRY(look_at_request(requests, request, i));
	}
	return NULL;
}

struct error *disk_requests_for_each(struct target *target, const struct disk *disk,
				     disk_request_visitor *visit, disk_broken *broken,
				     void *context, uint64_t *left)
{
	struct requests requests = { .target = target,
				     .queue = disk->queue,
				     .visit = visit,
				     .broken = broken,
				     .context = context,
				     .left = left };
	struct btf_enumerator state;
	uint32_t id;
	if (!btf_find_enumerator(target->btf, "MQ_RQ_IN_FLIGHT", &id, &state))
		return NULL;
	requests.in_flight = (uint64_t)state.value;
	return disk_queues_for_each(target, disk->queue, look_at_hardware, broken_request,
				    &requests);
}

void disk_driver(struct target *target, uint64_t disk, char *ret)
{
	struct object object;
	struct symbol symbol;
	uint64_t operations, offset;
	struct error *error = object_at(target, "struct gendisk", disk, &object);
	error = error ?: object_u64(&object, "fops", &operations);
	*ret = 0;
	if (!error && target_symbol_at(target, operations, &symbol, &offset) && symbol.module)
		snprintf(ret, DISK_DRIVER_SIZE, "%s", symbol.module);
	error_free(error);
}
