// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Commands behind requests: of each driver that is known and of another one, in a map of hardware
 * queues and in an array of them, with types that are missing, pointers that lead nowhere, lengths
 * that no command has, and with every byte changed.
 */
#include "base/array.h"
#include "debugger/tables/opcodes.h"
#include "tests/unit/disk_types.h"
#include "tests/unit/kernel_data.h"
#include "tests/unit/table_rows.h"
#include "tests/unit/test.h"

#define DATA	  0xffffffff82000000u
#define TABLES	  0xffffffff83000000u
#define NOWHERE	  0xffff8880dead0000u
#define IN_FLIGHT 1u
#define TIMED_OUT 5u /* the bit */
#define TICK	  4000000u
#define SECOND	  1000000000ull

extern const struct table table_iocommands;

enum { VIRTIO, SCSI, NVME, OTHER, DISKS };

struct raw_device {
	uint64_t disk, next, prev, filesystem;
};

struct raw_disk {
	uint64_t first, queue;
	char name[32];
};

struct raw_queue {
	uint64_t
		hardware[2]; /* an xarray: flags, and its one entry; or an array: where, how many */
	uint64_t tag_set;
};

struct raw_request {
	uint64_t queue, hardware, start, sector, deadline;
	uint32_t state, bytes, flags, timeout;
	int32_t tag, pad;
	uint8_t command[96]; /* the driver's, behind the struct */
};

struct raw_scsi {
	uint64_t device;
	uint8_t cdb[32];
	uint32_t retries, allowed, flags;
	uint16_t length, pad;
};

struct raw_nvme {
	uint64_t command, controller;
	uint8_t retries, flags, pad[6];
	uint8_t sent[64]; /* the driver's */
};

struct raw_data {
	uint64_t filesystem, inodes[2], jiffies, tick;
	uint64_t keeper[3]; /* base, fraction, shift */
	struct raw_device devices[DISKS];
	struct raw_disk disks[DISKS];
	struct raw_queue queues[DISKS];
	uint64_t sets[DISKS][3];     /* ops, driver_data, cmd_size */
	uint64_t operations[DISKS];  /* queue_rq */
	uint64_t hardware[DISKS][3]; /* tags, queue_num, queue */
	uint64_t arrays[DISKS][2];   /* the same one twice */
	uint64_t tags[DISKS][2];     /* how many, where */
	uint64_t table[DISKS][1];
	struct raw_request requests[DISKS];
	uint8_t elsewhere[64]; /* as of nvme, but not with the request */
	uint64_t virtio_device[1], name_of[3], controller[1];
	uint64_t scsi_device[2]; /* its name, its kind */
	char names[3][16];
};

struct machine {
	struct kernel_data kernel;
	struct raw_data data;
	struct table_rows rows;
};

#define AT(member) (DATA + offsetof(struct raw_data, member))
#define CODE	   (DATA + 65536)

static struct raw_scsi *scsi_of(struct machine *machine)
{
	return (struct raw_scsi *)machine->data.requests[SCSI].command;
}

static struct raw_nvme *nvme_of(struct machine *machine)
{
	return (struct raw_nvme *)machine->data.requests[NVME].command;
}

#define SENT (AT(requests[NVME].command) + offsetof(struct raw_nvme, sent))

static void put_commands(struct machine *machine)
{
	static const uint8_t write_16[16] = { 0x8a, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 8 };
	struct raw_data *data = &machine->data;
	uint32_t *virtio = (uint32_t *)data->requests[VIRTIO].command;
	virtio[0] = 1;
	virtio[2] = 4104;
	*scsi_of(machine) = (struct raw_scsi){
		.device = AT(scsi_device), .retries = 2, .allowed = 5, .flags = 7, .length = 16
	};
	memcpy(scsi_of(machine)->cdb, write_16, sizeof(write_16));
	*nvme_of(machine) = (struct raw_nvme){
		.command = SENT, .controller = AT(controller), .retries = 1, .flags = 1
	};
	uint8_t *sent = nvme_of(machine)->sent;
	sent[0] = 2;
	sent[3] = 0x70; /* its number: the tag is 0 */
	sent[40] = 0x08;
	sent[41] = 0x20;
	memcpy(data->elsewhere, sent, sizeof(data->elsewhere));
	data->virtio_device[0] = AT(name_of[0]);
	data->controller[0] = AT(name_of[2]);
	data->scsi_device[0] = AT(names[1]);
	data->scsi_device[1] = 0;
	for (unsigned int i = 0; i < 3; i++)
		data->name_of[i] = AT(names[i]);
	strcpy(data->names[0], "virtio1");
	strcpy(data->names[1], "0:0:1:0");
	strcpy(data->names[2], "nvme0");
}

