/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Routes of IPv4: the tries of a network namespace (kernel net/ipv4/fib_trie.c). */
#ifndef DEBUGGER_KERNEL_FIB_TRIE_H
#define DEBUGGER_KERNEL_FIB_TRIE_H

#include "base/seen.h"
#include "debugger/target/object.h"

struct fib_route {
	struct object alias; /* a struct fib_alias */
	uint32_t table;
	uint32_t key;	     /* where it leads to, in the host's order */
	unsigned int length; /* of its prefix, bits */
};

struct fib_visitor {
	struct error *(*visit)(void *context, const struct fib_route *route);
	/* Something is broken here; takes `problem`. */
	struct error *(*broken)(void *context, struct error *problem);
	void *context;
	/* The tables of all nets that were visited: they share none. Borrowed; NULL: not known. */
	struct seen *seen;
};

/* Those of a struct net. Errors: of `visit` and `broken`, and what is missing of the tables. */
struct error *fib_trie_for_each(const struct object *net,
				const struct fib_visitor *visitor) MUST_CHECK;

#endif
