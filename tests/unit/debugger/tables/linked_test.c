// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Tables that follow chains of their own: resources within resources, device numbers by buckets.
 * Whole, in rings, leading nowhere, and with every byte changed.
 */
#include "base/array.h"
#include "tests/unit/changed_bytes.h"
#include "tests/unit/kernel_data.h"
#include "tests/unit/table_rows.h"

#define DATA	0xffffffff82000000u
#define TABLES	0xffffffff83000000u
#define NOWHERE 0xffff8880dead0000u
#define BUCKETS 255u

extern const struct table table_resources, table_majors;

struct raw_resource {
	uint64_t start, end, name, flags, parent, sibling, child;
};

struct raw_device {
	uint64_t next, cdev;
	uint32_t major, baseminor;
	int32_t minorct, unused;
	char name[64];
};

struct raw_misc {
	uint64_t minor, name, operations, list[2];
};

struct raw_probe {
	uint64_t next, dev, range, data;
};

enum { MEMORY, RAM, CODE, PCI, PORTS, KEYBOARD, RESOURCES };

struct raw_data {
	struct raw_resource resources[RESOURCES];
	char names[2][8];
	uint64_t chars[BUCKETS], blocks[BUCKETS], probes[BUCKETS], map, misc[2];
	struct raw_misc mouse;
	struct raw_device devices[3];
	struct raw_probe probe[2];
	uint64_t cdev[2]; /* ops */
};

struct machine {
	struct kernel_data kernel;
	struct raw_data data;
	struct table_rows rows;
};

#define AT(member) (DATA + offsetof(struct raw_data, member))

static void put_resource(struct raw_data *data, unsigned int number, uint64_t start, uint64_t end)
{
	data->resources[number] =
		(struct raw_resource){ .start = start, .end = end, .name = AT(names[number % 2]) };
}

static void put_device(struct raw_data *data, unsigned int number, uint32_t major, const char *name)
{
	data->devices[number] = (struct raw_device){ .major = major, .minorct = 4 };
	strcpy(data->devices[number].name, name);
}

/* Memory has RAM, which has code, and PCI. Two character devices share a bucket. */
static void put_data(struct raw_data *data)
{
	*data = (struct raw_data){ .map = AT(probes) };
	strcpy(data->names[0], "even");
	strcpy(data->names[1], "odd");
	put_resource(data, MEMORY, 0, UINT64_MAX);
	put_resource(data, PORTS, 0, 0xffff);
	put_resource(data, RAM, 0x1000, 0x1fff);
	put_resource(data, CODE, 0x1000, 0x10ff);
	put_resource(data, PCI, 0x8000, 0x8fff);
	put_resource(data, KEYBOARD, 0x60, 0x60);
	data->resources[PORTS].child = AT(resources[KEYBOARD]);
	data->resources[KEYBOARD].parent = AT(resources[PORTS]);
	data->resources[MEMORY].child = AT(resources[RAM]);
	data->resources[RAM].parent = data->resources[PCI].parent = AT(resources[MEMORY]);
	data->resources[RAM].sibling = AT(resources[PCI]);
	data->resources[RAM].child = AT(resources[CODE]);
	data->resources[CODE].parent = AT(resources[RAM]);
	put_device(data, 0, 4, "tty");
	put_device(data, 1, 4 + BUCKETS, "far");
	put_device(data, 2, 8, "sd");
	data->chars[4] = AT(devices[0]);
	data->devices[0].next = AT(devices[1]);
	data->blocks[8] = AT(devices[2]);
	/* The narrower range of the two is the device's. */
	data->probes[4] = AT(probe[0]);
	data->probe[0] = (struct raw_probe){ AT(probe[1]), 4u << 20, 1u << 20, AT(cdev[0]) };
	data->probe[1] = (struct raw_probe){ 0, 4u << 20, 4, AT(cdev[1]) };
	data->cdev[1] = DATA + 60000;
	data->misc[0] = data->misc[1] = AT(mouse.list);
	data->mouse = (struct raw_misc){ 1, AT(names[1]), DATA + 60000, { AT(misc), AT(misc) } };
}

static void add_resource(struct libbpf_btf *btf, int ulong)
{
	static const char *const names[] = { "start",  "end",	  "name", "flags",
					     "parent", "sibling", "child" };
	int pointer = btf__add_ptr(btf, (int)btf__type_cnt(btf) + 1);
	btf__add_struct(btf, "resource", sizeof(struct raw_resource));
	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		add_member(btf, names[i], i < 4 ? ulong : pointer, i * 8);
}

