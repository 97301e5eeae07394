// SPDX-License-Identifier: GPL-3.0-or-later
/* Commands that drivers of disks have in flight: what lies behind their requests. */
#include "debugger/kernel/disks.h"

#include "base/array.h"
#include "debugger/kernel/clock.h"
#include "debugger/tables/opcodes.h"
#include "debugger/tables/walks.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	COLUMN_REQUEST,
	COLUMN_COMMAND,
	COLUMN_DRIVER,
	COLUMN_TAG,
	COLUMN_NAME,
	COLUMN_OPCODE,
	COLUMN_BYTES_SENT,
	COLUMN_BLOCK,
	COLUMN_AGE,
	COLUMN_TIMEOUT,
	COLUMN_LEFT,
	COLUMN_TIMED_OUT,
	COLUMN_RETRIES,
	COLUMN_ALLOWED,
	COLUMN_FLAGS,
	COLUMN_DEVICE,
	COLUMN_DISK
};

static const struct table_column columns[] = {
	[COLUMN_REQUEST] = { "request", COLUMN_ADDRESS, 16, "its struct request",
			     "struct request" },
	[COLUMN_COMMAND] = { "command", COLUMN_ADDRESS, 16,
			     "what the driver has of it: a struct virtblk_req, scsi_cmnd or "
			     "nvme_request",
			     NULL },
	[COLUMN_DRIVER] = { "driver", COLUMN_TEXT, -10,
			    "virtio_blk, scsi, nvme; else the function that takes requests", NULL },
	[COLUMN_TAG] = { "tag", COLUMN_INTEGER, 4, "its number with the driver", NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, -12, "the opcode, as VIRTIO, SCSI or NVMe call it",
			  NULL },
	[COLUMN_OPCODE] = { "opcode", COLUMN_INTEGER, 0, "the same as a number", NULL },
	[COLUMN_BYTES_SENT] = { "cdb", COLUMN_TEXT, 0,
				"the command as the device gets it, in hexadecimal; of virtio its "
				"header",
				NULL },
	[COLUMN_BLOCK] = { "lba", COLUMN_WIDE, 10,
			   "the first block that it is about: as large as the device's; of virtio "
			   "512 bytes",
			   NULL },
	[COLUMN_AGE] = { "age", COLUMN_DURATION, 10, "since its request was made, but for a tick",
			 NULL },
	[COLUMN_TIMEOUT] = { "timeout", COLUMN_DURATION, 0, "that it was given", NULL },
	[COLUMN_LEFT] = { "left", COLUMN_DURATION, 0, "until it times out; 0: it has", NULL },
	[COLUMN_TIMED_OUT] = { "timed_out", COLUMN_INTEGER, 0,
			       "1: the driver was told so (RQF_TIMED_OUT)", NULL },
	[COLUMN_RETRIES] = { "retries", COLUMN_INTEGER, 7, "how often it was tried again", NULL },
	[COLUMN_ALLOWED] = { "allowed", COLUMN_INTEGER, 0, "how often it may be, of scsi", NULL },
	[COLUMN_FLAGS] = { "flags", COLUMN_INTEGER, 0, "of scsi SCMD_*, of nvme NVME_REQ_*", NULL },
	[COLUMN_DEVICE] = { "device", COLUMN_TEXT, -10,
			    "that it was sent to: virtio1, 0:0:0:0, nvme0", NULL },
	[COLUMN_DISK] = { "disk", COLUMN_TEXT, -8, "the disk's name", NULL },
};

#define TAGS_MAX ((uint64_t)1 << 22)
#define SENT_MAX 64u
/* Where a struct nvme_command has its number, and the bits of that which are the tag. */
#define NVME_NUMBER 2
#define NVME_TAG    0xfffu
#define TIMED_OUT   "__RQF_TIMED_OUT" /* 6.1 has no enum of these bits */

/* Which driver a disk has is said by the function that takes its requests. */
static const struct driver {
	const char *function;
	enum command_set set;
	const char *name, *type_name;
} drivers[] = {
	{ "virtio_queue_rq", COMMANDS_VIRTIO, "virtio_blk", "struct virtblk_req" },
	{ "scsi_queue_rq", COMMANDS_SCSI, "scsi", "struct scsi_cmnd" },
	/* Whatever carries it, its own struct begins with that one: nvme_req(). */
	{ "nvme_queue_rq", COMMANDS_NVME, "nvme", "struct nvme_request" },
	{ "nvme_tcp_queue_rq", COMMANDS_NVME, "nvme", "struct nvme_request" },
	{ "nvme_rdma_queue_rq", COMMANDS_NVME, "nvme", "struct nvme_request" },
	{ "nvme_fc_queue_rq", COMMANDS_NVME, "nvme", "struct nvme_request" },
	{ "nvme_loop_queue_rq", COMMANDS_NVME, "nvme", "struct nvme_request" },
	{ "apple_nvme_queue_rq", COMMANDS_NVME, "nvme", "struct nvme_request" },
};

