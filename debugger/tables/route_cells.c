// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/tables/route_cells.h"

#include "base/array.h"
#include "debugger/tables/walks.h"
#include <arpa/inet.h>

/* kernel include/uapi/linux/rtnetlink.h: RTN_*, RT_TABLE_* */
static const char *const type_names[] = { "unspec",   "unicast",   "local",	"broadcast",
					  "anycast",  "multicast", "blackhole", "unreachable",
					  "prohibit", "throw",	   "nat",	"xresolve" };
#define TABLE_DEFAULT 253
#define TABLE_LOCAL   255

void route_set_table(struct table_scan *scan, unsigned int column, uint32_t number)
{
	static const char *const names[] = { "default", "main", "local" };
	if (number >= TABLE_DEFAULT && number <= TABLE_LOCAL)
		table_set_text(scan, column, names[number - TABLE_DEFAULT]);
	else
		table_set_name(scan, column, NULL, 0, number);
}

struct error *route_set_type(struct table_scan *scan, unsigned int column,
			     const struct object *route, const char *path)
{
	uint64_t type;
	struct error *error = object_u64(route, path, &type);
	if (error)
		return table_set_error(scan, column, error);
	table_set_name(scan, column, type_names, ARRAY_COUNT(type_names), type);
	return NULL;
}

struct error *route_set_address(struct table_scan *scan, unsigned int column, int family,
				const struct object *object, const char *path)
{
	struct object member;
	uint8_t bytes[16];
	char name[INET6_ADDRSTRLEN];
	TRY(object_member(object, path, &member));
	TRY(memory_read(scan->target->memory, member.address, bytes, family == AF_INET ? 4 : 16));
	if (inet_ntop(family, bytes, name, sizeof(name)))
		table_set_text(scan, column, name);
	return NULL;
}

struct error *route_set_hop(struct table_scan *scan, unsigned int device_column,
			    unsigned int gateway_column, const struct object *hop)
{
	struct object device;
	uint64_t family;
	TRY(object_follow(hop, "nhc_dev", &device));
	if (device.address)
		TRY(table_set_chars(scan, device_column, &device, "name"));
	TRY(object_u64(hop, "nhc_gw_family", &family));
	if (family != AF_INET && family != AF_INET6)
		return NULL;
	return route_set_address(scan, gateway_column, (int)family, hop, "nhc_gw");
}
