// SPDX-License-Identifier: GPL-3.0-or-later
/* Network devices with their addresses: whole, lists and chains in rings or leading nowhere, every
 * byte changed. */
#include "base/array.h"
#include "tests/unit/changed_bytes.h"
#include "tests/unit/kernel_data.h"
#include "tests/unit/table_rows.h"

#define DATA	0xffffffff82000000u
#define TABLES	0xffffffff83000000u
#define NOWHERE 0xffff8880dead0000u
#define DEVICES 2u

extern const struct table table_netdevs;

struct raw_address {
	uint64_t next;
	uint8_t local[4], prefix, unused[3];
};

struct raw_address6 {
	uint64_t list[2];
	uint8_t bytes[16];
	uint32_t prefix, unused;
};

struct raw_device {
	uint64_t list[2], ip, ip6, hardware;
	uint32_t index, mtu, flags;
	uint8_t length, unused[3];
	char name[16];
};

struct raw_data {
	uint64_t nets[2];
	struct {
		uint64_t list[2], devices[2];
		uint32_t number, unused;
	} net;
	struct raw_device devices[DEVICES];
	uint64_t ip, ip6[2]; /* in_device.ifa_list, inet6_dev.addr_list */
	struct raw_address addresses[2];
	struct raw_address6 address6;
	uint8_t hardware[8];
};

struct machine {
	struct kernel_data kernel;
	struct raw_data data;
	struct table_rows rows;
};

#define AT(member) (DATA + offsetof(struct raw_data, member))

/* `first` and `second` in the list of `head`; second 0: one is. */
static void link_list(struct raw_data *data, uint64_t head, uint64_t first, uint64_t second)
{
	const uint64_t order[] = { head, first, second ?: head, head };
	for (size_t i = 0; i < (second ? 3u : 2u); i++) {
		uint64_t *node = (uint64_t *)((uint8_t *)data + (order[i] - DATA));
		uint64_t *next = (uint64_t *)((uint8_t *)data + (order[i + 1] - DATA));
		node[0] = order[i + 1];
		next[1] = order[i];
	}
}

static void put_data(struct raw_data *data)
{
	*data = (struct raw_data){ .net.number = 4026531840, .ip = AT(addresses[0]) };
	for (unsigned int i = 0; i < DEVICES; i++) {
		data->devices[i].index = i + 1;
		data->devices[i].mtu = 1500;
		data->devices[i].flags = i ? 0x1 : 0x9;
		strcpy(data->devices[i].name, i ? "eth0" : "lo");
	}
	data->devices[1].ip = AT(ip);
	data->devices[1].ip6 = AT(ip6);
	data->devices[1].hardware = AT(hardware);
	data->devices[1].length = 6;
	memcpy(data->hardware, "\x52\x54\0\x12\x34\x56", 6);
	data->addresses[0] = (struct raw_address){ AT(addresses[1]), { 10, 0, 0, 1 }, 8, { 0 } };
	data->addresses[1] = (struct raw_address){ 0, { 10, 0, 0, 2 }, 24, { 0 } };
	data->address6.bytes[0] = 0xfe;
	data->address6.bytes[1] = 0x80;
	data->address6.bytes[15] = 1;
	data->address6.prefix = 64;
	link_list(data, AT(nets), AT(net.list), 0);
	link_list(data, AT(net.devices), AT(devices[0].list), AT(devices[1].list));
	link_list(data, AT(ip6), AT(address6.list), 0);
}

static int add_addresses(struct libbpf_btf *btf, int uint_, int byte, int list)
{
	int four = btf__add_array(btf, uint_, byte, 4);
	int sixteen = btf__add_array(btf, uint_, byte, 16);
	int pointer = btf__add_ptr(btf, (int)btf__type_cnt(btf) + 1);
	btf__add_struct(btf, "in_ifaddr", sizeof(struct raw_address));
	add_member(btf, "ifa_next", pointer, 0);
	add_member(btf, "ifa_local", four, 8);
	add_member(btf, "ifa_prefixlen", byte, 12);
	btf__add_struct(btf, "inet6_ifaddr", sizeof(struct raw_address6));
	add_member(btf, "if_list", list, 0);
	add_member(btf, "addr", sixteen, 16);
	add_member(btf, "prefix_len", uint_, 32);
	return pointer;
}

