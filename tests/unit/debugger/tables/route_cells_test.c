// SPDX-License-Identifier: GPL-3.0-or-later
/* Hops of routes: a route's own, one that is shared, a group of such; broken ones, and too many. */
#include "debugger/tables/route_cells.h"

#include "base/array.h"
#include "tests/unit/changed_bytes.h"
#include "tests/unit/infer_machine.h"
#include <netinet/in.h>

#define HOPS 3u

struct raw_hop {
	uint64_t device;
	uint8_t gateway[16];
	uint32_t weight, family;
};
struct raw_nexthop {
	uint64_t info; /* or group */
	uint32_t is_group, pad;
};
struct raw_entry {
	uint64_t nexthop;
	uint32_t weight, pad;
};
struct raw_group {
	uint32_t count, pad;
	struct raw_entry entries[HOPS];
};
struct raw_route {
	uint64_t shared;
	uint32_t count, pad;
	struct raw_hop hops[HOPS];
};

static struct contents {
	struct raw_route route;
	struct raw_hop infos[HOPS];
	struct raw_nexthop nexthops[HOPS + 1]; /* the last one is the group */
	struct raw_group group;
	char devices[HOPS][16];
} contents;
#define AT(member) (DATA + offsetof(struct contents, member))

static struct machine machine;

enum { NUMBER, DEVICE, GATEWAY, WEIGHT, COLUMNS };

static const struct table_column columns[] = {
	[NUMBER] = { "hop", COLUMN_INTEGER, 1, "", NULL },
	[DEVICE] = { "dev", COLUMN_TEXT, 1, "", NULL },
	[GATEWAY] = { "gateway", COLUMN_TEXT, 1, "", NULL },
	[WEIGHT] = { "weight", COLUMN_INTEGER, 1, "", NULL },
};
static const struct table table = { .name = "hops",
				    .columns = columns,
				    .column_count = ARRAY_COUNT(columns) };

static int add_struct(const char *name, size_t size)
{
	return btf__add_struct(machine.source, name, (uint32_t)size);
}

static void add_types(void)
{
	struct libbpf_btf *btf = machine.source;
	int word = btf__add_int(btf, "unsigned int", 4, 0);
	int character = btf__add_int(btf, "char", 1, 1);
	int byte = btf__add_int(btf, "unsigned char", 1, 0);
	int name = btf__add_array(btf, word, character, 16);
	int address = btf__add_array(btf, word, byte, 16);
	int device = add_struct("net_device", 16);
	add_member(btf, "name", name, 0);
	int device_pointer = btf__add_ptr(btf, device);
	int common = add_struct("fib_nh_common", sizeof(struct raw_hop));
	add_member(btf, "nhc_dev", device_pointer, offsetof(struct raw_hop, device));
	add_member(btf, "nhc_gw", address, offsetof(struct raw_hop, gateway));
	add_member(btf, "nhc_weight", word, offsetof(struct raw_hop, weight));
	add_member(btf, "nhc_gw_family", word, offsetof(struct raw_hop, family));
	int own = add_struct("fib_nh", sizeof(struct raw_hop));
	add_member(btf, "nh_common", common, 0);
	int info = add_struct("nh_info", sizeof(struct raw_hop));
	add_member(btf, "fib_nhc", common, 0);
	int info_pointer = btf__add_ptr(btf, info);
	/* A nexthop, a group of such, its entries: each leads to the next one. */
	int next = (int)btf__type_cnt(btf), nexthop_pointer = next, nexthop = next + 1,
	    entry = next + 2, entries = next + 3, group = next + 4, group_pointer = next + 5;
	CHECK_U64((uint64_t)btf__add_ptr(btf, nexthop), (uint64_t)nexthop_pointer);
	add_struct("nexthop", sizeof(struct raw_nexthop));
	add_member(btf, "nh_info", info_pointer, 0);
	add_member(btf, "nh_grp", group_pointer, 0);
	add_member(btf, "is_group", word, offsetof(struct raw_nexthop, is_group));
	add_struct("nh_grp_entry", sizeof(struct raw_entry));
	add_member(btf, "nh", nexthop_pointer, 0);
	add_member(btf, "weight", word, offsetof(struct raw_entry, weight));
	CHECK_U64((uint64_t)btf__add_array(btf, word, entry, HOPS), (uint64_t)entries);
	add_struct("nh_group", sizeof(struct raw_group));
	add_member(btf, "num_nh", word, 0);
	add_member(btf, "nh_entries", entries, offsetof(struct raw_group, entries));
	CHECK_U64((uint64_t)btf__add_ptr(btf, group), (uint64_t)group_pointer);
	int hops = btf__add_array(btf, word, own, 0);
	add_struct("fib_info", offsetof(struct raw_route, hops));
	add_member(btf, "nh", nexthop_pointer, 0);
	add_member(btf, "fib_nhs", word, offsetof(struct raw_route, count));
	add_member(btf, "fib_nh", hops, offsetof(struct raw_route, hops));
}

static struct raw_hop hop(unsigned int number, unsigned int weight)
{
	return (struct raw_hop){ .device = AT(devices[number]),
				 .gateway = { 192, 0, 2, (uint8_t)weight },
				 .weight = weight,
				 .family = AF_INET };
}

