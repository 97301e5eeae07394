// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/tables/route_cells.h"

#include "base/array.h"
#include "debugger/tables/walks.h"
#include <arpa/inet.h>
#include <inttypes.h>

/* kernel include/uapi/linux/rtnetlink.h: RTN_*, RT_TABLE_* */
static const char *const type_names[] = { "unspec",   "unicast",   "local",	"broadcast",
					  "anycast",  "multicast", "blackhole", "unreachable",
					  "prohibit", "throw",	   "nat",	"xresolve" };
#define TABLE_DEFAULT 253
#define TABLE_LOCAL   255
/* A message of rtnetlink, whose attributes' lengths have 16 bits, has room for no more. */
#define HOPS_MAX 8192
/* Rows of routes with several hops: the Internet has a million routes. */
#define ROWS_MAX (1u << 22)

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

struct error *route_check_hop(const struct table_scan *scan, uint64_t number)
{
	return !number || scan->count < ROWS_MAX
		       ? NULL
		       : error_create(ERROR_FORMAT,
				      "more than %u rows, and routes with several hops behind them",
				      ROWS_MAX);
}

static struct error *check_count(uint64_t count)
{
	return count > HOPS_MAX ? error_create(ERROR_FORMAT, "a route has %" PRIu64 " hops", count)
				: NULL;
}

/* Hops say whose they are, those of IPv6 alone do not: what is another's is no hop of this one. */
static struct error *check_parent(const struct object *hop, uint64_t parent)
{
	uint64_t back;
	if (!object_has(hop, "nh_parent"))
		return NULL;
	TRY(object_u64(hop, "nh_parent", &back));
	return back == parent ? NULL
			      : error_create(ERROR_FORMAT, "0x%" PRIx64 " is no hop of 0x%" PRIx64,
					     hop->address, parent);
}

static struct error *check_parents(const struct route_hops *hops, uint64_t count, uint64_t parent)
{
	struct object hop = hops->first;
	uint64_t size;
	if (!type_size(hop.type, &size))
		return error_create(ERROR_FORMAT, "hops have no usable size");
	for (uint64_t i = 0; i < count; i++, hop.address += size)
		TRY(check_parent(&hop, parent));
	return NULL;
}

struct error *route_hops_find(const struct object *route, const char *own, const char *type_name,
			      uint64_t own_count, struct route_hops *ret)
{
	struct target *target = route->target;
	struct object shared, group, first;
	uint64_t is_group;
	uint64_t count = own_count;
	ret->count = 0;
	TRY(object_follow(route, "nh", &shared));
	if (!shared.address) {
		TRY(check_count(count));
		TRY(object_member(route, own, &first));
		TRY(object_at(target, type_name, first.address, &ret->first));
		TRY(check_parents(ret, count, route->address));
		ret->kind = HOPS_OWN;
		ret->count = count;
		return NULL;
	}
	TRY(object_u64(&shared, "is_group", &is_group));
	if (!is_group) {
		TRY(object_follow(&shared, "nh_info", &first));
		TRY(check_parent(&first, shared.address));
		*ret = (struct route_hops){ HOPS_SHARED, shared, 1 };
		return NULL;
	}
	TRY(object_follow(&shared, "nh_grp", &group));
	TRY(object_member(&group, "nh_entries", &first));
	TRY(object_at(target, "struct nh_grp_entry", first.address, &ret->first));
	TRY(object_u64(&group, "num_nh", &count));
	TRY(check_count(count));
	TRY(check_parents(ret, count, shared.address));
	ret->kind = HOPS_GROUP;
	ret->count = count;
	return NULL;
}

/* The struct fib_nh_common of a hop, and its share of the packets. */
static struct error *find_hop(const struct route_hops *hops, uint64_t number, struct object *ret,
			      uint64_t *ret_weight)
{
	struct object hop = hops->first;
	uint64_t size;
	if (!type_size(hop.type, &size))
		return error_create(ERROR_FORMAT, "hops have no usable size");
	hop.address += number * size;
	if (hops->kind == HOPS_OWN) {
		TRY(object_member(&hop, "nh_common", ret));
		return object_u64(ret, "nhc_weight", ret_weight);
	}
	if (hops->kind == HOPS_GROUP) {
		TRY(object_u64(&hop, "weight", ret_weight));
		TRY(object_follow(&hop, "nh", &hop));
	}
	TRY(object_follow(&hop, "nh_info", &hop));
	TRY(object_member(&hop, "fib_nhc", ret));
	return hops->kind == HOPS_GROUP ? NULL : object_u64(ret, "nhc_weight", ret_weight);
}

struct error *route_set_hop(struct table_scan *scan, const struct route_hop_columns *columns,
			    const struct route_hops *hops, uint64_t number)
{
	struct object hop, device;
	uint64_t family, weight;
	table_set(scan, columns->number, number);
	TRY(find_hop(hops, number, &hop, &weight));
	TRY(object_follow(&hop, "nhc_dev", &device));
	if (device.address) {
		TRY(table_set_chars(scan, columns->device, &device, "name"));
		table_set(scan, columns->weight, weight);
	}
	TRY(object_u64(&hop, "nhc_gw_family", &family));
	if (family != AF_INET && family != AF_INET6)
		return NULL;
	return route_set_address(scan, columns->gateway, (int)family, &hop, "nhc_gw");
}