static void put_data(struct machine *machine, bool is_array)
{
	static const char *const names[] = { "vda", "sda", "nvme0n1", "fd0" };
	struct raw_data *data = &machine->data;
	memset(data, 0, sizeof(*data));
	data->filesystem = AT(inodes);
	data->jiffies = 10000;
	data->tick = TICK;
	data->keeper[0] = 40 * SECOND;
	data->inodes[0] = AT(devices[0].next);
	data->inodes[1] = AT(devices[DISKS - 1].next);
	for (unsigned int i = 0; i < DISKS; i++) {
		data->devices[i] = (struct raw_device){
			.disk = AT(disks[i]),
			.next = i + 1 < DISKS ? AT(devices[i + 1].next) : AT(inodes),
			.prev = i ? AT(devices[i - 1].next) : AT(inodes),
			.filesystem = AT(inodes),
		};
		data->disks[i] =
			(struct raw_disk){ .first = AT(devices[i]), .queue = AT(queues[i]) };
		strcpy(data->disks[i].name, names[i]);
		data->arrays[i][0] = data->arrays[i][1] = AT(hardware[i]);
		data->queues[i] =
			(struct raw_queue){ .hardware = { is_array ? AT(arrays[i]) : 0,
							  is_array ? 2 : AT(hardware[i]) },
					    .tag_set = AT(sets[i]) };
		data->sets[i][0] = AT(operations[i]);
		data->sets[i][1] = AT(virtio_device);
		data->sets[i][2] = sizeof(data->requests[i].command);
		data->operations[i] = CODE + 64 * i;
		data->hardware[i][0] = AT(tags[i]);
		data->hardware[i][2] = AT(queues[i]);
		data->tags[i][0] = 1;
		data->tags[i][1] = AT(table[i]);
		data->table[i][0] = AT(requests[i]);
		data->requests[i] = (struct raw_request){ .queue = AT(queues[i]),
							  .hardware = AT(hardware[i]),
							  .start = 30 * SECOND,
							  .state = IN_FLIGHT,
							  .deadline = 10000 + 250 * i,
							  .timeout = 7500 };
	}
	data->requests[SCSI].flags = 1u << TIMED_OUT;
	put_commands(machine);
}

static int add_named(struct libbpf_btf *btf, const char *name, const char *member, int kobject)
{
	int type = btf__add_struct(btf, name, 8);
	add_member(btf, member, kobject, 0);
	return type;
}

static void add_driver_types(struct libbpf_btf *btf, int ulong, int uint, int byte)
{
	int sixteen = btf__add_array(btf, uint, byte, 16),
	    thirty_two = btf__add_array(btf, uint, byte, 32);
	int letter = btf__add_int(btf, "char", 1, BTF_INT_CHAR);
	int name = btf__add_ptr(btf, letter), half = btf__add_int(btf, "short", 2, 0);
	int kobject = btf__add_struct(btf, "kobject", 8);
	add_member(btf, "name", name, 0);
	int device = add_named(btf, "device", "kobj", kobject);
	int virtio = btf__add_ptr(btf, add_named(btf, "virtio_device", "dev", device));
	int scsi = btf__add_struct(btf, "scsi_device", 16);
	add_member(btf, "sdev_gendev", device, 0);
	add_member(btf, "type", byte, 8);
	scsi = btf__add_ptr(btf, scsi);
	int header = btf__add_struct(btf, "virtio_blk_outhdr", 16);
	add_member(btf, "bytes", sixteen, 0);
	btf__add_struct(btf, "virtblk_req", 16);
	add_member(btf, "out_hdr", header, 0);
	add_named(btf, "virtio_blk", "vdev", virtio);
	btf__add_struct(btf, "scsi_cmnd", sizeof(struct raw_scsi));
	add_member(btf, "device", scsi, 0);
	add_member(btf, "cmnd", thirty_two, offsetof(struct raw_scsi, cdb));
	add_member(btf, "retries", uint, offsetof(struct raw_scsi, retries));
	add_member(btf, "allowed", uint, offsetof(struct raw_scsi, allowed));
	add_member(btf, "flags", uint, offsetof(struct raw_scsi, flags));
	add_member(btf, "cmd_len", half, offsetof(struct raw_scsi, length));
	int command = btf__add_struct(btf, "nvme_command", 64);
	add_member(btf, "first", ulong, 0);
	int to_command = btf__add_ptr(btf, command);
	int controller =
		btf__add_ptr(btf, add_named(btf, "nvme_ctrl", "device", btf__add_ptr(btf, device)));
	btf__add_struct(btf, "nvme_request", sizeof(struct raw_nvme));
	add_member(btf, "cmd", to_command, 0);
	add_member(btf, "ctrl", controller, offsetof(struct raw_nvme, controller));
	add_member(btf, "retries", byte, offsetof(struct raw_nvme, retries));
	add_member(btf, "flags", byte, offsetof(struct raw_nvme, flags));
}

