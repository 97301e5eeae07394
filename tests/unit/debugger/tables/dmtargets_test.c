// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Devices of the device mapper: whole, beside a disk that is none, with targets of another table,
 * more stripes than are shown, lists in circles, pointers that lead nowhere, and with every byte
 * changed.
 */
#include "base/array.h"
#include "tests/unit/disk_types.h"
#include "tests/unit/kernel_data.h"
#include "tests/unit/table_rows.h"
#include "tests/unit/test.h"

#define DATA	0xffffffff82000000u
#define TABLES	0xffffffff83000000u
#define NOWHERE 0xffff8880dead0000u
#define CODE	(DATA + 65536)
#define DISKS	3u
#define TARGETS 4u
#define STRIPES 70u

extern const struct table table_dmtargets;

struct raw_inode {
	uint64_t disk, next, prev, filesystem;
};

struct raw_disk {
	uint64_t first, queue, operations, owner;
	char name[32];
};

struct raw_mapped {
	uint64_t map, flags, disk, cell;
	uint32_t opened, event;
};

struct raw_table {
	uint64_t targets, devices[2];
	uint32_t count, pad;
	uint64_t device;
};

struct raw_target {
	uint64_t table, type, begin, length, private;
};

struct raw_place {
	uint64_t device, start;
};

struct raw_data {
	uint64_t filesystem, inodes[2];
	struct raw_inode devices[DISKS];
	struct raw_disk disks[DISKS];
	uint64_t operations[2]; /* ioctl: of a disk, of the device mapper's */
	struct raw_mapped mapped[DISKS];
	uint64_t cells[DISKS][3]; /* name, uuid, md */
	struct raw_table tables[DISKS];
	struct raw_target targets[TARGETS];
	uint64_t types[TARGETS][2]; /* name, map */
	struct raw_place linear;
	uint64_t stripe_count;
	struct raw_place stripes[STRIPES];
	uint64_t listed[2][3]; /* list, dm_dev */
	char below[2][16];
	char names[4][16], labels[2][16];
};

struct machine {
	struct kernel_data kernel;
	struct raw_data data;
	struct table_rows rows;
};

#define AT(member) (DATA + offsetof(struct raw_data, member))

static void put_disks(struct raw_data *data)
{
	data->filesystem = AT(inodes);
	data->inodes[0] = AT(devices[0].next);
	data->inodes[1] = AT(devices[DISKS - 1].next);
	for (unsigned int i = 0; i < DISKS; i++) {
		data->devices[i] = (struct raw_inode){
			.disk = AT(disks[i]),
			.next = i + 1 < DISKS ? AT(devices[i + 1].next) : AT(inodes),
			.prev = i ? AT(devices[i - 1].next) : AT(inodes),
			.filesystem = AT(inodes),
		};
		data->disks[i] = (struct raw_disk){ .first = AT(devices[i]),
						    .queue = AT(operations),
						    .operations = AT(operations[i > 0]),
						    .owner = AT(mapped[i]) };
		snprintf(data->disks[i].name, sizeof(data->disks[i].name), i ? "dm-%u" : "sda",
			 i - 1);
		data->mapped[i] = (struct raw_mapped){ .map = AT(tables[i]),
						       .disk = AT(disks[i]),
						       .cell = AT(cells[i]) };
		data->cells[i][2] = AT(mapped[i]);
	}
	data->operations[0] = CODE;
	data->operations[1] = CODE + 64;
}

static void add_listed(struct raw_data *data)
{
	uint64_t head = AT(tables[2].devices);
	data->tables[2].devices[0] = data->listed[1][1] = AT(listed[0]);
	data->listed[0][1] = head;
	data->listed[0][0] = data->tables[2].devices[1] = AT(listed[1]);
	data->listed[1][0] = head;
	data->listed[0][2] = AT(below[0]);
	data->listed[1][2] = AT(below[1]);
}

/* One of three targets, one of a kind that is not known. */
static void put_data(struct machine *machine)
{
	static const char *const names[TARGETS] = { "linear", "striped", "error", "thin" };
	struct raw_data *data = &machine->data;
	memset(data, 0, sizeof(*data));
	put_disks(data);
	strcpy(data->labels[0], "vg-root");
	strcpy(data->labels[1], "LVM-x");
	data->cells[1][0] = AT(labels[0]);
	data->cells[1][1] = AT(labels[1]);
	data->cells[2][0] = AT(labels[0]);
	data->mapped[1].opened = 2;
	data->mapped[2].flags = 3;
	data->mapped[2].event = 9;
	data->tables[1].targets = AT(targets[0]);
	data->tables[1].count = 3;
	data->tables[1].device = AT(mapped[1]);
	data->tables[2].device = AT(mapped[2]);
	data->tables[2].targets = AT(targets[3]);
	data->tables[2].count = 1;
	for (unsigned int i = 0; i < TARGETS; i++) {
		strcpy(data->names[i], names[i]);
		data->types[i][0] = AT(names[i]);
		data->types[i][1] = CODE + 128;
		data->targets[i] = (struct raw_target){
			.table = i < 3 ? AT(tables[1]) : AT(tables[2]),
			.type = AT(types[i]),
			.begin = i < 3 ? 100 * i : 0,
			.length = 100,
		};
	}
	strcpy(data->below[0], "8:0");
	strcpy(data->below[1], "8:16");
	data->linear = (struct raw_place){ AT(below[0]), 64 };
	data->targets[0].private = AT(linear);
	data->stripe_count = 2;
	data->targets[1].private = AT(stripe_count);
	for (unsigned int i = 0; i < STRIPES; i++)
		data->stripes[i] = (struct raw_place){ AT(below[i & 1]), 8 * i };
	data->targets[3].private = NOWHERE;
	add_listed(data);
}

