// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/fib6_tree.h"

#include "base/interrupt.h"
#include "debugger/kernel/walk.h"
#include <inttypes.h>

#define KEY_BITS 128
/* Lists of tables: FIB6_TABLE_HASHSZ is 256 with several tables, else 1. */
#define LISTS_SEVERAL 256
#define LISTS_FEW     1
/* kernel include/net/ip6_fib.h: what leads to routes below has a leaf, too, but none of its own. */
#define RTN_RTINFO 4u

struct pass {
	struct target *target;
	const struct fib6_visitor *visitor;
	uint64_t table_node, next; /* offsets of what links them */
	uint64_t null_entry;
	uint32_t table;
	uint64_t node; /* whose routes are visited */
};

/* Where a node hangs: in a tree, or in the one that a node of that has for sources. */
struct place {
	uint64_t parent;
	unsigned int bit; /* the parent's: below, it must be higher */
	bool is_root, is_source;
};

static struct error *broken(void *context, struct error *problem)
{
	const struct pass *pass = context;
	return pass->visitor->broken(pass->visitor->context, problem);
}

static struct error *or_broken(struct pass *pass, struct error *error)
{
	return error && !error_is_fatal(error) ? broken(pass, error) : error;
}

static struct error *visit_route(void *context, const struct walk_item *item)
{
	struct pass *pass = context;
	struct object route;
	uint64_t node;
	/* All tables begin with it. */
	if (item->address == pass->null_entry)
		return NULL;
	TRY(object_at(pass->target, "struct fib6_info", item->address, &route));
	TRY(object_u64(&route, "fib6_node", &node));
	if (node != pass->node)
		return error_create(ERROR_FORMAT, "route 0x%" PRIx64 " does not link back",
				    item->address);
	return pass->visitor->visit(pass->visitor->context, &route, pass->table);
}

static struct error *visit_leaf(struct pass *pass, const struct object *node)
{
	const struct walk walk = {
		.target = pass->target, .visit = visit_route, .broken = broken, .context = pass
	};
	uint64_t flags, first;
	TRY(object_u64(node, "fn_flags", &flags));
	if (!(flags & RTN_RTINFO))
		return NULL;
	TRY(object_u64(node, "leaf", &first));
	pass->node = node->address;
	return first ? walk_chain(&walk, first, pass->next) : NULL;
}

static struct error *visit_node(struct pass *pass, uint64_t address, const struct place *place);

static struct error *visit_child(struct pass *pass, uint64_t child, const struct place *place)
{
	return child ? or_broken(pass, visit_node(pass, child, place)) : NULL;
}

/*
 * A node is reached by its parent alone, and lies deeper than it: so each comes once, and the walk
 * ends.
 */
static struct error *check_place(const struct object *node, const struct place *place,
				 unsigned int *ret_bit)
{
	uint64_t parent, bit;
	TRY(object_u64(node, "parent", &parent));
	TRY(object_u64(node, "fn_bit", &bit));
	*ret_bit = (unsigned int)bit;
	if (parent != place->parent)
		return error_create(ERROR_FORMAT, "node 0x%" PRIx64 " does not link back",
				    node->address);
	if (!place->is_root && (bit <= place->bit || bit > KEY_BITS))
		return error_create(ERROR_FORMAT,
				    "node 0x%" PRIx64 " of a tree lies below one of its own bits",
				    node->address);
	return NULL;
}

static struct error *visit_node(struct pass *pass, uint64_t address, const struct place *place)
{
	struct object node;
	uint64_t left, right, sources = 0;
	struct place below = { .parent = address, .is_source = place->is_source };
	TRY(interrupt_check());
	TRY(object_at(pass->target, "struct fib6_node", address, &node));
	TRY(check_place(&node, place, &below.bit));
	TRY(or_broken(pass, visit_leaf(pass, &node)));
	TRY(object_u64(&node, "left", &left));
	TRY(object_u64(&node, "right", &right));
	/* Routes by the sender's address; without CONFIG_IPV6_SUBTREES there are none. */
	if (!place->is_source && object_has(&node, "subtree"))
		TRY(object_u64(&node, "subtree", &sources));
	if ((left && left == right) || (sources && (sources == left || sources == right)))
		return error_create(ERROR_FORMAT, "node 0x%" PRIx64 " has one child twice",
				    address);
	TRY(visit_child(pass, left, &below));
	TRY(visit_child(pass, right, &below));
	below.is_root = below.is_source = true;
	return visit_child(pass, sources, &below);
}

static struct error *read_table(struct pass *pass, const struct object *table)
{
	struct object root;
	uint64_t number;
	const struct place place = { .is_root = true };
	TRY(object_u64(table, "tb6_id", &number));
	TRY(object_member(table, "tb6_root", &root));
	pass->table = (uint32_t)number;
	return visit_node(pass, root.address, &place);
}

static struct error *visit_table(void *context, const struct walk_item *item)
{
	struct pass *pass = context;
	struct object table;
	TRY(object_at(pass->target, "struct fib6_table", item->address - pass->table_node, &table));
	return or_broken(pass,
			 error_prefix(read_table(pass, &table), "table 0x%" PRIx64, table.address));
}

struct error *fib6_tree_for_each(const struct object *net, const struct fib6_visitor *visitor)
{
	struct pass pass = { .target = net->target, .visitor = visitor };
	struct object heads;
	const struct walk walk = { .target = net->target,
				   .visit = visit_table,
				   .broken = broken,
				   .context = &pass,
				   .seen = visitor->seen };
	TRY(object_offset(net->target, "struct fib6_table", "tb6_hlist", &pass.table_node));
	TRY(object_offset(net->target, "struct fib6_info", "fib6_next", &pass.next));
	TRY(object_u64(net, "ipv6.fib6_null_entry", &pass.null_entry));
	TRY(object_follow(net, "ipv6.fib_table_hash", &heads));
	/* Both are NULL until the module is there. */
	if (!heads.address && pass.null_entry)
		return error_create(ERROR_FORMAT,
				    "ipv6.fib_table_hash is NULL, though ipv6.fib6_null_entry "
				    "is not");
	unsigned int count = object_has(net, "ipv6.fib6_has_custom_rules") ? LISTS_SEVERAL
									   : LISTS_FEW;
	for (unsigned int i = 0; heads.address && i < count; i++)
		TRY(walk_hlist(&walk, heads.address + i * net->target->memory->word_size,
			       HLIST_PLAIN));
	return NULL;
}
