// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Maple trees (kernel include/linux/maple_tree.h, 6.1 on): nodes of 256 bytes and as aligned; the
 * low byte of a pointer to a node holds its type. A node has slots and, between them, pivots: the
 * last index of each slot. Pivots that are not used are zero, and the last slot goes up to where
 * the node ends.
 */
#include "debugger/kernel/walk.h"

#include "base/bytes.h"
#include "base/interrupt.h"
#include "debugger/target/object.h"
#include <inttypes.h>

#define NODE_MASK   0xffu
#define TYPE_SHIFT  3
#define TYPE_MASK   0xfu
#define ROOT_PARENT 1u /* in the root's parent, which is the tree */
#define SLOTS_MAX   64u
/* 16-fold branches over 64 bits of index. */
#define DEPTH_MAX 32

enum { SHAPE_LEAF, SHAPE_RANGE, SHAPE_ARANGE, SHAPE_COUNT };

/* One kind of node. */
struct shape {
	uint64_t type;		/* as the pointer to it says */
	uint64_t pivots, slots; /* offsets */
	uint64_t pivot_count, slot_count;
	bool is_leaf;
};

struct maple {
	const struct walk *walk;
	struct shape shapes[SHAPE_COUNT];
	uint64_t tree;
};

static struct error *find_array(struct target *target, const char *type_name, const char *member,
				uint64_t *ret_offset, uint64_t *ret_count)
{
	struct type type;
	struct type_place place;
	struct btf_type record;
	TRY(target_find_type(target, NULL, type_name, &type));
	TRY(type_find_path(type, member, &place));
	if (!type_get_resolved(place.type, &record) || record.kind != BTF_ARRAY ||
	    record.array_count > SLOTS_MAX)
		return error_create(ERROR_FORMAT, "%s.%s is not an array of at most %u", type_name,
				    member, SLOTS_MAX);
	*ret_offset = place.bit_offset / 8;
	*ret_count = record.array_count;
	return NULL;
}

static struct error *find_shape(struct target *target, const char *enumerator,
				const char *type_name, struct shape *ret)
{
	struct btf_enumerator value;
	uint32_t id;
	if (!btf_find_enumerator(target->btf, enumerator, &id, &value))
		return error_create(ERROR_NOT_FOUND, "no enumerator %s", enumerator);
	ret->type = (uint64_t)value.value;
	TRY(find_array(target, type_name, "pivot", &ret->pivots, &ret->pivot_count));
	return find_array(target, type_name, "slot", &ret->slots, &ret->slot_count);
}

static struct error *find_shapes(struct maple *maple)
{
	struct target *target = maple->walk->target;
	struct shape *shapes = maple->shapes;
	TRY(find_shape(target, "maple_leaf_64", "struct maple_range_64", &shapes[SHAPE_LEAF]));
	TRY(find_shape(target, "maple_range_64", "struct maple_range_64", &shapes[SHAPE_RANGE]));
	TRY(find_shape(target, "maple_arange_64", "struct maple_arange_64", &shapes[SHAPE_ARANGE]));
	shapes[SHAPE_LEAF].is_leaf = true;
	return NULL;
}

/* A node that was read. */
struct maple_node {
	const struct shape *shape;
	uint8_t pivots[8 * SLOTS_MAX], slots[8 * SLOTS_MAX];
};

static struct error *read_node(const struct maple *maple, uint64_t encoded, uint64_t parent,
			       struct maple_node *ret)
{
	struct memory *memory = maple->walk->target->memory;
	uint64_t address = encoded & ~(uint64_t)NODE_MASK, back, word = memory->word_size;
	uint64_t type = encoded >> TYPE_SHIFT & TYPE_MASK;
	ret->shape = NULL;
	for (int i = 0; i < SHAPE_COUNT; i++)
		if (maple->shapes[i].type == type)
			ret->shape = &maple->shapes[i];
	if (!ret->shape)
		return error_create(ERROR_FORMAT, "has the unknown type %" PRIu64, type);
	/* The first word of each: the parent with its own low byte, or the tree. */
	TRY(memory_read_word(memory, address, &back));
	bool is_right = parent ? !(back & ROOT_PARENT) && (back & ~(uint64_t)NODE_MASK) == parent
			       : back == (maple->tree | ROOT_PARENT);
	if (!is_right)
		return error_create(ERROR_FORMAT, "does not link back to 0x%" PRIx64,
				    parent ? parent : maple->tree);
	TRY(memory_read(memory, address + ret->shape->pivots, ret->pivots,
			ret->shape->pivot_count * word));
	return memory_read(memory, address + ret->shape->slots, ret->slots,
			   ret->shape->slot_count * word);
}

/* The last index of a slot. */
static uint64_t slot_last(const struct maple *maple, const struct maple_node *node, uint64_t slot,
			  uint64_t end)
{
	struct memory *memory = maple->walk->target->memory;
	if (slot >= node->shape->pivot_count)
		return end;
	uint64_t pivot = load_unsigned(node->pivots + slot * memory->word_size, memory->word_size,
				       memory->big_endian);
	/* Zero is a last index in the first slot only. */
	return (!pivot && slot) || pivot > end ? end : pivot;
}

static struct error *visit_node(const struct maple *maple, uint64_t encoded, uint64_t parent,
				uint64_t range[2], unsigned int depth)
{
	const struct walk *walk = maple->walk;
	struct memory *memory = walk->target->memory;
	uint64_t address = encoded & ~(uint64_t)NODE_MASK, first = range[0];
	struct maple_node node;
	TRY(interrupt_check());
	struct error *error =
		depth > DEPTH_MAX
			? error_create(ERROR_FORMAT, "lies deeper than %d levels", DEPTH_MAX)
			: read_node(maple, encoded, parent, &node);
	if (error)
		return walk->broken(walk->context,
				    error_prefix(error,
						 "maple node 0x%" PRIx64 " for index 0x%" PRIx64,
						 address, first));
	for (uint64_t i = 0; i < node.shape->slot_count; i++) {
		uint64_t entry = load_unsigned(node.slots + i * memory->word_size,
					       memory->word_size, memory->big_endian);
		uint64_t own[2] = { first, slot_last(maple, &node, i, range[1]) };
		if (own[1] < own[0])
			return walk->broken(walk->context,
					    error_create(ERROR_FORMAT,
							 "maple node 0x%" PRIx64 ": pivot %" PRIu64
							 " goes back",
							 address, i));
		if (!node.shape->is_leaf && entry)
			TRY(visit_node(maple, entry, address, own, depth + 1));
		else if (entry && !xa_is_internal(entry))
			TRY(walk_entry(walk, entry, own[0], own[1]));
		if (own[1] >= range[1])
			break;
		first = own[1] + 1;
	}
	return NULL;
}

struct error *walk_maple(const struct walk *walk, uint64_t tree)
{
	struct maple maple = { .walk = walk, .tree = tree };
	struct target *target = walk->target;
	uint64_t offset, root, range[2] = { 0, UINT64_MAX };
	TRY(target_need_memory(target));
	TRY(target_need_btf(target));
	TRY(object_offset(target, "struct maple_tree", "ma_root", &offset));
	TRY(find_shapes(&maple));
	struct error *error = memory_read_word(target->memory, tree + offset, &root);
	if (error)
		return walk->broken(walk->context,
				    error_prefix(error, "maple tree 0x%" PRIx64, tree));
	if (xa_is_node(root))
		return visit_node(&maple, root, 0, range, 1);
	if (!root || xa_is_internal(root))
		return walk_ended(walk, false);
	return walk_entry(walk, root, 0, 0);
}
