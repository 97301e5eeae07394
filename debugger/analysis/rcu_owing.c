// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/rcu_owing.h"

#include "debugger/target/object.h"
#include <stdio.h>

#define NODES_MAX 4096 /* of RCU's tree */

static struct error *read_int(struct target *target, const char *name, uint64_t *ret)
{
	struct object variable;
	TRY(object_variable(target, name, "int", &variable));
	return object_u64(&variable, NULL, ret);
}

/* Of a leaf alone: bits of the nodes above stand for leaves. */
static struct error *look_at_node(const struct object *node, uint64_t levels, struct rcu_owing *ret)
{
	uint64_t level, mask, first;
	TRY(object_u64(node, "level", &level));
	TRY(object_u64(node, "qsmask", &mask));
	TRY(object_u64(node, "grplo", &first));
	if (!mask || level + 1 != levels)
		return NULL;
	if (!ret->count)
		ret->first = (uint32_t)first + (uint32_t)__builtin_ctzll(mask);
	ret->count += (size_t)__builtin_popcountll(mask);
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
	return NULL;
}
