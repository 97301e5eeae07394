// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/rcu_owing.h"

#include "debugger/kernel/clock.h"
#include "debugger/kernel/walk.h"
#include "debugger/target/object.h"
#include <stdio.h>

#define NODES_MAX 4096 /* of RCU's tree */
/* The first grace periods begin with the clock of the kernel, which starts before 0. */
#define AGE_MAX_NS ((uint64_t)1 << 56)

static struct error *read_int(struct target *target, const char *name, uint64_t *ret)
{
	struct object variable;
	TRY(object_variable(target, name, "int", &variable));
	return object_u64(&variable, NULL, ret);
}

/* --- tasks ------------------------------------------------------------------------------------ */

/* Who was preempted last stands first; from gp_tasks on they hold the present grace period up. */
struct readers {
	struct target *target;
	uint64_t from; /* the entry of the first one that does */
	bool is_reached;
	struct rcu_owing *owing;
};

static struct error *add_reader(void *context, const struct walk_item *item)
{
	struct readers *readers = context;
	struct object task;
	readers->is_reached |= item->address == readers->from;
	if (!readers->is_reached)
		return NULL;
	TRY(object_container(readers->target, "struct task_struct", "rcu_node_entry", item->address,
			     &task));
	readers->owing->task = task.address;
	readers->owing->task_count++;
	return NULL;
}

static struct error *pass_over(void *context, struct error *problem)
{
	(void)context;
	return error_only_fatal(problem);
}

/* Kernels whose readers are not preempted have no such list. */
static struct error *look_at_readers(const struct object *node, struct rcu_owing *ret)
{
	struct object head;
	struct readers readers = { .target = node->target, .owing = ret };
	const struct walk walk = { .target = node->target,
				   .visit = add_reader,
				   .broken = pass_over,
				   .context = &readers };
	if (!object_has(node, "gp_tasks") || !object_has(node, "blkd_tasks"))
		return NULL;
	TRY(object_u64(node, "gp_tasks", &readers.from));
	if (!readers.from)
		return NULL;
	TRY(object_member(node, "blkd_tasks", &head));
	return walk_list(&walk, head.address, false);
}

/* --- CPUs ------------------------------------------------------------------------------------- */

/* Of a leaf alone: bits of the nodes above stand for leaves. */
static struct error *look_at_node(const struct object *node, uint64_t levels, struct rcu_owing *ret)
{
	uint64_t level, mask, first;
	TRY(object_u64(node, "level", &level));
	TRY(object_u64(node, "qsmask", &mask));
	TRY(object_u64(node, "grplo", &first));
	if (level + 1 != levels)
		return NULL;
	TRY(error_only_fatal(look_at_readers(node, ret)));
	if (!mask)
		return NULL;
	if (!ret->count)
		ret->first = (uint32_t)first + (uint32_t)__builtin_ctzll(mask);
	ret->count += (size_t)__builtin_popcountll(mask);
	return NULL;
}

static struct error *find_age(struct target *target, const struct object *state,
			      struct rcu_owing *ret)
{
	struct object variable;
	uint64_t now, began, tick, age;
	TRY(object_u64(state, "gp_start", &began));
	TRY(object_variable(target, "jiffies_64", "unsigned long", &variable));
	TRY(object_u64(&variable, NULL, &now));
	TRY(clock_tick(target, &tick));
	if (!__builtin_mul_overflow(now - began, tick, &age) && age < AGE_MAX_NS)
		ret->began_ns = age;
	return NULL;
}

struct error *rcu_owing_find(struct target *target, struct rcu_owing *ret)
{
	struct object state, node;
	uint64_t count, levels;
	*ret = (struct rcu_owing){ 0 };
	TRY(object_variable(target, "rcu_state", "struct rcu_state", &state));
	TRY(read_int(target, "rcu_num_nodes", &count));
	TRY(read_int(target, "rcu_num_lvls", &levels));
	for (uint64_t i = 0; i < count && i < NODES_MAX; i++) {
		char path[32];
		snprintf(path, sizeof(path), "node[%u]", (unsigned int)i);
		TRY(object_member(&state, path, &node));
		TRY(look_at_node(&node, levels, ret));
	}
	return error_only_fatal(find_age(target, &state, ret));
}
