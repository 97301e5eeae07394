// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/fib_trie.h"

#include "base/interrupt.h"
#include "debugger/kernel/walk.h"
#include <inttypes.h>

#define KEY_BITS 32
/* Lists of tables: FIB_TABLE_HASHSZ is 256 with several tables, else 2. */
#define LISTS_SEVERAL 256
#define LISTS_FEW     2
/* Nodes and places for nodes in one trie that are looked at: no router has as many routes. */
#define PLACES_MAX (1u << 24)
/* Tables with one trie: those of local and of other routes, until there are rules. */
#define SHARED_MAX 2

struct pass {
	struct target *target;
	const struct fib_visitor *visitor;
	uint64_t table_node, alias_node; /* offsets of what links them */
	uint64_t children;		 /* offset in a node */
	struct fib_route route;
	uint64_t places;
	struct seen nodes;	       /* of the table */
	struct seen tries[SHARED_MAX]; /* that were visited once, twice */
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

/* --- leaves --- */

static struct error *visit_alias(void *context, const struct walk_item *item)
{
	struct pass *pass = context;
	uint64_t length, table;
	TRY(object_at(pass->target, "struct fib_alias", item->address - pass->alias_node,
		      &pass->route.alias));
	struct error *error = object_u64(&pass->route.alias, "fa_slen", &length);
	if (!error)
		error = object_u64(&pass->route.alias, "tb_id", &table);
	if (!error && length > KEY_BITS)
		error = error_create(ERROR_FORMAT, "a route has a suffix of %" PRIu64 " bits",
				     length);
	if (error)
		return or_broken(pass, error_prefix(error, "route 0x%" PRIx64,
						    pass->route.alias.address));
	/* Until there are rules, the tables of local and of other routes are one trie. */
	if (table != pass->route.table)
		return NULL;
	pass->route.length = KEY_BITS - (unsigned int)length;
	return pass->visitor->visit(pass->visitor->context, &pass->route);
}

static struct error *visit_leaf(struct pass *pass, const struct object *node)
{
	struct object list;
	uint64_t key;
	const struct walk walk = {
		.target = pass->target, .visit = visit_alias, .broken = broken, .context = pass
	};
	TRY(object_u64(node, "key", &key));
	TRY(object_member(node, "leaf", &list));
	pass->route.key = (uint32_t)key;
	return walk_hlist(&walk, list.address, HLIST_PLAIN);
}

/* --- nodes --- */

/* Where a node hangs: what the bits of its key are from `top` on, that those above used up. */
struct place {
	uint64_t key;
	unsigned int top;
};

static struct error *visit_node(struct pass *pass, uint64_t address, struct place place);

static struct error *visit_inner(struct pass *pass, const struct object *node, uint64_t bits,
				 struct place place)
{
	struct memory *memory = pass->target->memory;
	uint64_t position;
	TRY(object_u64(node, "pos", &position));
	if (bits + position > place.top)
		return error_create(ERROR_FORMAT,
				    "node 0x%" PRIx64 " of a trie lies below one of its own bits",
				    node->address);
	pass->places += UINT64_C(1) << bits;
	if (pass->places > PLACES_MAX)
		return error_create(ERROR_FORMAT, "a trie has more than %u places", PLACES_MAX);
	uint64_t key;
	TRY(object_u64(node, "key", &key));
	for (uint64_t i = 0; i < UINT64_C(1) << bits; i++) {
		struct place below = { key | i << position, (unsigned int)position };
		uint64_t child;
		TRY(memory_read_word(memory, node->address + pass->children + i * memory->word_size,
				     &child));
		if (child)
			TRY(or_broken(pass, visit_node(pass, child, below)));
	}
	return NULL;
}

static struct error *visit_node(struct pass *pass, uint64_t address, struct place place)
{
	struct object node;
	uint64_t bits, key;
	bool again = false;
	TRY(interrupt_check());
	TRY(seen_add(&pass->nodes, address, &again));
	if (again)
		return error_create(ERROR_FORMAT, "node 0x%" PRIx64 " is in a trie twice", address);
	TRY(object_at(pass->target, "struct key_vector", address, &node));
	TRY(object_u64(&node, "bits", &bits));
	TRY(object_u64(&node, "key", &key));
	if ((key ^ place.key) >> place.top)
		return error_create(ERROR_FORMAT,
				    "node 0x%" PRIx64 " of a trie has a key of another place",
				    address);
	return bits ? visit_inner(pass, &node, bits, place) : visit_leaf(pass, &node);
}

/* --- tables --- */

static struct error *check_trie(struct pass *pass, uint64_t trie)
{
	bool again = true;
	for (size_t i = 0; i < SHARED_MAX && again; i++)
		TRY(seen_add(&pass->tries[i], trie, &again));
	return again ? error_create(ERROR_FORMAT,
				    "the trie at 0x%" PRIx64 " is that of too many tables", trie)
		     : NULL;
}

/* The trie's own node has one child, of all keys. */
static struct error *read_table(struct pass *pass, const struct object *table)
{
	struct object data;
	uint64_t number, first;
	TRY(object_u64(table, "tb_id", &number));
	TRY(object_follow(table, "tb_data", &data));
	TRY(object_at(pass->target, "struct trie", data.address, &data));
	TRY(object_member(&data, "kv", &data));
	TRY(check_trie(pass, data.address));
	TRY(memory_read_word(pass->target->memory, data.address + pass->children, &first));
	pass->route.table = (uint32_t)number;
	pass->places = 0;
	seen_deinit(&pass->nodes);
	return first ? visit_node(pass, first, (struct place){ 0, KEY_BITS }) : NULL;
}

static struct error *visit_table(void *context, const struct walk_item *item)
{
	struct pass *pass = context;
	struct object table;
	TRY(object_at(pass->target, "struct fib_table", item->address - pass->table_node, &table));
	return or_broken(pass,
			 error_prefix(read_table(pass, &table), "table 0x%" PRIx64, table.address));
}

static struct error *visit_tables(struct pass *pass, const struct object *net)
{
	struct object heads;
	const struct walk walk = { .target = net->target,
				   .visit = visit_table,
				   .broken = broken,
				   .context = pass,
				   .seen = pass->visitor->seen };
	TRY(object_offset(net->target, "struct fib_table", "tb_hlist", &pass->table_node));
	TRY(object_offset(net->target, "struct fib_alias", "fa_list", &pass->alias_node));
	TRY(object_offset(net->target, "struct key_vector", "tnode", &pass->children));
	TRY(object_follow(net, "ipv4.fib_table_hash", &heads));
	/* fib_net_init() makes it with the namespace. */
	if (!heads.address)
		return error_create(ERROR_FORMAT, "ipv4.fib_table_hash is NULL, which it never is");
	unsigned int count = object_has(net, "ipv4.fib_has_custom_rules") ? LISTS_SEVERAL
									  : LISTS_FEW;
	for (unsigned int i = 0; i < count; i++)
		TRY(walk_hlist(&walk, heads.address + i * net->target->memory->word_size,
			       HLIST_PLAIN));
	return NULL;
}

struct error *fib_trie_for_each(const struct object *net, const struct fib_visitor *visitor)
{
	struct pass pass = { .target = net->target, .visitor = visitor };
	struct error *error = visit_tables(&pass, net);
	seen_deinit(&pass.nodes);
	for (size_t i = 0; i < SHARED_MAX; i++)
		seen_deinit(&pass.tries[i]);
	return error;
}
