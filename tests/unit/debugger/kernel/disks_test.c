// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Disks by the inodes of their devices, and the requests that their drivers have: tags that lead to
 * who had them before, to other disks' requests and to nowhere, counts that no disk has.
 */
#include "base/array.h"
#include "debugger/kernel/disks.h"
#include "tests/unit/disk_types.h"
#include "tests/unit/kernel_data.h"
#include "tests/unit/test.h"

#define DATA	  0xffffffff82000000u
#define TABLES	  0xffffffff83000000u
#define NOWHERE	  0xffff8880dead0000u
#define DISKS	  2u
#define TAGS	  4u
#define IN_FLIGHT 1u

/* The kernel's structs: the members that are asked for, in layouts of our own. */
struct raw_inode {
	uint64_t next, prev, filesystem;
};

struct raw_device {
	uint64_t disk, whole; /* whole: of 5.10 */
	struct raw_inode inode;
};

/* Of 5.10: struct hd_struct. */
struct raw_part {
	uint64_t number, device;
};

struct raw_disk {
	uint64_t first, queue;
	char name[32];
	struct raw_part part0;
};

/* Of a class: struct subsys_private, and the struct device_private of its devices. */
struct raw_class {
	uint64_t entry[2], devices[2], class;
};

struct raw_member {
	uint64_t node[2], device;
};

struct raw_queue {
	uint64_t hardware[2]; /* an xarray: flags, and its one entry */
};

struct raw_hardware {
	uint64_t tags, number, queue;
};

struct raw_tags {
	uint32_t count, pad;
	uint64_t requests;
};

struct raw_request {
	uint64_t queue, hardware, start, sector;
	uint32_t state, bytes;
	int32_t tag, pad;
};

struct raw_data {
	uint64_t filesystem;		      /* the variable */
	uint64_t inodes[2];		      /* of the super block: the head of the list */
	struct raw_device devices[DISKS + 1]; /* the last is a partition of the first */
	struct raw_disk disks[DISKS];
	struct raw_queue queues[DISKS];
	struct raw_hardware hardware[DISKS];
	struct raw_tags tags[DISKS];
	uint64_t table[DISKS][TAGS];
	struct raw_request requests[DISKS][TAGS];
	/* Of 5.10: all disks by their class, a partition, and one that nobody has open. */
	uint64_t class_kset, kset[2], class;
	struct raw_class set;
	struct raw_member members[DISKS + 2];
	struct raw_disk closed;
	struct raw_part partition;
};

struct machine {
	struct kernel_data kernel;
	struct raw_data data;
	struct disk disks[8];
	struct disk_request requests[8];
	size_t disk_count, request_count, broken_count;
};

#define AT(member) (DATA + offsetof(struct raw_data, member))

static void put_class(struct raw_data *data)
{
	const uint64_t devices[] = { AT(disks[0].part0.device), AT(partition.device),
				     AT(closed.part0.device), AT(disks[1].part0.device) };
	data->class_kset = AT(kset);
	data->kset[0] = data->kset[1] = AT(set.entry);
	data->set = (struct raw_class){ { AT(kset), AT(kset) },
					{ AT(members[0]), AT(members[ARRAY_COUNT(devices) - 1]) },
					AT(class) };
	for (unsigned int i = 0; i < ARRAY_COUNT(devices); i++)
		data->members[i] = (struct raw_member){
			{ i + 1 < ARRAY_COUNT(devices) ? AT(members[i + 1]) : AT(set.devices),
			  i ? AT(members[i - 1]) : AT(set.devices) },
			devices[i]
		};
	data->closed = (struct raw_disk){ .queue = AT(queues[1]), .name = "vdz" };
	data->partition.number = 1;
}

static void put_data(struct machine *machine)
{
	struct raw_data *data = &machine->data;
	data->filesystem = AT(inodes);
	for (unsigned int i = 0; i <= DISKS; i++)
		data->devices[i] = (struct raw_device){
			.disk = AT(disks[i % DISKS]),
			.whole = AT(devices[i % DISKS]),
			.inode = { .next = i < DISKS ? AT(devices[i + 1].inode) : AT(inodes),
				   .prev = i ? AT(devices[i - 1].inode) : AT(inodes),
				   .filesystem = AT(inodes) },
		};
	data->inodes[0] = AT(devices[0].inode);
	data->inodes[1] = AT(devices[DISKS].inode);
	for (unsigned int i = 0; i < DISKS; i++) {
		data->disks[i] =
			(struct raw_disk){ .first = AT(devices[i]), .queue = AT(queues[i]) };
		snprintf(data->disks[i].name, sizeof(data->disks[i].name), "vd%c", 'a' + i);
		data->queues[i].hardware[1] = AT(hardware[i]);
		data->hardware[i].tags = AT(tags[i]);
		data->hardware[i].queue = AT(queues[i]);
		data->tags[i] = (struct raw_tags){ .count = TAGS, .requests = AT(table[i]) };
		for (unsigned int k = 0; k < TAGS; k++) {
			data->table[i][k] = AT(requests[i][k]);
			data->requests[i][k] = (struct raw_request){ .queue = AT(queues[i]),
								     .hardware = AT(hardware[i]),
								     .start = 100 * (k + 1),
								     .sector = 8 * k,
								     .state = 0,
								     .bytes = 4096,
								     .tag = (int32_t)k };
		}
	}
	/* The second disk has two, and a tag of it leads to a request that has another one now. */
	data->requests[1][0].state = data->requests[1][2].state = IN_FLIGHT;
	data->table[1][3] = AT(requests[1][2]);
	put_class(data);
}