static void add_types(struct machine *machine)
{
	struct libbpf_btf *btf = machine->kernel.source;
	int uint_ = btf__add_int(btf, "unsigned int", 4, 0);
	int ulong = btf__add_int(btf, "long unsigned int", 8, 0);
	int byte = btf__add_int(btf, "unsigned char", 1, 0);
	int character = btf__add_int(btf, "char", 1, BTF_INT_CHAR);
	int name = btf__add_array(btf, uint_, character, 16);
	int list = add_list_head(btf);
	int address = add_addresses(btf, uint_, byte, list);
	int ip = btf__add_struct(btf, "in_device", 8);
	add_member(btf, "ifa_list", address, 0);
	int ip6 = btf__add_struct(btf, "inet6_dev", 16);
	add_member(btf, "addr_list", list, 0);
	int to_ip = btf__add_ptr(btf, ip);
	int to_ip6 = btf__add_ptr(btf, ip6);
	int space = btf__add_struct(btf, "ns_common", 4);
	add_member(btf, "inum", uint_, 0);
	btf__add_struct(btf, "net", sizeof(machine->data.net));
	add_member(btf, "list", list, 0);
	add_member(btf, "dev_base_head", list, 16);
	add_member(btf, "ns", space, 32);
	btf__add_struct(btf, "net_device", sizeof(struct raw_device));
	add_member(btf, "dev_list", list, 0);
	add_member(btf, "ip_ptr", to_ip, offsetof(struct raw_device, ip));
	add_member(btf, "ip6_ptr", to_ip6, offsetof(struct raw_device, ip6));
	add_member(btf, "dev_addr", ulong, offsetof(struct raw_device, hardware));
	add_member(btf, "ifindex", uint_, offsetof(struct raw_device, index));
	add_member(btf, "mtu", uint_, offsetof(struct raw_device, mtu));
	add_member(btf, "flags", uint_, offsetof(struct raw_device, flags));
	add_member(btf, "addr_len", byte, offsetof(struct raw_device, length));
	add_member(btf, "name", name, offsetof(struct raw_device, name));
	kernel_data_take_types(&machine->kernel);
}

static struct machine *machine_create(void)
{
	static const struct test_symbol symbols[] = {
		{ AT(nets), 'D', "net_namespace_list" },
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

static const char *rows_of(struct machine *machine, bool *ret_problem)
{
	return table_rows_read(&machine->rows, &machine->kernel.target, &table_netdevs,
			       ret_problem);
}

#define LOOPBACK "4026531840|1|lo|UP,LOOPBACK|1500|-|;"
#define ETHERNET "4026531840|2|eth0|UP|1500|52:54:00:12:34:56|"

static void test_whole(void)
{
	struct machine *machine = machine_create();
	bool has_problem;
	CHECK_STRING(rows_of(machine, &has_problem),
		     LOOPBACK ETHERNET "10.0.0.1/8 10.0.0.2/24 fe80::1/64;");
	CHECK(!has_problem);
	machine_destroy(machine);
}

static void test_broken(void)
{
	struct machine *machine = machine_create();
	struct raw_data *data = &machine->data;
	bool has_problem;
	/* Addresses in a ring cost the cell. */
	data->addresses[1].next = AT(addresses[0]);
	CHECK_STRING(rows_of(machine, &has_problem), LOOPBACK ETHERNET "-;");
	put_data(data);
	data->address6.list[0] = AT(address6.list);
	CHECK_STRING(rows_of(machine, &has_problem), LOOPBACK ETHERNET "-;");
	put_data(data);
	data->addresses[0].next = data->devices[1].hardware = NOWHERE;
	CHECK_STRING(rows_of(machine, &has_problem), LOOPBACK "4026531840|2|eth0|UP|1500|-|-;");
	/* Devices in a ring beside the head, or reached from the other end. */
	put_data(data);
	data->devices[1].list[0] = AT(devices[0].list);
	rows_of(machine, &has_problem);
	CHECK(has_problem && machine->rows.count == 2);
	put_data(data);
	data->devices[0].list[0] = NOWHERE;
	rows_of(machine, &has_problem);
	CHECK(has_problem && machine->rows.count == 2);
	put_data(data);
	data->nets[0] = data->nets[1] = NOWHERE;
	CHECK_STRING(rows_of(machine, &has_problem), "");
	CHECK(has_problem);
	machine_destroy(machine);
}

static void test_mutated(void)
{
	struct machine *machine = machine_create();
	struct changed_bytes change = { .bytes = &machine->data, .size = sizeof(machine->data) };
	bool has_problem;
	while (changed_bytes_next(&change)) {
		rows_of(machine, &has_problem);
		CHECK(machine->rows.count <= DEVICES + 2);
	}
	machine_destroy(machine);
}

int main(void)
{
	RUN(test_whole);
	RUN(test_broken);
	RUN(test_mutated);
	return test_finish();
}
