// SPDX-License-Identifier: GPL-3.0-or-later
/* Routes of IPv6 of all network namespaces. */
#include "debugger/kernel/fib6_tree.h"

#include "base/array.h"
#include "debugger/tables/route_cells.h"
#include "debugger/tables/walks.h"
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>

enum {
	COLUMN_ROUTE,
	COLUMN_NAMESPACE,
	COLUMN_TABLE,
	COLUMN_TYPE,
	COLUMN_PROTOCOL,
	COLUMN_METRIC,
	COLUMN_FLAGS,
	COLUMN_GATEWAY,
	COLUMN_DEVICE,
	COLUMN_SOURCE,
	COLUMN_FROM,
	COLUMN_HOP,
	COLUMN_WEIGHT,
	COLUMN_DESTINATION,
};

static const struct table_column columns[] = {
	[COLUMN_ROUTE] = { "route", COLUMN_ADDRESS, 16, "its struct fib6_info",
			   "struct fib6_info" },
	[COLUMN_NAMESPACE] = { "namespace", COLUMN_WIDE, 10,
			       "inode number of the namespace, as in /proc/PID/ns/net", NULL },
	[COLUMN_TABLE] = { "tb", COLUMN_TEXT, -7, "main, local, default, or its number", NULL },
	[COLUMN_TYPE] = { "type", COLUMN_TEXT, -11, "unicast, local, anycast, multicast, ...",
			  NULL },
	[COLUMN_PROTOCOL] = { "proto", COLUMN_INTEGER, 0,
			      "who made it: 2: the kernel; 3: ip(8); 9: router advertisements",
			      NULL },
	[COLUMN_METRIC] = { "metric", COLUMN_WIDE, 6, "the lowest is taken", NULL },
	[COLUMN_FLAGS] = { "flags", COLUMN_TEXT, 0, "RTF_*: UP, GATEWAY, REJECT, ADDRCONF, ...",
			   NULL },
	[COLUMN_GATEWAY] = { "gateway", COLUMN_TEXT, -25, "that packets are sent to", NULL },
	[COLUMN_DEVICE] = { "dev", COLUMN_TEXT, -10, "behind which it leads on", NULL },
	[COLUMN_SOURCE] = { "src", COLUMN_TEXT, 0, "the address to send from", NULL },
	[COLUMN_FROM] = { "origin", COLUMN_TEXT, 0, "only of packets from there", NULL },
	[COLUMN_HOP] = { "hop", COLUMN_INTEGER, 0,
			 "which of those that its struct fib6_info has, from 0", NULL },
	[COLUMN_WEIGHT] = { "weight", COLUMN_INTEGER, 0,
			    "its share of packets, beside those of the others", NULL },
	[COLUMN_DESTINATION] = { "destination", COLUMN_TEXT, -28, "whose packets", NULL },
};

/* kernel include/uapi/linux/{route,ipv6_route}.h */
static const struct table_word flag_words[] = {
	{ 0x1, "UP" },
	{ 0x2, "GATEWAY" },
	{ 0x4, "HOST" },
	{ 0x10, "DYNAMIC" },
	{ 0x20, "MODIFIED" },
	{ 0x40, "MTU" },
	{ 0x200, "REJECT" },
	{ 0x10000, "DEFAULT" },
	{ 0x20000, "ALLONLINK" },
	{ 0x40000, "ADDRCONF" },
	{ 0x80000, "PREFIX_RT" },
	{ 0x100000, "ANYCAST" },
	{ 0x200000, "NONEXTHOP" },
	{ 0x400000, "EXPIRES" },
	{ 0x800000, "ROUTEINFO" },
	{ 0x1000000, "CACHE" },
	{ 0x2000000, "FLOW" },
	{ 0x4000000, "POLICY" },
	{ 0x40000000, "PCPU" },
	{ 0x80000000, "LOCAL" },
};

struct pass {
	struct table_scan *scan;
	const struct object *net;
};