/* Returns the number of struct hd_struct. */
static int add_class(struct libbpf_btf *btf, int ulong, int list)
{
	int device = btf__add_struct(btf, "device", 8);
	add_member(btf, "driver_data", ulong, 0);
	int to_device = btf__add_ptr(btf, device);
	int part = btf__add_struct(btf, "hd_struct", sizeof(struct raw_part));
	add_member(btf, "partno", ulong, 0);
	add_member(btf, "__dev", device, offsetof(struct raw_part, device));
	int kobject = btf__add_struct(btf, "kobject", 16);
	add_member(btf, "entry", list, 0);
	btf__add_struct(btf, "kset", 16);
	add_member(btf, "list", list, 0);
	int inner = btf__add_struct(btf, "kset_of_class", 16);
	add_member(btf, "kobj", kobject, 0);
	int klist = btf__add_struct(btf, "klist", 16);
	add_member(btf, "k_list", list, 0);
	int node = btf__add_struct(btf, "klist_node", 16);
	add_member(btf, "n_node", list, 0);
	btf__add_struct(btf, "subsys_private", sizeof(struct raw_class));
	add_member(btf, "subsys", inner, 0);
	add_member(btf, "klist_devices", klist, offsetof(struct raw_class, devices));
	add_member(btf, "class", ulong, offsetof(struct raw_class, class));
	btf__add_struct(btf, "device_private", sizeof(struct raw_member));
	add_member(btf, "knode_class", node, 0);
	add_member(btf, "device", to_device, offsetof(struct raw_member, device));
	return part;
}

static void add_types(struct machine *machine, bool is_old)
{
	struct libbpf_btf *btf = machine->kernel.source;
	int int_ = btf__add_int(btf, "int", 4, 1), uint = btf__add_int(btf, "uint", 4, 0);
	int ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	int letter = btf__add_int(btf, "char", 1, 0);
	int list = add_list_head(btf);
	btf__add_enum(btf, "mq_rq_state", 4);
	btf__add_enum_value(btf, "MQ_RQ_IDLE", 0);
	btf__add_enum_value(btf, "MQ_RQ_IN_FLIGHT", IN_FLIGHT);
	int part = is_old ? add_class(btf, ulong, list) : 0;
	int disk = (is_old ? add_old_gendisk : add_gendisk)(
		btf, ulong, letter, sizeof(struct raw_disk), offsetof(struct raw_disk, name));
	if (is_old)
		add_member(btf, "part0", part, offsetof(struct raw_disk, part0));
	(is_old ? add_old_devices : add_devices)(btf, ulong, list, disk, sizeof(struct raw_device),
						 offsetof(struct raw_device, inode));
	int xarray = add_xarray(btf, ulong, letter);
	btf__add_struct(btf, "request_queue", sizeof(struct raw_queue));
	add_member(btf, "hctx_table", xarray, 0);
	int tags = btf__add_struct(btf, "blk_mq_tags", sizeof(struct raw_tags));
	add_member(btf, "nr_tags", uint, 0);
	add_member(btf, "rqs", ulong, offsetof(struct raw_tags, requests));
	int to_tags = btf__add_ptr(btf, tags);
	int hardware = btf__add_struct(btf, "blk_mq_hw_ctx", sizeof(struct raw_hardware));
	add_member(btf, "tags", to_tags, 0);
	add_member(btf, "queue_num", uint, offsetof(struct raw_hardware, number));
	add_member(btf, "queue", ulong, offsetof(struct raw_hardware, queue));
	int to_hardware = btf__add_ptr(btf, hardware);
	btf__add_struct(btf, "request", sizeof(struct raw_request));
	add_member(btf, "q", ulong, 0);
	add_member(btf, "mq_hctx", to_hardware, offsetof(struct raw_request, hardware));
	add_member(btf, "start_time_ns", ulong, offsetof(struct raw_request, start));
	add_member(btf, "__sector", ulong, offsetof(struct raw_request, sector));
	add_member(btf, "state", uint, offsetof(struct raw_request, state));
	add_member(btf, "__data_len", uint, offsetof(struct raw_request, bytes));
	add_member(btf, "tag", int_, offsetof(struct raw_request, tag));
	kernel_data_take_types(&machine->kernel);
}

