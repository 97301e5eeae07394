/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sockets by the kernel's own tables of them, whether a task holds them or not: TCP and UDP, raw,
 * UNIX, netlink, packet.
 */
#ifndef DEBUGGER_KERNEL_SOCK_TABLES_H
#define DEBUGGER_KERNEL_SOCK_TABLES_H

#include "debugger/target/object.h"

struct sock_visitor {
	/* A struct sock; in two states only the head of one: TIME_WAIT and NEW_SYN_RECV. */
	struct error *(*visit)(void *context, const struct object *sock);
	/* Something is broken here; takes `problem`. */
	struct error *(*broken)(void *context, struct error *problem);
	void *context;
};

/* A table that the kernel lacks has no sockets. Errors: of `visit` and `broken`. */
struct error *sock_tables_for_each(struct target *target,
				   const struct sock_visitor *visitor) MUST_CHECK;

#endif
