// SPDX-License-Identifier: GPL-3.0-or-later
/* What RCU knows of each CPU. */
#include "debugger/tables/walks.h"

#include "base/array.h"

enum {
	COLUMN_DATA,
	COLUMN_CPU,
	COLUMN_SEQ,
	COLUMN_NEEDED,
	COLUMN_OWES,
	COLUMN_NEEDS,
	COLUMN_CALLBACKS,
	COLUMN_READY,
	COLUMN_INVOKED,
	COLUMN_TICKS,
	COLUMN_OFFLOADED,
	COLUMN_NODE,
};

static const struct table_column columns[] = {
	[COLUMN_DATA] = { "rdp", COLUMN_ADDRESS, 16, "its struct rcu_data", "struct rcu_data" },
	[COLUMN_CPU] = { "cpu", COLUMN_INTEGER, 3, "whose it is", NULL },
	[COLUMN_SEQ] = { "gp_seq", COLUMN_WIDE, 12,
			 "the grace period that it knows of; the two lowest bits: it goes on",
			 NULL },
	[COLUMN_NEEDED] = { "gp_seq_needed", COLUMN_WIDE, 13, "the last one that it asked for",
			    NULL },
	[COLUMN_OWES] = { "owes", COLUMN_INTEGER, 4,
			  "1: the grace period waits for it (qsmask of its node)", NULL },
	[COLUMN_NEEDS] = { "needs_qs", COLUMN_INTEGER, 0, "1: it knows that (core_needs_qs)",
			   NULL },
	[COLUMN_CALLBACKS] = { "cbs", COLUMN_WIDE, 8, "callbacks that wait", NULL },
	[COLUMN_READY] = { "ready", COLUMN_WIDE, 8, "of these, those that may be called", NULL },
	[COLUMN_INVOKED] = { "invoked", COLUMN_WIDE, 10, "callbacks that were called", NULL },
	[COLUMN_TICKS] = { "ticks", COLUMN_WIDE, 0, "ticks of this grace period on it", NULL },
	[COLUMN_OFFLOADED] = { "offloaded", COLUMN_INTEGER, 0, "1: a thread calls them", NULL },
	[COLUMN_NODE] = { "node", COLUMN_ADDRESS, 16, "of the tree, where it reports",
			  "struct rcu_node" },
};

/* SEGCBLIST_OFFLOADED of kernel include/linux/rcu_segcblist.h, by its enumerator. */
static struct error *set_offloaded(struct table_scan *scan, const struct object *data)
{
	struct btf_enumerator enumerator;
	uint64_t flags;
	uint32_t id;
	TRY(object_u64(data, "cblist.flags", &flags));
	if (btf_find_enumerator(scan->target->btf, "SEGCBLIST_OFFLOADED", &id, &enumerator))
		table_set(scan, COLUMN_OFFLOADED, (flags & (uint64_t)enumerator.value) != 0);
	return NULL;
}

static struct error *set_owes(struct table_scan *scan, const struct object *data)
{
	struct object node;
	uint64_t mask, waits;
	TRY(object_follow(data, "mynode", &node));
	table_set(scan, COLUMN_NODE, node.address);
	if (!node.address)
		return NULL;
	TRY(object_u64(data, "grpmask", &mask));
	TRY(object_u64(&node, "qsmask", &waits));
	table_set(scan, COLUMN_OWES, (waits & mask) != 0);
	return NULL;
}

static struct error *visit_cpu(struct table_scan *scan, const struct cpu *cpu,
			       const struct object *data, void *context)
{
	(void)context;
	table_set(scan, COLUMN_DATA, data->address);
	table_set(scan, COLUMN_CPU, cpu->number);
	TRY(table_set_member(scan, COLUMN_SEQ, data, "gp_seq"));
	TRY(table_set_member(scan, COLUMN_NEEDED, data, "gp_seq_needed"));
	TRY(table_set_member(scan, COLUMN_NEEDS, data, "core_needs_qs"));
	TRY(table_set_member(scan, COLUMN_CALLBACKS, data,
			     object_has(data, "cblist.len.counter") ? "cblist.len.counter"
								    : "cblist.len"));
	/* Since 2d0ffa5af3cd (5.12). */
	TRY(table_set_member(scan, COLUMN_READY, data, "cblist.seglen[0]"));
	TRY(table_set_member(scan, COLUMN_INVOKED, data, "n_cbs_invoked"));
	TRY(table_set_member(scan, COLUMN_TICKS, data, "ticks_this_gp"));
	TRY(table_set_error(scan, COLUMN_OFFLOADED, set_offloaded(scan, data)));
	TRY(table_set_error(scan, COLUMN_NODE, set_owes(scan, data)));
	return table_emit(scan);
}

static struct error *visit(struct table_scan *scan)
{
	return table_each_cpu(scan, "rcu_data", "struct rcu_data", visit_cpu, NULL);
}

static const char *const examples[] = { "rcu", "rcu --where 'owes = 1'", "rcu --sort -cbs -n 3",
					NULL };

const struct table table_rcu = {
	.name = "rcu",
	.summary = "RCU, by CPU",
	.description =
		"A row is the struct rcu_data of a possible CPU: whether the grace period waits "
		"for it, and the callbacks that wait for one. Which tasks hold it up is in "
		"rcureaders.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_DATA,
};