static struct machine *machine_create(bool is_old)
{
	static const struct test_symbol symbols[] = {
		{ AT(filesystem), 'd', "blockdev_superblock" },
		{ AT(class_kset), 'd', "class_kset" },
		{ AT(class), 'd', "block_class" },
		{ DATA + 8192, 'D', "_end" },
	};
	struct machine *machine = calloc(1, sizeof(*machine));
	if (!machine)
		abort();
	machine->kernel.start = DATA;
	machine->kernel.bytes = &machine->data;
	machine->kernel.size = sizeof(machine->data);
	kernel_data_init(&machine->kernel, TABLES, symbols, ARRAY_COUNT(symbols));
	add_types(machine, is_old);
	put_data(machine);
	return machine;
}

static void machine_destroy(struct machine *machine)
{
	kernel_data_deinit(&machine->kernel);
	free(machine);
}

static struct error *take_disk(void *context, const struct disk *disk)
{
	struct machine *machine = context;
	if (machine->disk_count == ARRAY_COUNT(machine->disks))
		return error_create(ERROR_OTHER, "enough");
	machine->disks[machine->disk_count++] = *disk;
	return NULL;
}

static struct error *take_request(void *context, const struct disk_request *request)
{
	struct machine *machine = context;
	if (machine->request_count == ARRAY_COUNT(machine->requests))
		return error_create(ERROR_OTHER, "enough");
	machine->requests[machine->request_count++] = *request;
	return NULL;
}

static struct error *count_broken(void *context, struct error *problem)
{
	struct machine *machine = context;
	machine->broken_count++;
	return error_only_fatal(problem);
}

/* Those of one disk, with so many tags at most. */
static struct error *ask(struct machine *machine, unsigned int disk, uint64_t left)
{
	const struct disk of = { .queue = AT(queues[disk]) };
	machine->request_count = machine->broken_count = 0;
	return disk_requests_for_each(&machine->kernel.target, &of, take_request, count_broken,
				      machine, &left);
}

static void test_disks(void)
{
	struct machine *machine = machine_create(false);
	uint64_t device;
	CHECK_OK(disks_for_each(&machine->kernel.target, take_disk, NULL, machine));
	/* The partition is none of its own. */
	CHECK_U64(machine->disk_count, DISKS);
	CHECK_STRING(machine->disks[1].name, "vdb");
	CHECK_U64(machine->disks[1].queue, AT(queues[1]));
	CHECK_U64(machine->disks[1].address, AT(disks[1]));
	machine->disk_count = ARRAY_COUNT(machine->disks);
	CHECK_FAILS(disks_for_each(&machine->kernel.target, take_disk, NULL, machine), "enough");
	CHECK_OK(block_device_of_inode(&machine->kernel.target, AT(devices[1].inode), &device));
	CHECK_U64(device, AT(devices[1]));
	machine->data.devices[1].inode.filesystem = NOWHERE;
	CHECK_OK(block_device_of_inode(&machine->kernel.target, AT(devices[1].inode), &device));
	CHECK_U64(device, 0);
	CHECK_FAILS(block_device_of_inode(&machine->kernel.target, NOWHERE, &device), "nothing at");
	machine_destroy(machine);
}

/* 5.10: a device says which one is the whole; who has none is found by its class. */
static void test_old_disks(void)
{
	struct machine *machine = machine_create(true);
	CHECK_OK(disks_for_each(&machine->kernel.target, take_disk, NULL, machine));
	CHECK_U64(machine->disk_count, DISKS + 1);
	CHECK_STRING(machine->disks[0].name, "vda");
	CHECK_STRING(machine->disks[DISKS].name, "vdz");
	CHECK_U64(machine->disks[DISKS].address, AT(closed));
	CHECK_U64(machine->disks[DISKS].queue, AT(queues[1]));
	machine->disk_count = ARRAY_COUNT(machine->disks) - DISKS;
	CHECK_FAILS(disks_for_each(&machine->kernel.target, take_disk, count_broken, machine),
		    "enough");
	CHECK_U64(machine->broken_count, 0);
	/* One that is in no disk, and one that says it is the whole, too. */
	machine->disk_count = 0;
	machine->data.devices[0].whole = NOWHERE;
	machine->data.devices[2].whole = AT(devices[2]);
	CHECK_OK(disks_for_each(&machine->kernel.target, take_disk, NULL, machine));
	CHECK_U64(machine->disk_count, DISKS + 1);
	CHECK_STRING(machine->disks[0].name, "vdb");
	CHECK_U64(machine->disks[1].address, AT(disks[0]));
	machine_destroy(machine);
}