static void add_queue_types(struct libbpf_btf *btf, int ulong, int uint, int int_, int xarray,
			    bool is_array)
{
	int operations = btf__add_struct(btf, "blk_mq_ops", 8);
	add_member(btf, "queue_rq", ulong, 0);
	int to_operations = btf__add_ptr(btf, operations);
	int set = btf__add_struct(btf, "blk_mq_tag_set", 24);
	add_member(btf, "ops", to_operations, 0);
	add_member(btf, "driver_data", ulong, 8);
	add_member(btf, "cmd_size", uint, 16);
	int to_set = btf__add_ptr(btf, set);
	btf__add_struct(btf, "request_queue", sizeof(struct raw_queue));
	if (is_array) {
		add_member(btf, "queue_hw_ctx", ulong, 0);
		add_member(btf, "nr_hw_queues", uint, 8);
	} else {
		add_member(btf, "hctx_table", xarray, 0);
	}
	add_member(btf, "tag_set", to_set, offsetof(struct raw_queue, tag_set));
	int tags = btf__add_struct(btf, "blk_mq_tags", 16);
	add_member(btf, "nr_tags", uint, 0);
	add_member(btf, "rqs", ulong, 8);
	int to_tags = btf__add_ptr(btf, tags);
	int hardware = btf__add_struct(btf, "blk_mq_hw_ctx", 24);
	add_member(btf, "tags", to_tags, 0);
	add_member(btf, "queue_num", uint, 8);
	add_member(btf, "queue", ulong, 16);
	int to_hardware = btf__add_ptr(btf, hardware);
	btf__add_struct(btf, "request", offsetof(struct raw_request, command));
	add_member(btf, "q", ulong, 0);
	add_member(btf, "mq_hctx", to_hardware, offsetof(struct raw_request, hardware));
	add_member(btf, "start_time_ns", ulong, offsetof(struct raw_request, start));
	add_member(btf, "__sector", ulong, offsetof(struct raw_request, sector));
	add_member(btf, "deadline", ulong, offsetof(struct raw_request, deadline));
	add_member(btf, "state", uint, offsetof(struct raw_request, state));
	add_member(btf, "__data_len", uint, offsetof(struct raw_request, bytes));
	add_member(btf, "rq_flags", uint, offsetof(struct raw_request, flags));
	add_member(btf, "timeout", uint, offsetof(struct raw_request, timeout));
	add_member(btf, "tag", int_, offsetof(struct raw_request, tag));
}

static void add_types(struct machine *machine, bool is_array, bool has_drivers)
{
	struct libbpf_btf *btf = machine->kernel.source;
	int int_ = btf__add_int(btf, "int", 4, 1), uint = btf__add_int(btf, "uint", 4, 0);
	int ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	int letter = btf__add_int(btf, "unsigned char", 1, 0);
	btf__add_enum(btf, "mq_rq_state", 4);
	btf__add_enum_value(btf, "MQ_RQ_IN_FLIGHT", IN_FLIGHT);
	btf__add_enum(btf, NULL, 4);
	btf__add_enum_value(btf, "__RQF_TIMED_OUT", TIMED_OUT);
	int base = btf__add_struct(btf, "tk_read_base", 24);
	add_member(btf, "base", ulong, 0);
	add_member(btf, "xtime_nsec", ulong, 8);
	add_member(btf, "shift", uint, 16);
	btf__add_struct(btf, "timekeeper", 24);
	add_member(btf, "tkr_mono", base, 0);
	int list = add_list_head(btf);
	int disk = add_gendisk(btf, ulong, letter, sizeof(struct raw_disk),
			       offsetof(struct raw_disk, name));
	add_devices(btf, ulong, list, disk, sizeof(struct raw_device),
		    offsetof(struct raw_device, next));
	int xarray = add_xarray(btf, ulong, letter);
	add_queue_types(btf, ulong, uint, int_, xarray, is_array);
	if (has_drivers)
		add_driver_types(btf, ulong, uint, letter);
	kernel_data_take_types(&machine->kernel);
}