/* A struct rt6key: an address and the length of a prefix; `is_plain`: one of all bits is none. */
static struct error *set_key(struct table_scan *scan, unsigned int column,
			     const struct object *route, const char *path, bool is_plain)
{
	struct object key, address;
	uint64_t length;
	uint8_t bytes[16];
	char name[INET6_ADDRSTRLEN] = "?", text[INET6_ADDRSTRLEN + 16];
	TRY(object_member(route, path, &key));
	TRY(object_member(&key, "addr", &address));
	TRY(object_u64(&key, "plen", &length));
	if (!length && column != COLUMN_DESTINATION)
		return NULL;
	if (length > 128)
		return error_create(ERROR_FORMAT, "%s has a prefix of %" PRIu64 " bits", path,
				    length);
	TRY(memory_read(scan->target->memory, address.address, bytes, sizeof(bytes)));
	inet_ntop(AF_INET6, bytes, name, sizeof(name));
	snprintf(text, sizeof(text), is_plain ? "%s" : "%s/%" PRIu64, name, length);
	table_set_text(scan, column, text);
	return NULL;
}

static struct error *set_flags(struct table_scan *scan, const struct object *route)
{
	uint64_t flags;
	TRY(object_u64(route, "fib6_flags", &flags));
	table_set_words(scan, COLUMN_FLAGS, flag_words, ARRAY_COUNT(flag_words), flags);
	return NULL;
}

/* What the rows of all of its hops have. */
static struct error *set_route(const struct pass *pass, const struct object *route, uint32_t table)
{
	struct table_scan *scan = pass->scan;
	table_set(scan, COLUMN_ROUTE, route->address);
	TRY(table_set_member(scan, COLUMN_NAMESPACE, pass->net, "ns.inum"));
	route_set_table(scan, COLUMN_TABLE, table);
	TRY(route_set_type(scan, COLUMN_TYPE, route, "fib6_type"));
	TRY(table_set_member(scan, COLUMN_PROTOCOL, route, "fib6_protocol"));
	TRY(table_set_member(scan, COLUMN_METRIC, route, "fib6_metric"));
	TRY(table_set_error(scan, COLUMN_FLAGS, set_flags(scan, route)));
	TRY(table_set_error(scan, COLUMN_SOURCE,
			    set_key(scan, COLUMN_SOURCE, route, "fib6_prefsrc", true)));
	TRY(table_set_error(scan, COLUMN_FROM,
			    set_key(scan, COLUMN_FROM, route, "fib6_src", false)));
	return table_set_error(scan, COLUMN_DESTINATION,
			       set_key(scan, COLUMN_DESTINATION, route, "fib6_dst", false));
}

static struct error *visit_route(void *context, const struct object *route, uint32_t table)
{
	static const struct route_hop_columns places = { COLUMN_HOP, COLUMN_DEVICE, COLUMN_GATEWAY,
							 COLUMN_WEIGHT };
	const struct pass *pass = context;
	struct table_scan *scan = pass->scan;
	struct route_hops hops = { 0 };
	struct error *error = route_hops_find(route, "fib6_nh", "struct fib6_nh", 1, &hops);
	for (uint64_t i = 0; !i || i < hops.count; i++) {
		if (!error && i < hops.count)
			error = route_set_hop(scan, &places, &hops, i);
		TRY(table_set_error(scan, COLUMN_DEVICE, error));
		error = NULL;
		TRY(route_check_hop(scan, i));
		TRY(set_route(pass, route, table));
		TRY(table_emit(scan));
	}
	return NULL;
}

static struct error *broken(void *context, struct error *problem)
{
	const struct pass *pass = context;
	return table_broken(pass->scan, problem);
}

static struct error *visit_net(struct table_scan *scan, const struct object *net, void *context)
{
	struct pass pass = { scan, net };
	const struct fib6_visitor visitor = { visit_route, broken, &pass, &scan->seen };
	(void)context;
	return table_broken(scan, fib6_tree_for_each(net, &visitor));
}

static struct error *visit(struct table_scan *scan)
{
	const struct table_walk walk = { CONTAINER_LIST, "struct net", "list", visit_net, NULL };
	return table_walk_variable(scan, "net_namespace_list", "struct list_head", &walk);
}

static const char *const examples[] = { "routes6", "routes6 --where \"tb = 'main'\"", NULL };

const struct table table_routes6 = {
	.name = "routes6",
	.summary = "routes of IPv6",
	.description = "A row is a route of a network namespace, as ip -6 route has them: of one "
		       "with several next hops, a row for each. Hops that were given with the "
		       "route have a struct fib6_info each, and all the `hop` 0.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_ROUTE,
};