/* Each is told; what was found before stays. */
static void test_broken_class(void)
{
	struct machine *machine = machine_create(true);
	struct raw_data *data = &machine->data;
	data->members[1].device = data->members[2].device = NOWHERE;
	CHECK_OK(disks_for_each(&machine->kernel.target, take_disk, count_broken, machine));
	CHECK(machine->disk_count == DISKS && machine->broken_count == 2);
	/* In a ring beside the head. */
	put_data(machine);
	machine->disk_count = machine->broken_count = 0;
	data->members[3].node[0] = AT(members[2]);
	CHECK_OK(disks_for_each(&machine->kernel.target, take_disk, count_broken, machine));
	CHECK(machine->disk_count <= DISKS + 2 && machine->broken_count == 1);
	put_data(machine);
	machine->disk_count = machine->broken_count = 0;
	data->class_kset = NOWHERE;
	CHECK_OK(disks_for_each(&machine->kernel.target, take_disk, count_broken, machine));
	CHECK(machine->disk_count == DISKS && machine->broken_count == 1);
	machine_destroy(machine);
}

static void test_requests(void)
{
	struct machine *machine = machine_create(false);
	CHECK_OK(ask(machine, 0, UINT64_MAX));
	CHECK_U64(machine->request_count, 0);
	CHECK_OK(ask(machine, 1, UINT64_MAX));
	CHECK_U64(machine->request_count, 2);
	CHECK_U64(machine->requests[0].start, 100);
	CHECK_U64(machine->requests[1].address, AT(requests[1][2]));
	CHECK_U64(machine->requests[1].sector, 16);
	CHECK_U64(machine->requests[1].bytes, 4096);
	/* No more tags are looked at than are left. */
	CHECK_OK(ask(machine, 1, TAGS - 1));
	CHECK(!machine->request_count && machine->broken_count == 1);
	/* Of tags that queues share, one may be of a queue that is not the first. */
	machine->data.requests[1][0].hardware = AT(hardware[0]);
	machine->data.hardware[0].queue = AT(queues[1]);
	CHECK_OK(ask(machine, 1, TAGS));
	CHECK_U64(machine->request_count, 2);
	machine->data.hardware[0].queue = AT(queues[0]);
	/* Another disk's request is not this one's. */
	machine->data.requests[1][0].queue = AT(queues[0]);
	machine->data.requests[1][2].hardware = AT(hardware[0]);
	CHECK_OK(ask(machine, 1, UINT64_MAX));
	CHECK_U64(machine->request_count, 0);
	machine_destroy(machine);
}

static void test_wild(void)
{
	struct machine *machine = machine_create(false);
	struct raw_data *data = &machine->data;
	data->table[1][0] = NOWHERE;
	CHECK_OK(ask(machine, 1, UINT64_MAX));
	CHECK(machine->request_count == 1 && machine->broken_count == 1);
	/* One that is at another's place was met there. */
	data->hardware[1].number = 1;
	CHECK_OK(ask(machine, 1, UINT64_MAX));
	CHECK(!machine->request_count && !machine->broken_count);
	data->hardware[1].number = 0;
	data->tags[1].count = UINT32_MAX;
	CHECK_OK(ask(machine, 1, UINT64_MAX));
	CHECK(!machine->request_count && machine->broken_count == 1);
	data->tags[1] = (struct raw_tags){ .count = TAGS, .requests = NOWHERE };
	CHECK_OK(ask(machine, 1, UINT64_MAX));
	CHECK(!machine->request_count && machine->broken_count == 1);
	data->hardware[1].tags = 0;
	CHECK_OK(ask(machine, 1, UINT64_MAX));
	CHECK_U64(machine->request_count, 0);
	data->queues[1].hardware[1] = 0;
	CHECK_OK(ask(machine, 1, UINT64_MAX));
	/* A disk that is nowhere leaves the others. */
	data->devices[0].disk = NOWHERE;
	CHECK_OK(disks_for_each(&machine->kernel.target, take_disk, count_broken, machine));
	CHECK(machine->disk_count == DISKS - 1 && machine->broken_count == 1);
	machine->disk_count = 0;
	/* A circle beside the head, and no super block at all. */
	data->devices[2].inode.next = AT(devices[1].inode);
	error_free(disks_for_each(&machine->kernel.target, take_disk, NULL, machine));
	CHECK(machine->disk_count <= DISKS);
	data->filesystem = NOWHERE;
	CHECK_FAILS(disks_for_each(&machine->kernel.target, take_disk, NULL, machine), "");
	machine_destroy(machine);
}

int main(void)
{
	RUN(test_disks);
	RUN(test_old_disks);
	RUN(test_broken_class);
	RUN(test_requests);
	RUN(test_wild);
	return test_finish();
}
