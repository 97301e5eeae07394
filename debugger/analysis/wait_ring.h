/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rings that waiters hang in (struct list_head): from the node of one to the only node that is
 * no waiter's, which is the lock's. A ring is walked once, however many of its waiters ask.
 */
#ifndef DEBUGGER_ANALYSIS_WAIT_RING_H
#define DEBUGGER_ANALYSIS_WAIT_RING_H

#include "base/hash.h"
#include "debugger/target/target.h"

/* Nodes of all rings together; a machine with more waiters than that has other troubles. */
#define WAIT_RINGS_LIMIT (1u << 20)

struct wait_ring_node {
	uint64_t address;
	uint32_t ring;
};

/* All zero: none was walked yet. */
struct wait_rings {
	struct hash_index index; /* nodes by address */
	struct wait_ring_node *nodes;
	size_t count, capacity;
	uint64_t *heads; /* by ring; 0: none is known */
	size_t ring_count, ring_capacity;
};

void wait_rings_deinit(struct wait_rings *rings);
/* Whether a node is a waiter's. */
typedef bool ring_waiter_test(void *context, uint64_t node);
/*
 * The lock's node in the ring of a waiter's. 0: the ring is broken or too long, has none, or has
 * several. Errors are fatal ones.
 */
struct error *wait_rings_head(struct wait_rings *rings, struct target *target, uint64_t node,
			      ring_waiter_test *is_waiter, void *context, uint64_t *ret) MUST_CHECK;
/* Whether two nodes hang in one ring. */
struct error *wait_rings_share(struct wait_rings *rings, struct target *target, uint64_t node,
			       uint64_t other, bool *ret) MUST_CHECK;
/* Whether both neighbours of a node point back at it. */
bool wait_node_is_linked(struct target *target, uint64_t node, uint64_t *ret_next);

#endif