struct pass {
	struct table_scan *scan;
	uint64_t now;		/* nanoseconds since the start; 0: not known */
	uint64_t jiffies, tick; /* a tick in nanoseconds; 0: not known */
	uint64_t behind;	/* bytes from a request to what the driver has */
	uint64_t tags_left;
	const struct disk *disk;
	struct object tag_set;
	const struct driver *driver; /* NULL: none that is known */
	const struct btf *types;     /* of the driver's module; NULL: the kernel's */
	char function[SYMBOL_NAME_SIZE];
};

/* --- what the driver has --------------------------------------------------------------------- */

/* The bytes at an object, or behind the pointer that it is. */
static struct error *read_sent(const struct object *sent, uint64_t size, uint8_t *bytes)
{
	struct object place = *sent;
	if (size > SENT_MAX)
		return error_create(ERROR_FORMAT, "a command of %" PRIu64 " bytes", size);
	if (type_is_pointer(sent->type))
		TRY(object_follow(sent, NULL, &place));
	return memory_read(sent->target->memory, place.address, bytes, size);
}

/* What the device gets: the header, the CDB, the entry of the queue. */
static struct error *find_sent(const struct pass *pass, const struct object *command,
			       struct object *ret, uint64_t *ret_size)
{
	if (pass->driver->set == COMMANDS_SCSI) {
		/* A pointer in 5.10. */
		TRY(object_member(command, "cmnd", ret));
		return object_u64(command, "cmd_len", ret_size);
	}
	if (pass->driver->set == COMMANDS_NVME)
		TRY(object_follow(command, "cmd", ret));
	else
		TRY(object_member(command, "out_hdr", ret));
	return type_size(ret->type, ret_size)
		       ? NULL
		       : error_create(ERROR_FORMAT, "no size of %s", pass->driver->type_name);
}

/*
 * An entry of an NVMe queue lies in what the driver keeps of the request, and has the tag as its
 * number, below a count that tells uses apart (e7006de6c238). Elsewhere is what a caller had made
 * of it, until f4b9e6c90c57 (5.13), long ago for all that is known; and what two drivers of
 * networks allocate.
 */
static struct error *check_entry(const struct pass *pass, uint64_t behind, uint64_t address,
				 const uint8_t *bytes, uint64_t tag)
{
	unsigned int number = bytes[NVME_NUMBER] | (unsigned int)bytes[NVME_NUMBER + 1] << 8;
	uint64_t size;
	if (pass->driver->set != COMMANDS_NVME)
		return NULL;
	TRY(object_u64(&pass->tag_set, "cmd_size", &size));
	if (address - behind >= size)
		return error_create(ERROR_NOT_FOUND,
				    "its command is not kept with the request by this driver");
	return (number ^ tag) & NVME_TAG
		       ? error_create(ERROR_FORMAT,
				      "the entry of another request than tag %" PRIu64, tag)
		       : NULL;
}

/* The commands of its device; where its kind cannot be read, those that all disks share. */
static struct error *find_set(const struct pass *pass, const struct object *command,
			      enum command_set *ret)
{
	struct object device;
	uint64_t type;
	*ret = pass->driver->set;
	if (*ret != COMMANDS_SCSI)
		return NULL;
	struct error *error = object_follow(command, "device", &device);
	if (!error && device.address)
		error = object_u64(&device, "type", &type);
	if (!error && device.address)
		*ret = opcode_scsi_set(type);
	return error_only_fatal(error);
}

static struct error *set_sent(const struct pass *pass, const struct object *command, uint64_t tag)
{
	struct table_scan *scan = pass->scan;
	struct opcode opcode;
	enum command_set set;
	struct object sent;
	uint8_t bytes[SENT_MAX] = { 0 };
	char text[2 * SENT_MAX + 1] = "";
	uint64_t size;
	TRY(find_sent(pass, command, &sent, &size));
	TRY(read_sent(&sent, size, bytes));
	TRY(check_entry(pass, command->address, sent.address, bytes, tag));
	for (uint64_t i = 0; i < size; i++)
		snprintf(text + 2 * i, sizeof(text) - 2 * i, "%02x", bytes[i]);
	table_set_text(scan, COLUMN_BYTES_SENT, text);
	TRY(find_set(pass, command, &set));
	if (!opcode_decode(set, bytes, size, scan->target->memory->big_endian, &opcode))
		return error_create(ERROR_FORMAT, "a command of %" PRIu64 " bytes", size);
	table_set(scan, COLUMN_OPCODE, opcode.code);
	if (opcode.name)
		table_set_text(scan, COLUMN_NAME, opcode.name);
	if (opcode.has_block)
		table_set(scan, COLUMN_BLOCK, opcode.block);
	return NULL;
}