/* Own hops have the weights 1 to 3, shared ones 11 to 13, and in a group 21 to 23. */
static void fill(void)
{
	contents = (struct contents){ .route = { .count = HOPS }, .group = { .count = HOPS } };
	for (unsigned int i = 0; i < HOPS; i++) {
		snprintf(contents.devices[i], sizeof(contents.devices[i]), "eth%u", i);
		contents.route.hops[i] = hop(i, 1 + i);
		contents.infos[i] = hop(i, 11 + i);
		contents.nexthops[i].info = AT(infos[i]);
		contents.group.entries[i] =
			(struct raw_entry){ .nexthop = AT(nexthops[i]), .weight = 21 + i };
	}
	contents.nexthops[HOPS] = (struct raw_nexthop){ .info = AT(group), .is_group = 1 };
}

static struct error *find(struct route_hops *ret)
{
	struct object route;
	uint64_t count;
	CHECK_OK(object_at(&machine.target, "struct fib_info", AT(route), &route));
	TRY(object_u64(&route, "fib_nhs", &count));
	return route_hops_find(&route, "fib_nh", "struct fib_nh", count, ret);
}

/* "eth0 192.0.2.1 1, ..." or the message of what fails. */
struct told {
	char text[256];
};

static struct error *see(void *context, const struct table_cell *cells)
{
	struct told *told = context;
	size_t used = strlen(told->text);
	const struct error *error = cells[DEVICE].error;
	snprintf(told->text + used, sizeof(told->text) - used, "%s%s %s %d", used ? ", " : "",
		 error ? error->message : cells[DEVICE].text ?: "-", cells[GATEWAY].text ?: "-",
		 cells[WEIGHT].state == CELL_SET ? (int)cells[WEIGHT].number : -1);
	return NULL;
}

static void look(struct told *told)
{
	static const struct route_hop_columns places = { NUMBER, DEVICE, GATEWAY, WEIGHT };
	struct route_hops hops = { .count = 0 };
	struct table_scan scan = { .target = &machine.target,
				   .table = &table,
				   .wanted = UINT64_MAX,
				   .row = see,
				   .context = told };
	*told = (struct told){ .text = "" };
	struct error *error = find(&hops);
	if (error)
		snprintf(told->text, sizeof(told->text), "%s", error->message);
	error_free(error);
	CHECK(error ? !hops.count : hops.count <= 8192);
	for (uint64_t i = 0; i < hops.count && i < HOPS; i++) {
		CHECK_OK(table_set_error(&scan, DEVICE, route_set_hop(&scan, &places, &hops, i)));
		CHECK_OK(table_emit(&scan));
	}
	table_scan_deinit(&scan);
}

static void check(const char *wanted)
{
	struct told told;
	look(&told);
	CHECK_STRING(told.text, wanted);
}

static void test_kinds(void)
{
	fill();
	check("eth0 192.0.2.1 1, eth1 192.0.2.2 2, eth2 192.0.2.3 3");
	contents.route.shared = AT(nexthops[1]);
	check("eth1 192.0.2.12 12");
	contents.route.shared = AT(nexthops[HOPS]);
	check("eth0 192.0.2.11 21, eth1 192.0.2.12 22, eth2 192.0.2.13 23");
	/* One that leads nowhere. */
	contents.infos[1].device = 0;
	contents.infos[2].family = 0;
	check("eth0 192.0.2.11 21, - 192.0.2.12 -1, eth2 - 23");
}

static void test_broken(void)
{
	fill();
	contents.route.shared = AT(nexthops[HOPS]);
	contents.group.entries[1].nexthop = 0;
	struct told told;
	look(&told);
	CHECK(!strncmp(told.text, "eth0 192.0.2.11 21, ", 20) &&
	      strstr(told.text, "nothing at 0x0"));
	CHECK(strstr(told.text, ", eth2 192.0.2.13 23"));
	contents.group.count = 8193;
	check("a route has 8193 hops");
	contents.nexthops[HOPS].info = 0;
	look(&told);
	CHECK(strstr(told.text, "nothing at 0x0"));
	contents.route.shared = 0;
	contents.route.count = 0x80000000;
	check("a route has 2147483648 hops");
}

/* Many rows are believed of routes with one hop each, fewer of those with several. */
static void test_rows(void)
{
	struct table_scan scan = { .count = 1u << 22 };
	CHECK_OK(route_check_hop(&scan, 0));
	struct error *error = route_check_hop(&scan, 1);
	CHECK(error && strstr(error->message, "more than 4194304 rows"));
	error_free(error);
	scan.count--;
	CHECK_OK(route_check_hop(&scan, 1));
}

static void test_damage(void)
{
	struct changed_bytes change = { .bytes = &contents, .size = sizeof(contents) };
	fill();
	contents.route.shared = AT(nexthops[HOPS]);
	struct told told;
	while (changed_bytes_next(&change))
		look(&told);
	contents.route.shared = 0;
	change = (struct changed_bytes){ .bytes = &contents, .size = sizeof(contents.route) };
	while (changed_bytes_next(&change))
		look(&told);
}

int main(void)
{
	machine_init(&machine);
	add_types();
	machine_set_types(&machine);
	machine_add_part(&machine, DATA, &contents, sizeof(contents));
	RUN(test_kinds);
	RUN(test_broken);
	RUN(test_rows);
	RUN(test_damage);
	machine_deinit(&machine);
	return test_finish();
}
