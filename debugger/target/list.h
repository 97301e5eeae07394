/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Walking struct list_head, bounded and checked: a loop, a broken back link, an unreadable node end
 * the walk with an error that names the node; what came before has been visited.
 */
#ifndef DEBUGGER_TARGET_LIST_H
#define DEBUGGER_TARGET_LIST_H

#include "debugger/target/target.h"

struct list_walk {
	struct target *target;
	uint64_t head, node; /* addresses */
	uint64_t count;
	bool backward;
	bool ended;
};

void list_walk_init(struct list_walk *walk, struct target *target, uint64_t head);
/* The same along `prev`, for what lies behind a break. */
void list_walk_init_backward(struct list_walk *walk, struct target *target, uint64_t head);
/* The next node's address; 0 at the end. */
struct error *list_walk_next(struct list_walk *walk, uint64_t *ret_node) MUST_CHECK;

#endif