static void add_disk_types(struct libbpf_btf *btf, int ulong, int letter, int list)
{
	int operations = btf__add_struct(btf, "block_device_operations", 8);
	add_member(btf, "ioctl", ulong, 0);
	int to_operations = btf__add_ptr(btf, operations);
	int disk = add_gendisk(btf, ulong, letter, sizeof(struct raw_disk),
			       offsetof(struct raw_disk, name));
	add_member(btf, "fops", to_operations, offsetof(struct raw_disk, operations));
	add_member(btf, "private_data", ulong, offsetof(struct raw_disk, owner));
	add_devices(btf, ulong, list, disk, sizeof(struct raw_inode),
		    offsetof(struct raw_inode, next));
}

static void add_place_types(struct libbpf_btf *btf, int ulong, int uint, int letter, int list)
{
	int name = btf__add_array(btf, ulong, letter, 16);
	int device = btf__add_struct(btf, "dm_dev", 16);
	add_member(btf, "name", name, 0);
	int to_device = btf__add_ptr(btf, device);
	btf__add_struct(btf, "dm_dev_internal", 24);
	add_member(btf, "list", list, 0);
	add_member(btf, "dm_dev", to_device, 16);
	btf__add_struct(btf, "linear_c", sizeof(struct raw_place));
	add_member(btf, "dev", to_device, 0);
	add_member(btf, "start", ulong, 8);
	int stripe = btf__add_struct(btf, "stripe", sizeof(struct raw_place));
	add_member(btf, "dev", to_device, 0);
	add_member(btf, "physical_start", ulong, 8);
	int stripes = btf__add_array(btf, ulong, stripe, 0);
	btf__add_struct(btf, "stripe_c", 8);
	add_member(btf, "stripes", uint, 0);
	add_member(btf, "stripe", stripes, 8);
}

static void add_types(struct machine *machine)
{
	struct libbpf_btf *btf = machine->kernel.source;
	int uint = btf__add_int(btf, "unsigned int", 4, 0);
	int ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	int letter = btf__add_int(btf, "char", 1, BTF_INT_CHAR);
	int string = btf__add_ptr(btf, letter), list = add_list_head(btf);
	int counter = btf__add_struct(btf, "atomic_t", 4);
	add_member(btf, "counter", uint, 0);
	add_disk_types(btf, ulong, letter, list);
	add_place_types(btf, ulong, uint, letter, list);
	btf__add_struct(btf, "mapped_device", sizeof(struct raw_mapped));
	add_member(btf, "map", ulong, 0);
	add_member(btf, "flags", ulong, offsetof(struct raw_mapped, flags));
	add_member(btf, "disk", ulong, offsetof(struct raw_mapped, disk));
	add_member(btf, "interface_ptr", ulong, offsetof(struct raw_mapped, cell));
	add_member(btf, "open_count", counter, offsetof(struct raw_mapped, opened));
	add_member(btf, "event_nr", counter, offsetof(struct raw_mapped, event));
	btf__add_struct(btf, "hash_cell", 24);
	add_member(btf, "name", string, 0);
	add_member(btf, "uuid", string, 8);
	add_member(btf, "md", ulong, 16);
	btf__add_struct(btf, "dm_table", sizeof(struct raw_table));
	add_member(btf, "targets", ulong, 0);
	add_member(btf, "md", ulong, offsetof(struct raw_table, device));
	add_member(btf, "devices", list, offsetof(struct raw_table, devices));
	add_member(btf, "num_targets", uint, offsetof(struct raw_table, count));
	int type = btf__add_struct(btf, "target_type", 16);
	add_member(btf, "name", string, 0);
	add_member(btf, "map", ulong, 8);
	int to_type = btf__add_ptr(btf, type);
	btf__add_struct(btf, "dm_target", sizeof(struct raw_target));
	add_member(btf, "table", ulong, 0);
	add_member(btf, "type", to_type, offsetof(struct raw_target, type));
	add_member(btf, "begin", ulong, offsetof(struct raw_target, begin));
	add_member(btf, "len", ulong, offsetof(struct raw_target, length));
	add_member(btf, "private", ulong, offsetof(struct raw_target, private));
	kernel_data_take_types(&machine->kernel);
}

