// SPDX-License-Identifier: GPL-3.0-or-later
/* Routes of IPv4 of all network namespaces. */
#include "debugger/kernel/fib_trie.h"

#include "base/array.h"
#include "debugger/tables/walks.h"
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>

enum {
	COLUMN_ALIAS,
	COLUMN_NAMESPACE,
	COLUMN_TABLE,
	COLUMN_TYPE,
	COLUMN_SCOPE,
	COLUMN_PROTOCOL,
	COLUMN_METRIC,
	COLUMN_GATEWAY,
	COLUMN_DEVICE,
	COLUMN_SOURCE,
	COLUMN_HOPS,
	COLUMN_DESTINATION,
};

static const struct table_column columns[] = {
	[COLUMN_ALIAS] = { "route", COLUMN_ADDRESS, 16, "its struct fib_alias",
			   "struct fib_alias" },
	[COLUMN_NAMESPACE] = { "namespace", COLUMN_WIDE, 10,
			       "inode number of the namespace, as in /proc/PID/ns/net", NULL },
	[COLUMN_TABLE] = { "tb", COLUMN_TEXT, -7, "main, local, default, or its number", NULL },
	[COLUMN_TYPE] = { "type", COLUMN_TEXT, -11, "unicast, local, broadcast, unreachable, ...",
			  NULL },
	[COLUMN_SCOPE] = { "scope", COLUMN_INTEGER, 0,
			   "0: anywhere; 253: on a link; 254: this host", NULL },
	[COLUMN_PROTOCOL] = { "proto", COLUMN_INTEGER, 0, "who made it: 2: the kernel; 3: ip(8)",
			      NULL },
	[COLUMN_METRIC] = { "metric", COLUMN_INTEGER, 6, "the lowest is taken", NULL },
	[COLUMN_GATEWAY] = { "gateway", COLUMN_TEXT, -15, "that packets are sent to", NULL },
	[COLUMN_DEVICE] = { "dev", COLUMN_TEXT, -10, "of the first hop", NULL },
	[COLUMN_SOURCE] = { "src", COLUMN_TEXT, 0, "the address to send from", NULL },
	[COLUMN_HOPS] = { "hops", COLUMN_INTEGER, 0, "between which packets are shared out", NULL },
	[COLUMN_DESTINATION] = { "destination", COLUMN_TEXT, -18, "whose packets", NULL },
};

/* kernel include/uapi/linux/rtnetlink.h: RTN_* */
static const char *const type_names[] = { "unspec",   "unicast",   "local",	"broadcast",
					  "anycast",  "multicast", "blackhole", "unreachable",
					  "prohibit", "throw",	   "nat",	"xresolve" };
#define TABLE_DEFAULT 253
#define TABLE_LOCAL   255

struct pass {
	struct table_scan *scan;
	const struct object *net;
};

static void set_table(struct table_scan *scan, uint32_t number)
{
	static const char *const names[] = { "default", "main", "local" };
	if (number >= TABLE_DEFAULT && number <= TABLE_LOCAL)
		table_set_text(scan, COLUMN_TABLE, names[number - TABLE_DEFAULT]);
	else
		table_set_name(scan, COLUMN_TABLE, NULL, 0, number);
}

static void set_destination(struct table_scan *scan, const struct fib_route *route)
{
	char name[INET_ADDRSTRLEN], text[INET_ADDRSTRLEN + 8];
	uint32_t key = htonl(route->key);
	snprintf(text, sizeof(text), "%s/%u", inet_ntop(AF_INET, &key, name, sizeof(name)) ?: "?",
		 route->length);
	table_set_text(scan, COLUMN_DESTINATION, text);
}

static struct error *set_address(struct table_scan *scan, unsigned int column, int family,
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

/* Of the first of several. */
static struct error *set_hop(struct table_scan *scan, const struct object *hop)
{
	struct object device;
	uint64_t family;
	TRY(object_follow(hop, "nhc_dev", &device));
	if (device.address)
		TRY(table_set_chars(scan, COLUMN_DEVICE, &device, "name"));
	TRY(object_u64(hop, "nhc_gw_family", &family));
	if (family != AF_INET && family != AF_INET6)
		return NULL;
	return set_address(scan, COLUMN_GATEWAY, (int)family, hop, "nhc_gw");
}

static struct error *set_info(struct table_scan *scan, const struct object *info)
{
	struct object hop, shared;
	uint64_t count, source;
	TRY(table_set_member(scan, COLUMN_SCOPE, info, "fib_scope"));
	TRY(table_set_member(scan, COLUMN_PROTOCOL, info, "fib_protocol"));
	TRY(table_set_member(scan, COLUMN_METRIC, info, "fib_priority"));
	TRY(object_u64(info, "fib_prefsrc", &source));
	if (source)
		TRY(set_address(scan, COLUMN_SOURCE, AF_INET, info, "fib_prefsrc"));
	TRY(object_u64(info, "fib_nhs", &count));
	table_set(scan, COLUMN_HOPS, count);
	/* One that several routes share is an object of its own, not followed here. */
	TRY(object_follow(info, "nh", &shared));
	if (shared.address || !count)
		return NULL;
	TRY(object_member(info, "fib_nh", &hop));
	TRY(object_at(scan->target, "struct fib_nh", hop.address, &hop));
	TRY(object_member(&hop, "nh_common", &hop));
	return set_hop(scan, &hop);
}

static struct error *visit_route(void *context, const struct fib_route *route)
{
	const struct pass *pass = context;
	struct table_scan *scan = pass->scan;
	struct object info;
	uint64_t type;
	table_set(scan, COLUMN_ALIAS, route->alias.address);
	TRY(table_set_member(scan, COLUMN_NAMESPACE, pass->net, "ns.inum"));
	set_table(scan, route->table);
	set_destination(scan, route);
	struct error *error = object_u64(&route->alias, "fa_type", &type);
	if (error)
		TRY(table_set_error(scan, COLUMN_TYPE, error));
	else
		table_set_name(scan, COLUMN_TYPE, type_names, ARRAY_COUNT(type_names), type);
	error = object_follow(&route->alias, "fa_info", &info);
	if (!error && info.address)
		error = set_info(scan, &info);
	TRY(table_set_error(scan, COLUMN_DEVICE, error));
	return table_emit(scan);
}

static struct error *broken(void *context, struct error *problem)
{
	const struct pass *pass = context;
	return table_broken(pass->scan, problem);
}

static struct error *visit_net(struct table_scan *scan, const struct object *net, void *context)
{
	struct pass pass = { scan, net };
	const struct fib_visitor visitor = { visit_route, broken, &pass };
	(void)context;
	return table_broken(scan, fib_trie_for_each(net, &visitor));
}

static struct error *visit(struct table_scan *scan)
{
	const struct table_walk walk = { CONTAINER_LIST, "struct net", "list", visit_net, NULL };
	return table_walk_variable(scan, "net_namespace_list", "struct list_head", &walk);
}

static const char *const examples[] = { "routes", "routes --where \"tb = 'main'\"", NULL };

const struct table table_routes = {
	.name = "routes",
	.alias = "route",
	.summary = "routes of IPv4",
	.description = "A row is a route of a network namespace, as ip route has them.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_ALIAS,
};