/* The name of the device that the driver drives. */
static struct error *set_device(const struct pass *pass, const struct object *command)
{
	struct object device;
	uint64_t address;
	switch (pass->driver->set) {
	case COMMANDS_VIRTIO:
		TRY(object_u64(&pass->tag_set, "driver_data", &address));
		if (!address)
			return NULL;
		TRY(table_object(pass->scan, pass->types, "struct virtio_blk", address, &device));
		TRY(object_follow(&device, "vdev", &device));
		return device.address ? table_set_pointed(pass->scan, COLUMN_DEVICE, &device,
							  "dev.kobj.name")
				      : NULL;
	case COMMANDS_SCSI:
		TRY(object_follow(command, "device", &device));
		return device.address ? table_set_pointed(pass->scan, COLUMN_DEVICE, &device,
							  "sdev_gendev.kobj.name")
				      : NULL;
	case COMMANDS_NVME:
		TRY(object_follow(command, "ctrl", &device));
		if (device.address)
			TRY(object_follow(&device, "device", &device));
		return device.address
			       ? table_set_pointed(pass->scan, COLUMN_DEVICE, &device, "kobj.name")
			       : NULL;
	case COMMANDS_SCSI_DISK:
	case COMMANDS_SCSI_ROM:
	case COMMANDS_OTHER:
		break;
	}
	return NULL;
}

static struct error *set_command(const struct pass *pass, const struct object *request)
{
	struct table_scan *scan = pass->scan;
	const struct driver *driver = pass->driver;
	struct object command;
	uint64_t tag;
	TRY(object_u64(request, "tag", &tag));
	TRY(table_object(scan, pass->types, driver->type_name, request->address + pass->behind,
			 &command));
	table_set(scan, COLUMN_COMMAND, command.address);
	TRY(table_set_error(scan, COLUMN_NAME, set_sent(pass, &command, tag)));
	TRY(table_set_error(scan, COLUMN_DEVICE, set_device(pass, &command)));
	if (driver->set == COMMANDS_VIRTIO)
		return NULL;
	TRY(table_set_member(scan, COLUMN_RETRIES, &command, "retries"));
	TRY(table_set_member(scan, COLUMN_FLAGS, &command, "flags"));
	return driver->set == COMMANDS_SCSI
		       ? table_set_member(scan, COLUMN_ALLOWED, &command, "allowed")
		       : NULL;
}

/* --- what the request has -------------------------------------------------------------------- */

static struct error *set_timeout(const struct pass *pass, const struct object *request)
{
	uint64_t timeout, deadline, length, left = 0;
	if (!pass->tick)
		return NULL;
	TRY(object_u64(request, "timeout", &timeout));
	TRY(object_u64(request, "deadline", &deadline));
	if (__builtin_mul_overflow(timeout, pass->tick, &length) || length > INT64_MAX)
		return error_create(ERROR_FORMAT, "a timeout of %" PRIu64 " ticks", timeout);
	table_set(pass->scan, COLUMN_TIMEOUT, length);
	/* Ticks go round: the deadline lies before or behind now. */
	if ((int64_t)(deadline - pass->jiffies) > 0 &&
	    (__builtin_mul_overflow(deadline - pass->jiffies, pass->tick, &left) ||
	     left > INT64_MAX))
		return table_set_error(pass->scan, COLUMN_LEFT,
				       error_create(ERROR_FORMAT, "a deadline at tick %" PRIu64,
						    deadline));
	table_set(pass->scan, COLUMN_LEFT, left);
	return NULL;
}

static struct error *set_timed_out(const struct pass *pass, const struct object *request)
{
	struct btf_enumerator bit;
	uint32_t id;
	uint64_t flags;
	if (!table_wants(pass->scan, COLUMN_TIMED_OUT) ||
	    !btf_find_enumerator(pass->scan->target->btf, TIMED_OUT, &id, &bit))
		return NULL;
	TRY(object_u64(request, "rq_flags", &flags));
	table_set(pass->scan, COLUMN_TIMED_OUT,
		  bit.value >= 0 && bit.value < 64 ? flags >> bit.value & 1 : 0);
	return NULL;
}

