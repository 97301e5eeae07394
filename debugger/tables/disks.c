// SPDX-License-Identifier: GPL-3.0-or-later
/* Disks and their partitions with what was read and written, as /proc/diskstats has them. */
#include "debugger/kernel/device_sets.h"

#include "base/array.h"
#include "debugger/kernel/disks.h"
#include "debugger/tables/walks.h"
#include <inttypes.h>
#include <stdio.h>

enum {
	COLUMN_BDEV,
	COLUMN_DISK,
	COLUMN_QUEUE,
	COLUMN_DEVICE,
	COLUMN_SIZE,
	COLUMN_OPENERS,
	COLUMN_READS,
	COLUMN_READ,
	COLUMN_READ_TIME,
	COLUMN_WRITES,
	COLUMN_WRITTEN,
	COLUMN_WRITE_TIME,
	COLUMN_FLIGHT,
	COLUMN_IO_TICKS,
	COLUMN_NAME,
};

static const struct table_column columns[] = {
	[COLUMN_BDEV] = { "bdev", COLUMN_ADDRESS, 16, "its struct block_device; up to 5.10 none",
			  "struct block_device" },
	[COLUMN_DISK] = { "disk", COLUMN_ADDRESS, 0, "its struct gendisk", "struct gendisk" },
	[COLUMN_QUEUE] = { "queue", COLUMN_ADDRESS, 0, "its struct request_queue",
			   "struct request_queue" },
	[COLUMN_DEVICE] = { "dev", COLUMN_TEXT, -7, "major:minor", NULL },
	[COLUMN_SIZE] = { "size", COLUMN_BYTES, 7, "that it has", NULL },
	[COLUMN_OPENERS] = { "openers", COLUMN_INTEGER, 0, "who has it open", NULL },
	[COLUMN_READS] = { "reads", COLUMN_WIDE, 8, "requests that were done", NULL },
	[COLUMN_READ] = { "read", COLUMN_BYTES, 7, "in these", NULL },
	[COLUMN_READ_TIME] = { "read_time", COLUMN_DURATION, 0, "that all of them took", NULL },
	[COLUMN_WRITES] = { "writes", COLUMN_WIDE, 8, "requests that were done", NULL },
	[COLUMN_WRITTEN] = { "written", COLUMN_BYTES, 7, "in these", NULL },
	[COLUMN_WRITE_TIME] = { "write_time", COLUMN_DURATION, 0, "that all of them took", NULL },
	[COLUMN_FLIGHT] = { "in_flight", COLUMN_INTEGER, 9, "requests that are not done", NULL },
	[COLUMN_IO_TICKS] = { "io_ticks", COLUMN_WIDE, 0, "jiffies in which there were some",
			      NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, -12, "the device's", NULL },
};

#define SECTOR	   512u
#define MINOR_BITS 20
/* STAT_READ and STAT_WRITE of enum stat_group; discards and flushes come behind. */
#define READS  0
#define WRITES 1

static struct error *set_device(struct table_scan *scan, const struct object *device_object)
{
	uint64_t device;
	char text[32];
	TRY(object_u64(device_object, "devt", &device));
	snprintf(text, sizeof(text), "%" PRIu64 ":%" PRIu64, device >> MINOR_BITS,
		 device & ((1u << MINOR_BITS) - 1));
	table_set_text(scan, COLUMN_DEVICE, text);
	return NULL;
}

/* --- what CPUs counted -------------------------------------------------------------------------
 */

struct counts {
	uint64_t ios[2], sectors[2], times[2], ticks, flight;
};

static struct error *add_counts(struct table_scan *scan, uint64_t address, struct counts *counts)
{
	static const struct {
		const char *path;
		size_t offset;
	} members[] = {
		{ "ios[0]", offsetof(struct counts, ios[READS]) },
		{ "ios[1]", offsetof(struct counts, ios[WRITES]) },
		{ "sectors[0]", offsetof(struct counts, sectors[READS]) },
		{ "sectors[1]", offsetof(struct counts, sectors[WRITES]) },
		{ "nsecs[0]", offsetof(struct counts, times[READS]) },
		{ "nsecs[1]", offsetof(struct counts, times[WRITES]) },
		{ "io_ticks", offsetof(struct counts, ticks) },
		{ "in_flight[0].a.counter", offsetof(struct counts, flight) },
		{ "in_flight[1].a.counter", offsetof(struct counts, flight) },
	};
	struct object stats;
	TRY(object_at(scan->target, "struct disk_stats", address, &stats));
	for (size_t i = 0; i < ARRAY_COUNT(members); i++) {
		uint64_t value;
		TRY(object_u64(&stats, members[i].path, &value));
		*(uint64_t *)((char *)counts + members[i].offset) += value;
	}
	return NULL;
}