static struct machine *machine_create(bool is_array, bool has_drivers)
{
	static const struct test_symbol symbols[] = {
		{ AT(filesystem), 'd', "blockdev_superblock" },
		{ AT(jiffies), 'D', "jiffies" },
		{ AT(tick), 'D', "tick_nsec" },
		{ AT(keeper), 'd', "shadow_timekeeper" },
		{ CODE, 't', "virtio_queue_rq" },
		{ CODE + 64, 't', "scsi_queue_rq" },
		{ CODE + 128, 't', "nvme_queue_rq" },
		{ CODE + 192, 't', "floppy_queue_rq" },
		{ CODE + 256, 'D', "_end" },
	};
	struct machine *machine = calloc(1, sizeof(*machine));
	if (!machine)
		abort();
	machine->kernel.start = DATA;
	machine->kernel.bytes = &machine->data;
	machine->kernel.size = sizeof(machine->data);
	kernel_data_init(&machine->kernel, TABLES, symbols, ARRAY_COUNT(symbols));
	add_types(machine, is_array, has_drivers);
	put_data(machine, is_array);
	return machine;
}

static void machine_destroy(struct machine *machine)
{
	kernel_data_deinit(&machine->kernel);
	free(machine);
}

static const char *rows_of(struct machine *machine, bool *ret_problem)
{
	return table_rows_read(&machine->rows, &machine->kernel.target, &table_iocommands,
			       ret_problem);
}

#define TIMES(left) "10000000000|30000000000|" left
#define VIRTIO_ROW                                                                                 \
	"virtio_blk|0|OUT|1|01000000000000000810000000000000|4104|" TIMES("0") "|0|-|-|-|"         \
									       "virtio1|vda;"
#define SCSI_ROW                                                                                   \
	"scsi|0|WRITE_16|138|8a000102030405060708000000080000|72623859790382856|" TIMES(           \
		"1000000000") "|1|2|5|7|0:0:1:0|sda;"
#define NVME_ROW                                                                                   \
	"nvme|0|read|2|0200007000000000000000000000000000000000|8200|" TIMES(                      \
		"2000000000") "|0|1|-|1|nvme0|nvme0n1;"
#define OTHER_ROW "floppy_queue_rq|0|-|-|-|-|" TIMES("3000000000") "|0|-|-|-|-|fd0;"

static void test_whole(void)
{
	for (unsigned int is_array = 0; is_array < 2; is_array++) {
		struct machine *machine = machine_create(is_array, true);
		bool has_problem;
		/* Each once, though the array has its queue twice. */
		CHECK_STRING(rows_of(machine, &has_problem),
			     VIRTIO_ROW SCSI_ROW NVME_ROW OTHER_ROW);
		CHECK(!has_problem);
		machine_destroy(machine);
	}
}

/* Without the drivers' types there are the requests, and it is said why no more. */
static void test_untyped(void)
{
	struct machine *machine = machine_create(false, false);
	bool has_problem;
	const char *rows = rows_of(machine, &has_problem);
	CHECK(has_problem);
	CHECK(strstr(rows, "scsi|0|-|-|-|-|" TIMES("1000000000") "|1|-|-|-|-|sda;"));
	CHECK(strstr(rows, OTHER_ROW));
	CHECK_U64(machine->rows.count, DISKS);
	machine_destroy(machine);
}

