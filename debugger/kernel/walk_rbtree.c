// SPDX-License-Identifier: GPL-3.0-or-later
/* Red-black trees (kernel include/linux/rbtree_types.h). */
#include "debugger/kernel/walk.h"

#include "base/interrupt.h"
#include "debugger/target/object.h"
#include <inttypes.h>

/* 2 * log2(n + 1) for as many nodes as there are addresses. */
#define DEPTH_MAX 128
/* The colour, and a bit to spare, in the pointer to the parent. */
#define PARENT_FLAGS 3u

struct rbtree {
	const struct walk *walk;
	uint64_t parent, left, right; /* offsets in struct rb_node */
};

struct rb_links {
	uint64_t parent, left, right;
};

static struct error *read_links(const struct rbtree *tree, uint64_t node, struct rb_links *ret)
{
	struct memory *memory = tree->walk->target->memory;
	TRY(memory_read_word(memory, node + tree->parent, &ret->parent));
	TRY(memory_read_word(memory, node + tree->left, &ret->left));
	return memory_read_word(memory, node + tree->right, &ret->right);
}

/* What is wrong with a node that `parent` links to; NULL: nothing. */
static struct error *check_node(const struct rbtree *tree, uint64_t node, uint64_t parent,
				unsigned int depth, struct rb_links *ret)
{
	if (depth > DEPTH_MAX)
		return error_create(ERROR_FORMAT,
				    "tree node 0x%" PRIx64 " lies deeper than %u levels", node,
				    DEPTH_MAX);
	TRY(error_prefix(read_links(tree, node, ret), "tree node 0x%" PRIx64 " below 0x%" PRIx64,
			 node, parent));
	if ((ret->parent & ~(uint64_t)PARENT_FLAGS) != parent)
		return error_create(ERROR_FORMAT,
				    "tree node 0x%" PRIx64 " does not link back to 0x%" PRIx64,
				    node, parent);
	return NULL;
}

/* A node that points back to its parent has one place: no node comes twice. */
static struct error *visit_node(const struct rbtree *tree, uint64_t node, uint64_t parent,
				unsigned int depth)
{
	const struct walk *walk = tree->walk;
	struct rb_links links;
	if (!node)
		return NULL;
	bool again;
	TRY(interrupt_check());
	TRY(walk_again(walk, node, "a tree", &again));
	if (again)
		return NULL;
	struct error *error = check_node(tree, node, parent, depth, &links);
	if (error)
		return walk->broken(walk->context, error);
	TRY(visit_node(tree, links.left, node, depth + 1));
	struct walk_item item = { .address = node };
	TRY(walk->visit(walk->context, &item));
	if (links.left && links.left == links.right)
		return walk->broken(walk->context, error_create(ERROR_FORMAT,
								"tree node 0x%" PRIx64
								" has 0x%" PRIx64 " on both sides",
								node, links.right));
	return visit_node(tree, links.right, node, depth + 1);
}

struct error *walk_rbtree(const struct walk *walk, uint64_t root)
{
	struct rbtree tree = { .walk = walk };
	struct target *target = walk->target;
	uint64_t offset, node;
	TRY(target_need_memory(target));
	TRY(object_offset(target, "struct rb_node", "__rb_parent_color", &tree.parent));
	TRY(object_offset(target, "struct rb_node", "rb_left", &tree.left));
	TRY(object_offset(target, "struct rb_node", "rb_right", &tree.right));
	TRY(object_offset(target, "struct rb_root", "rb_node", &offset));
	struct error *error = memory_read_word(target->memory, root + offset, &node);
	if (error)
		return walk->broken(walk->context,
				    error_prefix(error, "tree root 0x%" PRIx64, root));
	return visit_node(&tree, node, 0, 1);
}
