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
/* Device and gateway of a struct fib_nh_common. */
struct error *route_set_hop(struct table_scan *scan, unsigned int device_column,
			    unsigned int gateway_column, const struct object *hop) MUST_CHECK;

#endif