static void test_broken(void)
{
	struct machine *machine = machine_create(false, true);
	struct raw_data *data = &machine->data;
	bool has_problem;
	scsi_of(machine)->length = 6;
	scsi_of(machine)->cdb[0] = 0x08;
	scsi_of(machine)->cdb[1] = 0xff;
	scsi_of(machine)->device = NOWHERE;
	nvme_of(machine)->command = NOWHERE;
	nvme_of(machine)->controller = 0;
	data->sets[VIRTIO][1] = 0;
	data->requests[VIRTIO].command[0] = 99;
	CHECK_STRING(rows_of(machine, &has_problem),
		     "virtio_blk|0|-|99|63000000000000000810000000000000|-|" TIMES(
			     "0") "|0|-|-|-|-|"
				  "vda;"
				  "scsi|0|-|8|08ff01020304|-|" TIMES(
					  "1000000000") "|1|2|5|7|-|sda;"
							"nvme|0|-|-|-|-|" TIMES(
								"2000000000") "|0|1|-|1|-|"
									      "nvme0n1;" OTHER_ROW);
	nvme_of(machine)->command = AT(elsewhere);
	CHECK(strstr(rows_of(machine, &has_problem), "nvme|0|-|-|-|-|"));
	nvme_of(machine)->command = SENT;
	CHECK(strstr(rows_of(machine, &has_problem), "nvme|0|read|2|0200007000"));
	nvme_of(machine)->sent[2] = 1; /* of tag 1 */
	CHECK(strstr(rows_of(machine, &has_problem), "nvme|0|-|-|-|-|"));
	scsi_of(machine)->length = 65;
	data->requests[SCSI].timeout = UINT32_MAX;
	data->tick = UINT64_MAX / 2;
	data->operations[NVME] += 4;
	CHECK(strstr(rows_of(machine, &has_problem),
		     "scsi|0|-|-|-|-|10000000000|-|-|1|2|5|7|-|sda;"));
	CHECK(strstr(machine->rows.text, "0xffffffff82010084|0|-|-|-|-|"));
	machine_destroy(machine);
}

/* Queues, sets and tags that lead nowhere cost their own disk. */
static void test_wild(void)
{
	struct machine *machine = machine_create(true, true);
	struct raw_data *data = &machine->data;
	bool has_problem;
	data->queues[VIRTIO].tag_set = NOWHERE;
	data->queues[SCSI].hardware[1] = UINT32_MAX;
	data->queues[NVME].hardware[0] = NOWHERE;
	data->queues[OTHER].tag_set = 0;
	CHECK_STRING(
		rows_of(machine, &has_problem),
		"-|0|-|-|-|-|" TIMES("0") "|0|-|-|-|-|vda;"
					  "-|0|-|-|-|-|" TIMES("3000000000") "|0|-|-|-|-|fd0;");
	CHECK(has_problem);
	data->arrays[VIRTIO][0] = 0;
	data->arrays[OTHER][0] = NOWHERE;
	CHECK_STRING(rows_of(machine, &has_problem), "");
	machine_destroy(machine);
}

static void test_mutations(void)
{
	struct machine *machine = machine_create(false, true);
	struct raw_data whole = machine->data;
	uint8_t *bytes = (uint8_t *)&machine->data;
	bool has_problem;
	for (size_t i = 0; i < sizeof(machine->data); i++)
		for (unsigned int bit = 0; bit < 8; bit += 3) {
			machine->data = whole;
			bytes[i] ^= (uint8_t)(1u << bit);
			rows_of(machine, &has_problem);
			CHECK(machine->rows.count <= DISKS);
		}
	machine_destroy(machine);
}

static void test_opcodes(void)
{
	static const uint8_t read_12[] = { 0xa8, 0, 0, 1, 0, 2, 0, 0, 0, 8, 0, 0 };
	static const uint8_t unknown[64] = { 0xc9 };
	struct opcode opcode;
	CHECK(opcode_decode(COMMANDS_SCSI_DISK, read_12, sizeof(read_12), false, &opcode));
	CHECK_STRING(opcode.name, "READ_12");
	CHECK_U64(opcode.block, 0x10002);
	/* The unit of SCSI-2 is no part of the number. */
	static const uint8_t read_6[] = { 0x08, 0xff, 1, 2, 3, 4 };
	CHECK(opcode_decode(COMMANDS_SCSI_DISK, read_6, sizeof(read_6), false, &opcode));
	CHECK_STRING(opcode.name, "READ_6");
	CHECK_U64(opcode.block, 0x1f0102);
	/* A READ_10 of six bytes has no such number. */
	static const uint8_t cut[] = { 0x28, 0, 1, 2, 3, 4 }, cut_16[] = { 0x88, 0, 1, 2, 3, 4 };
	CHECK(opcode_decode(COMMANDS_SCSI_DISK, cut, sizeof(cut), false, &opcode) &&
	      opcode.has_block);
	CHECK(opcode_decode(COMMANDS_SCSI_DISK, cut_16, sizeof(cut_16), false, &opcode) &&
	      !opcode.has_block);
	CHECK(!opcode_decode(COMMANDS_SCSI_DISK, cut, 5, false, &opcode));
	CHECK(opcode_decode(COMMANDS_NVME, unknown, sizeof(unknown), false, &opcode));
	CHECK(!opcode.name && !opcode.has_block);
	CHECK_U64(opcode.code, 0xc9);
	CHECK(!opcode_decode(COMMANDS_NVME, unknown, 63, false, &opcode));
	CHECK(!opcode_decode(COMMANDS_VIRTIO, unknown, 15, false, &opcode));
	static const uint8_t big[16] = { 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0x08 };
	CHECK(opcode_decode(COMMANDS_VIRTIO, big, sizeof(big), true, &opcode));
	CHECK_STRING(opcode.name, "OUT");
	CHECK_U64(opcode.block, 4104);
}

