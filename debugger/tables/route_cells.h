/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What routes of IPv4 and of IPv6 have in common. */
#ifndef DEBUGGER_TABLES_ROUTE_CELLS_H
#define DEBUGGER_TABLES_ROUTE_CELLS_H

#include "debugger/tables/table.h"

/* "main", "local", "default", or its number. */
void route_set_table(struct table_scan *scan, unsigned int column, uint32_t number);
/* What is done with its packets: "unicast", "local", ... */
struct error *route_set_type(struct table_scan *scan, unsigned int column,
			     const struct object *route, const char *path) MUST_CHECK;
/* The address at `path` of an object, AF_INET or AF_INET6. */
struct error *route_set_address(struct table_scan *scan, unsigned int column, int family,
				const struct object *object, const char *path) MUST_CHECK;

/* The hops of a route: its own, or those that it shares with other routes (ip-nexthop(8)). */
struct route_hops {
	enum route_hops_kind { HOPS_OWN, HOPS_SHARED, HOPS_GROUP } kind;
	struct object first;
	uint64_t count;
};

struct route_hop_columns {
	unsigned int number, device, gateway, weight;
};

/* `own`: its array of `own_count` structs `type_name`, which is there if nothing is shared. */
struct error *route_hops_find(const struct object *route, const char *own, const char *type_name,
			      uint64_t own_count, struct route_hops *ret) MUST_CHECK;
/* Whether one more hop is to be believed: in a damaged dump, many routes can share many. */
struct error *route_check_hop(const struct table_scan *scan, uint64_t number) MUST_CHECK;
/* One of them, from 0. */
struct error *route_set_hop(struct table_scan *scan, const struct route_hop_columns *columns,
			    const struct route_hops *hops, uint64_t number) MUST_CHECK;

#endif