static struct error *set_sectors(struct table_scan *scan, unsigned int column, uint64_t sectors)
{
	uint64_t bytes;
	if (!__builtin_mul_overflow(sectors, (uint64_t)SECTOR, &bytes) && bytes <= INT64_MAX) {
		table_set(scan, column, bytes);
		return NULL;
	}
	return table_set_error(scan, column,
			       error_create(ERROR_FORMAT,
					    "%" PRIu64 " sectors are more than there can be",
					    sectors));
}

/* `per_cpu`: of the struct disk_stats. */
static struct error *set_counts(struct table_scan *scan, uint64_t per_cpu)
{
	struct counts counts = { .ticks = 0 };
	const struct cpu *cpus;
	TRY(target_need_cpus(scan->target));
	size_t count = target_cpus(scan->target, &cpus);
	for (size_t i = 0; i < count; i++)
		TRY(add_counts(scan, per_cpu + cpus[i].per_cpu_offset, &counts));
	table_set(scan, COLUMN_READS, counts.ios[READS]);
	TRY(set_sectors(scan, COLUMN_READ, counts.sectors[READS]));
	table_set(scan, COLUMN_READ_TIME, counts.times[READS]);
	table_set(scan, COLUMN_WRITES, counts.ios[WRITES]);
	TRY(set_sectors(scan, COLUMN_WRITTEN, counts.sectors[WRITES]));
	table_set(scan, COLUMN_WRITE_TIME, counts.times[WRITES]);
	table_set(scan, COLUMN_IO_TICKS, counts.ticks);
	/* Begun on one CPU, done on another: only the sum means something. */
	table_set(scan, COLUMN_FLIGHT, counts.flight);
	return NULL;
}

/* --- requests in flight --------------------------------------------------------------------------
 */

#define TAGS_MAX ((uint64_t)1 << 22)

struct pass {
	struct table_scan *scan;
	uint64_t tags_left; /* of all disks, and their queues */
};

struct flight {
	struct table_scan *scan;
	uint64_t part; /* whose requests are counted; 0: all of the disk's */
	uint64_t count;
};

/* What a driver or user space sends past the filesystems has no part, and is not counted. */
static struct error *count_request(void *context, const struct disk_request *request)
{
	struct flight *flight = context;
	struct object object;
	uint64_t part;
	TRY(object_at(flight->scan->target, "struct request", request->address, &object));
	TRY(object_u64(&object, "part", &part));
	flight->count += part && (!flight->part || part == flight->part);
	return NULL;
}

struct found {
	uint64_t counts; /* per CPU: struct disk_stats */
	uint64_t queue;
	uint64_t part;	/* what requests say they are for */
	bool is_whole;	/* up to 5.10; later the disk says which part that is: */
	uint64_t whole; /* its struct gendisk, 0 up to 5.10 */
};

/*
 * Disks whose drivers take requests count them by their tags (kernel block/genhd.c:
 * part_in_flight); the number that is kept beside the others is theirs only since 99dc422335d8
 * (6.10). So a 0 is looked into.
 */
static struct error *set_flight(struct pass *pass, const struct found *found)
{
	struct flight flight = { .scan = pass->scan, .part = found->part };
	const struct disk disk = { .queue = found->queue };
	struct object queue, gendisk;
	uint64_t operations, queues, whole;
	TRY(object_at(pass->scan->target, "struct request_queue", found->queue, &queue));
	TRY(object_u64(&queue, "mq_ops", &operations));
	if (!operations)
		return NULL;
	if (found->whole) {
		TRY(object_at(pass->scan->target, "struct gendisk", found->whole, &gendisk));
		TRY(object_u64(&gendisk, "part0", &whole));
		flight.part = whole == found->part ? 0 : found->part;
	} else if (found->is_whole) {
		flight.part = 0;
	}
	TRY(object_u64(&queue, "nr_hw_queues", &queues));
	if (queues > pass->tags_left)
		return error_create(ERROR_FORMAT, "more queues than are looked at");
	pass->tags_left -= queues;
	TRY(disk_requests_for_each(pass->scan->target, &disk, count_request, NULL, &flight,
				   &pass->tags_left));
	table_set(pass->scan, COLUMN_FLIGHT, flight.count);
	return NULL;
}