static struct machine *machine_create(void)
{
	static const struct test_symbol symbols[] = {
		{ AT(filesystem), 'd', "blockdev_superblock" },
		{ CODE, 't', "sd_ioctl" },
		{ CODE + 64, 't', "dm_blk_ioctl" },
		{ CODE + 128, 't', "linear_map" },
		{ CODE + 192, 'D', "_end" },
	};
	struct machine *machine = calloc(1, sizeof(*machine));
	if (!machine)
		abort();
	machine->kernel.start = DATA;
	machine->kernel.bytes = &machine->data;
	machine->kernel.size = sizeof(machine->data);
	kernel_data_init(&machine->kernel, TABLES, symbols, ARRAY_COUNT(symbols));
	add_types(machine);
	put_data(machine);
	return machine;
}

static void machine_destroy(struct machine *machine)
{
	kernel_data_deinit(&machine->kernel);
	free(machine);
}

static const char *rows_of(struct machine *machine, bool *ret_problem)
{
	return table_rows_read(&machine->rows, &machine->kernel.target, &table_dmtargets,
			       ret_problem);
}

#define FIRST	"dm-0|0|0|2|0|"
#define SECOND	"dm-1|1|3|0|9|"
#define NAMES	"|vg-root|LVM-x;"
#define LINEAR	FIRST "0|100|linear|8:0 64" NAMES
#define STRIPED FIRST "100|100|striped|8:0 0, 8:16 8" NAMES
#define ERROR	FIRST "200|100|error|-" NAMES
#define THIN	SECOND "0|100|thin|8:0, 8:16|vg-root|-;"

static void test_whole(void)
{
	struct machine *machine = machine_create();
	bool has_problem;
	CHECK_STRING(rows_of(machine, &has_problem), LINEAR STRIPED ERROR THIN);
	CHECK(!has_problem);
	/* Nobody has made a table. */
	machine->data.mapped[2].map = 0;
	CHECK_STRING(rows_of(machine, &has_problem),
		     LINEAR STRIPED ERROR SECOND "-|-|-|-|vg-root|-;");
	CHECK(!has_problem);
	machine_destroy(machine);
}

static void test_broken(void)
{
	struct machine *machine = machine_create();
	struct raw_data *data = &machine->data;
	bool has_problem;
	data->targets[0].private = NOWHERE;
	data->types[2][0] = NOWHERE;
	/* A cell that is another device's, and a circle beside the head. */
	data->cells[2][2] = AT(mapped[1]);
	data->listed[1][0] = AT(listed[0]);
	rows_of(machine, &has_problem);
	CHECK(has_problem);
	CHECK(strstr(machine->rows.text,
		     FIRST "0|100|linear|-" NAMES STRIPED FIRST "200|100|-|-" NAMES SECOND
			   "0|100|thin|8:0, 8:16|-|-;"));
	/* More stripes than are shown, or than there can be. */
	data->stripe_count = UINT32_MAX;
	rows_of(machine, &has_problem);
	CHECK_U64(machine->rows.count, TARGETS);
	/* Stripes of no device are none: they are not gone through to the end. */
	memset(data->stripes, 0, sizeof(data->stripes));
	rows_of(machine, &has_problem);
	CHECK(has_problem);
	CHECK_U64(machine->rows.count, TARGETS);
	/* The rows before one that is not the table's. */
	data->targets[1].table = AT(tables[2]);
	rows_of(machine, &has_problem);
	CHECK(has_problem);
	CHECK_U64(machine->rows.count, 2);
	/* Nor is a table of another device this one's. */
	data->targets[1].table = AT(tables[1]);
	data->tables[1].device = AT(mapped[2]);
	rows_of(machine, &has_problem);
	CHECK(has_problem);
	CHECK_U64(machine->rows.count, 1);
	data->tables[1].device = AT(mapped[1]);
	data->tables[1].count = UINT32_MAX;
	data->mapped[2].disk = AT(disks[1]);
	CHECK_STRING(rows_of(machine, &has_problem), "");
	CHECK(has_problem);
	data->disks[1].operations = NOWHERE;
	data->disks[2].owner = NOWHERE;
	CHECK_STRING(rows_of(machine, &has_problem), "");
	CHECK(has_problem);
	machine_destroy(machine);
}

static void test_mutations(void)
{
	struct machine *machine = machine_create();
	struct raw_data whole = machine->data;
	uint8_t *bytes = (uint8_t *)&machine->data;
	bool has_problem;
	for (size_t i = 0; i < sizeof(machine->data); i++)
		for (unsigned int bit = 0; bit < 8; bit += 3) {
			machine->data = whole;
			bytes[i] ^= (uint8_t)(1u << bit);
			rows_of(machine, &has_problem);
			CHECK(machine->rows.count <= TARGETS);
		}
	machine_destroy(machine);
}

int main(void)
{
	RUN(test_whole);
	RUN(test_broken);
	RUN(test_mutations);
	return test_finish();
}