static struct error *visit_request(void *context, const struct disk_request *found)
{
	const struct pass *pass = context;
	struct table_scan *scan = pass->scan;
	struct object request;
	TRY(object_at(scan->target, "struct request", found->address, &request));
	table_set(scan, COLUMN_REQUEST, request.address);
	table_set_text(scan, COLUMN_DISK, pass->disk->name);
	if (pass->function[0])
		table_set_text(scan, COLUMN_DRIVER,
			       pass->driver ? pass->driver->name : pass->function);
	TRY(table_set_member(scan, COLUMN_TAG, &request, "tag"));
	if (found->start && pass->now)
		table_set(scan, COLUMN_AGE,
			  pass->now > found->start ? pass->now - found->start : 0);
	TRY(table_set_error(scan, COLUMN_TIMEOUT, set_timeout(pass, &request)));
	TRY(table_set_error(scan, COLUMN_TIMED_OUT, set_timed_out(pass, &request)));
	struct error *error = pass->driver ? set_command(pass, &request) : NULL;
	TRY(table_broken(scan, error_prefix(error, "%s", pass->disk->name)));
	return table_emit(scan);
}

/* --- disks ----------------------------------------------------------------------------------- */

static struct error *find_driver(struct pass *pass)
{
	struct target *target = pass->scan->target;
	struct object queue, operations;
	uint64_t function;
	pass->driver = NULL;
	pass->types = NULL;
	pass->function[0] = 0;
	TRY(object_at(target, "struct request_queue", pass->disk->queue, &queue));
	TRY(object_follow(&queue, "tag_set", &pass->tag_set));
	if (!pass->tag_set.address)
		return NULL;
	TRY(object_follow(&pass->tag_set, "ops", &operations));
	TRY(object_u64(&operations, "queue_rq", &function));
	if (!table_function(pass->scan, function, pass->function, &pass->types))
		snprintf(pass->function, sizeof(pass->function), "0x%" PRIx64, function);
	for (size_t i = 0; i < ARRAY_COUNT(drivers) && !pass->driver; i++)
		if (!strcmp(drivers[i].function, pass->function))
			pass->driver = &drivers[i];
	return NULL;
}

static struct error *broken(void *context, struct error *problem)
{
	struct pass *pass = context;
	return table_broken(pass->scan, problem);
}

static struct error *broken_on_disk(void *context, struct error *problem)
{
	struct pass *pass = context;
	return broken(context, error_prefix(problem, "%s", pass->disk->name));
}

static struct error *visit_disk(void *context, const struct disk *disk)
{
	struct pass *pass = context;
	pass->disk = disk;
	TRY(table_broken(pass->scan, error_prefix(find_driver(pass), "%s", disk->name)));
	struct error *error = disk_requests_for_each(pass->scan->target, disk, visit_request,
						     broken_on_disk, pass, &pass->tags_left);
	return table_broken(pass->scan, error_prefix(error, "%s", disk->name));
}

static struct error *read_ticks(struct pass *pass)
{
	struct object variable;
	TRY(object_variable(pass->scan->target, "jiffies", "unsigned long", &variable));
	TRY(object_u64(&variable, NULL, &pass->jiffies));
	return clock_tick(pass->scan->target, &pass->tick);
}

static struct error *visit(struct table_scan *scan)
{
	struct pass pass = { .scan = scan, .tags_left = TAGS_MAX };
	struct object request;
	TRY(error_only_fatal(clock_now(scan->target, &pass.now)));
	TRY(error_only_fatal(read_ticks(&pass)));
	TRY(object_at(scan->target, "struct request", 0, &request));
	if (!type_size(request.type, &pass.behind))
		return error_create(ERROR_FORMAT, "struct request has no size");
	return disks_for_each(scan->target, visit_disk, broken, &pass);
}

static const char *const examples[] = {
	"iocommands", "iocommands --sort -age -n 5 -o disk,name,lba,age,retries,cdb",
	"sql SELECT disk, driver, count(*) AS commands, max(age) AS oldest FROM iocommands GROUP "
	"BY disk",
	NULL
};

const struct table table_iocommands = {
	.name = "iocommands",
	.summary = "commands that drivers of disks have in flight",
	.description =
		"A row is a command of virtio_blk, SCSI or NVMe that a disk was sent and has not "
		"answered: what the driver keeps behind the struct request, which requests has. "
		"Of "
		"another driver it is the request alone. Commands to what is no disk, as an NVMe "
		"controller, are not among them.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_REQUEST,
	.is_object = true,
};
