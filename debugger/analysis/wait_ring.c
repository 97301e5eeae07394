// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/wait_ring.h"

#include "base/array.h"
#include "debugger/target/list.h"

void wait_rings_deinit(struct wait_rings *rings)
{
	hash_index_deinit(&rings->index);
	free(rings->nodes);
	free(rings->heads);
	*rings = (struct wait_rings){ 0 };
}

static uint32_t ring_of(const struct wait_rings *rings, uint64_t node)
{
	uint32_t hash = hash_address(node);
	if (!rings->index.bucket_count)
		return HASH_NONE;
	size_t position = hash_index_first(&rings->index, hash);
	for (uint32_t n; (n = hash_index_next(&rings->index, hash, &position)) != HASH_NONE;)
		if (rings->nodes[n].address == node)
			return rings->nodes[n].ring;
	return HASH_NONE;
}

static struct error *add_node(struct wait_rings *rings, uint64_t node, uint32_t ring)
{
	if (!rings->index.bucket_count && !hash_index_init(&rings->index, 64))
		return error_no_memory();
	if (!array_reserve(&rings->nodes, &rings->capacity, rings->count + 1) ||
	    !hash_index_add(&rings->index, hash_address(node), (uint32_t)rings->count))
		return error_no_memory();
	rings->nodes[rings->count++] = (struct wait_ring_node){ node, ring };
	return NULL;
}

/* All nodes of a ring; what is behind a break is not in it. */
static struct error *walk_ring(struct wait_rings *rings, struct target *target, uint64_t first,
			       ring_waiter_test *is_waiter, void *context, uint64_t *ret_head)
{
	uint32_t ring = (uint32_t)rings->ring_count - 1;
	struct list_walk walk;
	size_t heads = 0;
	uint64_t head = 0;
	TRY(add_node(rings, first, ring));
	list_walk_init(&walk, target, first);
	for (;;) {
		uint64_t node;
		struct error *error = list_walk_next(&walk, &node);
		if (error)
			return error_only_fatal(error);
		if (!node)
			break;
		/* A node of another ring, which was broken, breaks this one, too. */
		if (rings->count >= WAIT_RINGS_LIMIT || ring_of(rings, node) != HASH_NONE)
			return NULL;
		TRY(add_node(rings, node, ring));
		if (is_waiter(context, node))
			continue;
		head = node;
		heads++;
	}
	*ret_head = heads == 1 ? head : 0;
	return NULL;
}

struct error *wait_rings_head(struct wait_rings *rings, struct target *target, uint64_t node,
			      ring_waiter_test *is_waiter, void *context, uint64_t *ret)
{
	uint32_t ring = ring_of(rings, node);
	*ret = 0;
	if (ring != HASH_NONE) {
		*ret = rings->heads[ring];
		return NULL;
	}
	if (rings->count >= WAIT_RINGS_LIMIT)
		return NULL;
	if (!array_reserve(&rings->heads, &rings->ring_capacity, rings->ring_count + 1))
		return error_no_memory();
	ring = (uint32_t)rings->ring_count++;
	rings->heads[ring] = 0;
	TRY(walk_ring(rings, target, node, is_waiter, context, &rings->heads[ring]));
	*ret = rings->heads[ring];
	return NULL;
}

static bool is_any(void *context, uint64_t node)
{
	(void)context;
	(void)node;
	return true;
}

struct error *wait_rings_share(struct wait_rings *rings, struct target *target, uint64_t node,
			       uint64_t other, bool *ret)
{
	uint64_t head;
	*ret = false;
	if (ring_of(rings, node) == HASH_NONE)
		TRY(wait_rings_head(rings, target, node, is_any, NULL, &head));
	uint32_t ring = ring_of(rings, node);
	*ret = ring != HASH_NONE && ring == ring_of(rings, other);
	return NULL;
}

bool wait_node_is_linked(struct target *target, uint64_t node, uint64_t *ret_next)
{
	struct memory *memory = target->memory;
	uint64_t word = memory->word_size, next, prev, back = 0, forth = 0;
	struct error *error = memory_read_word(memory, node, &next);
	if (!error)
		error = memory_read_word(memory, node + word, &prev);
	if (!error)
		error = memory_read_word(memory, next + word, &back);
	if (!error)
		error = memory_read_word(memory, prev, &forth);
	bool linked = !error && back == node && forth == node;
	error_free(error);
	if (linked)
		*ret_next = next;
	return linked;
}
