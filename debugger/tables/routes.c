// SPDX-License-Identifier: GPL-3.0-or-later
/* Routes of IPv4 of all network namespaces. */
#include "debugger/kernel/fib_trie.h"

#include "base/array.h"
#include "debugger/tables/route_cells.h"
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
	COLUMN_HOP,
	COLUMN_WEIGHT,
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
	[COLUMN_DEVICE] = { "dev", COLUMN_TEXT, -10, "behind which it leads on", NULL },
	[COLUMN_SOURCE] = { "src", COLUMN_TEXT, 0, "the address to send from", NULL },
	[COLUMN_HOPS] = { "hops", COLUMN_INTEGER, 0, "between which packets are shared out", NULL },
	[COLUMN_HOP] = { "hop", COLUMN_INTEGER, 0, "which of them, from 0", NULL },
	[COLUMN_WEIGHT] = { "weight", COLUMN_INTEGER, 0, "its share, beside those of the others",
			    NULL },
	[COLUMN_DESTINATION] = { "destination", COLUMN_TEXT, -18, "whose packets", NULL },
};

struct pass {
	struct table_scan *scan;
	const struct object *net;
};

static void set_destination(struct table_scan *scan, const struct fib_route *route)
{
	char name[INET_ADDRSTRLEN], text[INET_ADDRSTRLEN + 8];
	uint32_t key = htonl(route->key);
	snprintf(text, sizeof(text), "%s/%u", inet_ntop(AF_INET, &key, name, sizeof(name)) ?: "?",
		 route->length);
	table_set_text(scan, COLUMN_DESTINATION, text);
}

static struct error *set_info(struct table_scan *scan, const struct object *info)
{
	uint64_t source;
	TRY(table_set_member(scan, COLUMN_SCOPE, info, "fib_scope"));
	TRY(table_set_member(scan, COLUMN_PROTOCOL, info, "fib_protocol"));
	TRY(table_set_member(scan, COLUMN_METRIC, info, "fib_priority"));
	TRY(object_u64(info, "fib_prefsrc", &source));
	return source ? route_set_address(scan, COLUMN_SOURCE, AF_INET, info, "fib_prefsrc") : NULL;
}

static struct error *find_hops(const struct fib_route *route, struct object *ret_info,
			       struct route_hops *ret)
{
	uint64_t count;
	TRY(object_follow(&route->alias, "fa_info", ret_info));
	if (!ret_info->address)
		return NULL;
	TRY(object_u64(ret_info, "fib_nhs", &count));
	return route_hops_find(ret_info, "fib_nh", "struct fib_nh", count, ret);
}

/* What the rows of all of its hops have; `info` at 0: none. */
static struct error *set_route(const struct pass *pass, const struct fib_route *route,
			       const struct object *info)
{
	struct table_scan *scan = pass->scan;
	table_set(scan, COLUMN_ALIAS, route->alias.address);
	TRY(table_set_member(scan, COLUMN_NAMESPACE, pass->net, "ns.inum"));
	route_set_table(scan, COLUMN_TABLE, route->table);
	set_destination(scan, route);
	if (info->address)
		TRY(table_set_error(scan, COLUMN_SOURCE, set_info(scan, info)));
	return route_set_type(scan, COLUMN_TYPE, &route->alias, "fa_type");
}

static struct error *visit_route(void *context, const struct fib_route *route)
{
	static const struct route_hop_columns places = { COLUMN_HOP, COLUMN_DEVICE, COLUMN_GATEWAY,
							 COLUMN_WEIGHT };
	const struct pass *pass = context;
	struct table_scan *scan = pass->scan;
	struct object info = { 0 };
	struct route_hops hops = { 0 };
	struct error *error = find_hops(route, &info, &hops);
	for (uint64_t i = 0; !i || i < hops.count; i++) {
		if (!error && info.address)
			table_set(scan, COLUMN_HOPS, hops.count);
		if (!error && i < hops.count)
			error = route_set_hop(scan, &places, &hops, i);
		TRY(table_set_error(scan, COLUMN_DEVICE, error));
		error = NULL;
		TRY(route_check_hop(scan, i));
		TRY(set_route(pass, route, &info));
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
	const struct fib_visitor visitor = { visit_route, broken, &pass, &scan->seen };
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
	.description = "A row is a route of a network namespace, as ip route has them: of one "
		       "with several next hops, a row for each. `routes6` has those of IPv6.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_ALIAS,
};