/* --- rows --------------------------------------------------------------------------------------
 */

static struct error *set_bdev(struct table_scan *scan, const struct object *device,
			      struct found *ret)
{
	struct object bdev;
	TRY(object_container(scan->target, "struct block_device", "bd_device", device->address,
			     &bdev));
	table_set(scan, COLUMN_BDEV, bdev.address);
	TRY(table_set_member(scan, COLUMN_DISK, &bdev, "bd_disk"));
	TRY(table_set_member(scan, COLUMN_QUEUE, &bdev, "bd_queue"));
	TRY(table_set_scaled(scan, COLUMN_SIZE, &bdev, "bd_nr_sectors", SECTOR));
	TRY(table_set_member(scan, COLUMN_OPENERS, &bdev, "bd_openers.counter"));
	TRY(object_u64(&bdev, "bd_queue", &ret->queue));
	TRY(object_u64(&bdev, "bd_disk", &ret->whole));
	ret->part = bdev.address;
	return object_pointer(&bdev, "bd_stats", &ret->counts);
}

/* Up to 5.10 a disk is a struct hd_struct, and only who has it open a struct block_device. */
static struct error *set_part(struct table_scan *scan, const struct object *device,
			      struct found *ret)
{
	struct object part, disk;
	uint64_t number, whole = device->address;
	TRY(object_container(scan->target, "struct hd_struct", "__dev", device->address, &part));
	TRY(table_set_scaled(scan, COLUMN_SIZE, &part, "nr_sects", SECTOR));
	TRY(object_pointer(&part, "dkstats", &ret->counts));
	TRY(object_u64(&part, "partno", &number));
	ret->part = part.address;
	ret->is_whole = !number;
	if (number)
		TRY(object_u64(device, "parent", &whole));
	TRY(object_container(scan->target, "struct gendisk", "part0.__dev", whole, &disk));
	table_set(scan, COLUMN_DISK, disk.address);
	TRY(object_u64(&disk, "queue", &ret->queue));
	table_set(scan, COLUMN_QUEUE, ret->queue);
	return NULL;
}

static struct error *visit_device(void *context, const struct object *set,
				  const struct object *device)
{
	struct pass *pass = context;
	struct table_scan *scan = pass->scan;
	const struct table_cell *flight = &scan->cells[COLUMN_FLIGHT];
	struct type part;
	struct found found = { 0 };
	(void)set;
	struct error *error = target_find_type(scan->target, NULL, "struct hd_struct", &part);
	bool is_part = !error;
	error_free(error);
	TRY(is_part ? set_part(scan, device, &found) : set_bdev(scan, device, &found));
	TRY(table_set_error(scan, COLUMN_DEVICE, set_device(scan, device)));
	TRY(table_set_error(scan, COLUMN_READS, set_counts(scan, found.counts)));
	if (table_wants(scan, COLUMN_FLIGHT) && found.queue && flight->state == CELL_SET &&
	    !flight->number)
		TRY(table_set_error(scan, COLUMN_FLIGHT, set_flight(pass, &found)));
	TRY(table_set_pointed(scan, COLUMN_NAME, device, "kobj.name"));
	return table_emit(scan);
}

static struct error *broken(void *context, struct error *problem)
{
	const struct pass *pass = context;
	return table_broken(pass->scan, problem);
}

static struct error *visit(struct table_scan *scan)
{
	struct pass pass = { .scan = scan, .tags_left = TAGS_MAX };
	const struct device_visitor visitor = { visit_device, broken, &pass };
	uint64_t class;
	if (!table_symbol(scan, "block_class", &class))
		return error_create(ERROR_NOT_FOUND, "this kernel has no block_class");
	return class_devices_for_each(scan->target, class, &visitor);
}

static const char *const examples[] = { "disks", "disks --where 'in_flight > 0'",
					"disks | print {bd_start_sect, bd_holder}", NULL };

const struct table table_disks = {
	.name = "disks",
	.summary = "disks and partitions, with what was read and written",
	.description =
		"A row is a disk or a partition, as /proc/diskstats has them: a struct "
		"block_device, or up to 5.10 a struct hd_struct. What is in flight are requests.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_BDEV,
	.is_object = true,
};