static const char *scsi_name(enum command_set set, uint8_t code, uint8_t second)
{
	const uint8_t bytes[16] = { code, second, 0, 0, 0, 0, 0, 0, 0x12, 0x34 };
	struct opcode opcode;
	CHECK(opcode_decode(set, bytes, sizeof(bytes), false, &opcode));
	CHECK_U64(opcode.code, code);
	return opcode.name ?: "";
}

/* One opcode is several commands, and what nobody but a vendor knows is a number. */
static void test_scsi_kinds(void)
{
	static const struct {
		uint8_t code, second;
		const char *disk, *rom, *any;
	} wanted[] = {
		{ 0x12, 0, "INQUIRY", "INQUIRY", "INQUIRY" },
		{ 0x28, 0, "READ_10", "READ_10", "READ_10" },
		{ 0x42, 0, "UNMAP", "", "" },		     /* READ SUB-CHANNEL */
		{ 0xa1, 0, "ATA_12", "", "" },		     /* BLANK */
		{ 0xa3, 0x0a, "REPORT_TARGET_PGS", "", "" }, /* SEND KEY */
		{ 0xa3, 0xec, "REPORT_SUPPORTED_OPERATION_CODES", "", "" },
		{ 0xa3, 0x1f, "MAINTENANCE_IN", "", "" }, /* a vendor's */
		{ 0xa4, 0x0f, "SET_TIMESTAMP", "", "" },  /* REPORT KEY */
		{ 0x9e, 0x10, "READ_CAPACITY_16", "", "" },
		{ 0x9e, 0x12, "GET_LBA_STATUS_16", "", "" },
		{ 0x9e, 0x00, "SERVICE_ACTION_IN_16", "", "" },
		{ 0x95, 0x00, "REPORT_ZONES", "", "" },
		{ 0x95, 0x1f, "ZBC_IN", "", "" },
		{ 0xa8, 0, "READ_12", "READ_12", "READ_12" },
		{ 0x20, 0, "", "", "" },
		{ 0xc1, 0, "", "", "" },
		{ 0xff, 0, "", "", "" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(wanted); i++) {
		CHECK_STRING(scsi_name(COMMANDS_SCSI_DISK, wanted[i].code, wanted[i].second),
			     wanted[i].disk);
		CHECK_STRING(scsi_name(COMMANDS_SCSI_ROM, wanted[i].code, wanted[i].second),
			     wanted[i].rom);
		CHECK_STRING(scsi_name(COMMANDS_SCSI, wanted[i].code, wanted[i].second),
			     wanted[i].any);
	}
	for (unsigned int code = 0xc0; code < 256; code++)
		CHECK_STRING(scsi_name(COMMANDS_SCSI_DISK, (uint8_t)code, 0), "");
	CHECK_U64(opcode_scsi_set(0), COMMANDS_SCSI_DISK);
	CHECK_U64(opcode_scsi_set(0x14), COMMANDS_SCSI_DISK);
	CHECK_U64(opcode_scsi_set(5), COMMANDS_SCSI_ROM);
	CHECK_U64(opcode_scsi_set(1), COMMANDS_SCSI);
	CHECK_U64(opcode_scsi_set(UINT64_MAX), COMMANDS_SCSI);
}

int main(void)
{
	RUN(test_whole);
	RUN(test_untyped);
	RUN(test_broken);
	RUN(test_wild);
	RUN(test_mutations);
	RUN(test_opcodes);
	RUN(test_scsi_kinds);
	return test_finish();
}