static void add_types(struct machine *machine)
{
	struct libbpf_btf *btf = machine->kernel.source;
	int int_ = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	int uint_ = btf__add_int(btf, "unsigned int", 4, 0);
	int ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	int character = btf__add_int(btf, "char", 1, BTF_INT_CHAR);
	int text = btf__add_array(btf, int_, character, 64);
	int buckets = btf__add_array(btf, int_, ulong, BUCKETS);
	int list = add_list_head(btf);
	btf__add_struct(btf, "char_device_struct", sizeof(struct raw_device));
	add_member(btf, "next", ulong, 0);
	add_member(btf, "cdev", ulong, 8);
	add_member(btf, "major", uint_, offsetof(struct raw_device, major));
	add_member(btf, "baseminor", uint_, offsetof(struct raw_device, baseminor));
	add_member(btf, "minorct", int_, offsetof(struct raw_device, minorct));
	add_member(btf, "name", text, offsetof(struct raw_device, name));
	btf__add_struct(btf, "blk_major_name", sizeof(struct raw_device));
	add_member(btf, "next", ulong, 0);
	add_member(btf, "major", uint_, offsetof(struct raw_device, major));
	add_member(btf, "name", text, offsetof(struct raw_device, name));
	int name = btf__add_ptr(btf, character);
	btf__add_struct(btf, "miscdevice", sizeof(struct raw_misc));
	add_member(btf, "minor", int_, 0);
	add_member(btf, "name", name, 8);
	add_member(btf, "fops", ulong, 16);
	add_member(btf, "list", list, 24);
	btf__add_struct(btf, "probe", sizeof(struct raw_probe));
	add_member(btf, "next", ulong, 0);
	add_member(btf, "dev", ulong, 8);
	add_member(btf, "range", ulong, 16);
	add_member(btf, "data", ulong, 24);
	btf__add_struct(btf, "kobj_map", BUCKETS * 8);
	add_member(btf, "probes", buckets, 0);
	btf__add_struct(btf, "cdev", 8);
	add_member(btf, "ops", ulong, 0);
	add_resource(btf, ulong);
	kernel_data_take_types(&machine->kernel);
}

static struct machine *machine_create(void)
{
	static const struct test_symbol symbols[] = {
		{ AT(resources[MEMORY]), 'D', "iomem_resource" },
		{ AT(resources[PORTS]), 'D', "ioport_resource" },
		{ AT(chars), 'D', "chrdevs" },
		{ AT(blocks), 'D', "major_names" },
		{ AT(map), 'D', "cdev_map" },
		{ AT(misc), 'D', "misc_list" },
		{ DATA + 60000, 'D', "tty_fops" },
		{ DATA + 65536, 'D', "_end" },
	};
	struct machine *machine = calloc(1, sizeof(*machine));
	if (!machine)
		abort();
	put_data(&machine->data);
	machine->kernel.start = DATA;
	machine->kernel.bytes = &machine->data;
	machine->kernel.size = sizeof(machine->data);
	kernel_data_init(&machine->kernel, TABLES, symbols, ARRAY_COUNT(symbols));
	add_types(machine);
	return machine;
}

static void machine_destroy(struct machine *machine)
{
	kernel_data_deinit(&machine->kernel);
	free(machine);
}

static const char *rows_of(struct machine *machine, const struct table *table, bool *ret_problem)
{
	return table_rows_read(&machine->rows, &machine->kernel.target, table, ret_problem);
}

static void test_whole(void)
{
	struct machine *machine = machine_create();
	bool has_problem;
	CHECK_STRING(rows_of(machine, &table_resources, &has_problem),
		     "mem|0|4096|0|odd;mem|1|256|0|even;mem|0|4096|0|odd;io|0|1|0|odd;");
	CHECK(!has_problem);
	CHECK_STRING(rows_of(machine, &table_majors, &has_problem),
		     "char|4|0|4|tty_fops|tty;char|259|0|4|-|far;block|8|-|-|-|sd;"
		     "misc|10|1|1|tty_fops|odd;");
	CHECK(!has_problem);
	machine_destroy(machine);
}

static void test_rings(void)
{
	struct machine *machine = machine_create();
	struct raw_data *data = &machine->data;
	bool has_problem;
	data->resources[PCI].sibling = AT(resources[RAM]);
	rows_of(machine, &table_resources, &has_problem);
	CHECK(has_problem && machine->rows.count >= 4 && machine->rows.count < 10);
	/* One that lies in itself. */
	put_data(data);
	data->resources[CODE].child = data->resources[CODE].parent = AT(resources[CODE]);
	rows_of(machine, &table_resources, &has_problem);
	CHECK(has_problem && machine->rows.count == 3);
	put_data(data);
	data->devices[1].next = AT(devices[0]);
	data->probe[1].next = AT(probe[1]);
	rows_of(machine, &table_majors, &has_problem);
	CHECK(machine->rows.count == 4);
	machine_destroy(machine);
}

static void test_nowhere(void)
{
	struct machine *machine = machine_create();
	struct raw_data *data = &machine->data;
	bool has_problem;
	data->resources[RAM].child = NOWHERE;
	rows_of(machine, &table_resources, &has_problem);
	CHECK(has_problem && machine->rows.count == 3);
	data->resources[RAM].sibling = NOWHERE;
	rows_of(machine, &table_resources, &has_problem);
	CHECK(has_problem && machine->rows.count == 2);
	data->devices[0].next = data->blocks[9] = data->misc[0] = NOWHERE;
	rows_of(machine, &table_majors, &has_problem);
	CHECK(has_problem && strstr(machine->rows.text, "|tty;"));
	CHECK(strstr(machine->rows.text, "|sd;") && !strstr(machine->rows.text, "|far;"));
	machine_destroy(machine);
}

static void test_mutated(void)
{
	struct machine *machine = machine_create();
	struct changed_bytes change = { .bytes = &machine->data, .size = sizeof(machine->data) };
	bool has_problem;
	while (changed_bytes_next(&change)) {
		rows_of(machine, &table_resources, &has_problem);
		CHECK(machine->rows.count < 10);
		/* Buckets that were and are empty are all alike. */
		if (change.at < offsetof(struct raw_data, chars) + 128 ||
		    change.at >= offsetof(struct raw_data, map))
			rows_of(machine, &table_majors, &has_problem);
		CHECK(machine->rows.count <= TABLE_ROWS_MAX);
	}
	machine_destroy(machine);
}

int main(void)
{
	RUN(test_whole);
	RUN(test_rings);
	RUN(test_nowhere);
	RUN(test_mutated);
	return test_finish();
}
