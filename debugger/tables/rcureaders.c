// SPDX-License-Identifier: GPL-3.0-or-later
/* Tasks that lost their CPU while they read under RCU. */
#include "debugger/tables/walks.h"

#include "base/array.h"
#include <inttypes.h>

enum {
	COLUMN_TASK,
	COLUMN_PID,
	COLUMN_COMM,
	COLUMN_NODE,
	COLUMN_GRPLO,
	COLUMN_GRPHI,
	COLUMN_BLOCKS,
	COLUMN_BLOCKS_EXPEDITED,
	COLUMN_NESTING
};

static const struct table_column columns[] = {
	[COLUMN_TASK] = { "task", COLUMN_ADDRESS, 16, "who reads", "struct task_struct" },
	[COLUMN_PID] = { "pid", COLUMN_INTEGER, 7, "its number", NULL },
	[COLUMN_COMM] = { "comm", COLUMN_TEXT, -16, "its name", NULL },
	[COLUMN_NODE] = { "node", COLUMN_ADDRESS, 16, "where it is noted", "struct rcu_node" },
	[COLUMN_GRPLO] = { "grplo", COLUMN_INTEGER, 0, "the first CPU of that", NULL },
	[COLUMN_GRPHI] = { "grphi", COLUMN_INTEGER, 0, "and the last", NULL },
	[COLUMN_BLOCKS] = { "blocks", COLUMN_INTEGER, 6, "1: the grace period waits for it", NULL },
	[COLUMN_BLOCKS_EXPEDITED] = { "blocks_exp", COLUMN_INTEGER, 10, "1: an expedited one does",
				      NULL },
	[COLUMN_NESTING] = { "nesting", COLUMN_INTEGER, 7, "how often it began and did not end",
			     NULL },
};

#define NODES_MAX 65536u

struct pass {
	const struct object *node;
	uint64_t link, first, first_expedited;
	bool blocks, blocks_expedited; /* from that one on */
};

static struct error *visit_task(struct table_scan *scan, const struct object *task, void *context)
{
	struct pass *pass = context;
	uint64_t link = task->address + pass->link;
	pass->blocks |= link == pass->first;
	pass->blocks_expedited |= link == pass->first_expedited;
	table_set(scan, COLUMN_TASK, task->address);
	table_set(scan, COLUMN_NODE, pass->node->address);
	table_set(scan, COLUMN_BLOCKS, pass->blocks);
	table_set(scan, COLUMN_BLOCKS_EXPEDITED, pass->blocks_expedited);
	TRY(table_set_member(scan, COLUMN_PID, task, "pid"));
	TRY(table_set_chars(scan, COLUMN_COMM, task, "comm"));
	TRY(table_set_member(scan, COLUMN_GRPLO, pass->node, "grplo"));
	TRY(table_set_member(scan, COLUMN_GRPHI, pass->node, "grphi"));
	TRY(table_set_member(scan, COLUMN_NESTING, task, "rcu_read_lock_nesting"));
	return table_emit(scan);
}

static struct error *visit_node(struct table_scan *scan, const struct object *node)
{
	struct pass pass = { .node = node };
	const struct table_walk walk = { CONTAINER_LIST, "struct task_struct", "rcu_node_entry",
					 visit_task, &pass };
	struct object head;
	TRY(object_member(node, "blkd_tasks", &head));
	TRY(object_u64(node, "gp_tasks", &pass.first));
	TRY(object_u64(node, "exp_tasks", &pass.first_expedited));
	TRY(object_offset(scan->target, "struct task_struct", "rcu_node_entry", &pass.link));
	return table_walk(scan, head.address, &walk);
}

/* One of a kernel that is never preempted has none. */
static bool has_readers(struct table_scan *scan)
{
	struct object task;
	struct error *error = object_at(scan->target, "struct task_struct", 0, &task);
	error_free(error);
	return !error && object_has(&task, "rcu_node_entry");
}

/* Of the tree, which lies in an array, those that are in use: the first level's are its root. */
static struct error *visit(struct table_scan *scan)
{
	struct object state, nodes, node;
	uint64_t all, one, last;
	if (!has_readers(scan))
		return NULL;
	TRY(object_variable(scan->target, "rcu_state", "struct rcu_state", &state));
	TRY(object_member(&state, "node", &nodes));
	TRY(object_member(&state, "node[0]", &node));
	if (!type_size(nodes.type, &all) || !type_size(node.type, &one) || !one ||
	    all / one > NODES_MAX)
		return error_create(ERROR_FORMAT, "rcu_state.node has no usable length");
	for (uint64_t i = 0; i < all / one; i++, node.address += one) {
		/* One that was never set up has an empty head, and no last CPU but the first. */
		TRY(object_u64(&node, "blkd_tasks.next", &last));
		if (!last)
			break;
		TRY(table_broken(scan, visit_node(scan, &node)));
	}
	return NULL;
}

static const char *const examples[] = { "rcureaders", "rcureaders --where 'blocks = 1'", NULL };

const struct table table_rcureaders = {
	.name = "rcureaders",
	.summary = "tasks that were preempted while they read under RCU",
	.description = "A row is a task that lost its CPU between rcu_read_lock() and "
		       "rcu_read_unlock(): grace periods wait for it. Kernels that are never "
		       "preempted have no rows. CPUs that owe something are in rcu.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_TASK,
};
