/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Routes of IPv6: the trees of a network namespace (kernel net/ipv6/ip6_fib.c). */
#ifndef DEBUGGER_KERNEL_FIB6_TREE_H
#define DEBUGGER_KERNEL_FIB6_TREE_H

#include "base/seen.h"
#include "debugger/target/object.h"

struct fib6_visitor {
	/* `route`: a struct fib6_info; `table`: the number of its table. */
	struct error *(*visit)(void *context, const struct object *route, uint32_t table);
	/* Something is broken here; takes `problem`. */
	struct error *(*broken)(void *context, struct error *problem);
	void *context;
	/* The tables of all nets that were visited: they share none. Borrowed; NULL: not known. */
	struct seen *seen;
};

/*
 * Those of a struct net, without the entry that stands for "there is none". Errors: of `visit` and
 * `broken`, and what is missing of the tables.
 */
struct error *fib6_tree_for_each(const struct object *net,
				 const struct fib6_visitor *visitor) MUST_CHECK;

#endif
