// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/walk.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/interrupt.h"
#include "debugger/target/list.h"
#include "debugger/target/object.h"
#include <inttypes.h>

/* Nodes behind a break that are kept to be visited in order. */
#define BEHIND_MAX (1u << 20)
/* Nodes of one chain. */
#define CHAIN_MAX (1u << 24)

struct error *walk_again(const struct walk *walk, uint64_t node, const char *where, bool *ret)
{
	*ret = false;
	if (!walk->seen)
		return NULL;
	struct error *error = seen_add(walk->seen, node, ret);
	if (!error && *ret)
		error = error_create(ERROR_FORMAT,
				     "%s leads to 0x%" PRIx64 ", which was reached before", where,
				     node);
	*ret = error;
	return error && !error_is_fatal(error) ? walk->broken(walk->context, error) : error;
}

struct error *walk_ended(const struct walk *walk, bool found)
{
	if (found || !walk->never_empty)
		return NULL;
	return walk->broken(walk->context,
			    error_create(ERROR_FORMAT,
					 "%s is empty, which it never is once a kernel has booted",
					 walk->never_empty));
}

/* *ret_again: it was visited before, and is not now. */
static struct error *visit(const struct walk *walk, uint64_t node, const char *where,
			   bool *ret_again)
{
	const struct walk_item item = { .address = node };
	TRY(walk_again(walk, node, where, ret_again));
	return *ret_again ? NULL : walk->visit(walk->context, &item);
}

/* --- struct list_head ----------------------------------------------------------------------- */

struct behind {
	uint64_t *nodes;
	size_t count, capacity;
};

/* From the head the other way round, up to the break. */
static struct error *collect_behind(const struct walk *walk, struct list_walk *list, uint64_t stop,
				    struct behind *behind)
{
	(void)walk;
	while (behind->count < BEHIND_MAX) {
		uint64_t node;
		struct error *error = list_walk_next(list, &node);
		if (error && error->kind == ERROR_INTERRUPTED)
			return error;
		error_free(error);
		if (error || !node || node == stop)
			return NULL;
		if (!array_reserve(&behind->nodes, &behind->capacity, behind->count + 1))
			return error_no_memory();
		behind->nodes[behind->count++] = node;
	}
	return NULL;
}

static struct error *visit_behind(const struct walk *walk, uint64_t head, uint64_t stop,
				  bool backward)
{
	struct behind behind = { 0 };
	struct list_walk list;
	if (backward)
		list_walk_init(&list, walk->target, head);
	else
		list_walk_init_backward(&list, walk->target, head);
	struct error *error = collect_behind(walk, &list, stop, &behind);
	bool again = false;
	while (!error && behind.count)
		error = visit(walk, behind.nodes[--behind.count], "a broken list", &again);
	free(behind.nodes);
	return error;
}

struct error *walk_list(const struct walk *walk, uint64_t head, bool backward)
{
	struct list_walk list;
	TRY(target_need_memory(walk->target));
	if (backward)
		list_walk_init_backward(&list, walk->target, head);
	else
		list_walk_init(&list, walk->target, head);
	for (;;) {
		uint64_t node;
		struct error *error = list_walk_next(&list, &node);
		if (error && error->kind == ERROR_INTERRUPTED)
			return error;
		if (error) {
			TRY(walk->broken(walk->context, error));
			return visit_behind(walk, head, list.node, backward);
		}
		if (!node)
			return walk_ended(walk, list.count);
		bool again;
		TRY(visit(walk, node, "a list", &again));
		if (again)
			return NULL;
	}
}

/* --- struct hlist_head ---------------------------------------------------------------------- */

static bool hlist_ends(uint64_t node, enum hlist_kind kind)
{
	return !node || (kind == HLIST_NULLS && (node & 1));
}

struct error *walk_hlist(const struct walk *walk, uint64_t head, enum hlist_kind kind)
{
	TRY(target_need_memory(walk->target));
	struct memory *memory = walk->target->memory;
	size_t word = memory->word_size;
	uint8_t raw[16];
	uint64_t from = head, node;
	struct error *error = memory_read_word(memory, head, &node);
	if (error)
		return walk->broken(walk->context,
				    error_prefix(error, "hash list head 0x%" PRIx64, head));
	if (kind == HLIST_BL)
		node &= ~(uint64_t)1;
	while (!hlist_ends(node, kind)) {
		TRY(interrupt_check());
		/* What is no such head may be the head of an empty list, a node that is its own. */
		if (node == head)
			return walk->broken(walk->context, error_create(ERROR_FORMAT,
									"hash list at 0x%" PRIx64
									" leads back to its head",
									head));
		error = memory_read(memory, node, raw, 2 * word);
		if (error)
			return walk->broken(walk->context,
					    error_prefix(error,
							 "hash list at 0x%" PRIx64
							 ": node 0x%" PRIx64 " after 0x%" PRIx64,
							 head, node, from));
		/* As long as each points back to where we come from, none comes twice. */
		uint64_t back = load_unsigned(raw + word, word, memory->big_endian);
		if (back != from)
			return walk->broken(walk->context,
					    error_create(ERROR_FORMAT,
							 "hash list at 0x%" PRIx64
							 ": node 0x%" PRIx64
							 " does not link back to 0x%" PRIx64,
							 head, node, from));
		bool again;
		TRY(visit(walk, node, "a hash list", &again));
		if (again)
			return NULL;
		from = node;
		node = load_unsigned(raw, word, memory->big_endian);
	}
	return walk_ended(walk, from != head);
}

/* --- chains --------------------------------------------------------------------------------- */

static struct error *follow_chain(const struct walk *walk, uint64_t first, uint64_t offset,
				  bool may_be_ring, struct seen *seen)
{
	uint64_t node = first, from = 0, count = 0;
	while (node) {
		uint64_t next;
		bool again = false;
		TRY(interrupt_check());
		struct error *error = seen_add(seen, node, &again);
		if (error)
			return error_is_fatal(error) ? error : walk->broken(walk->context, error);
		if (again || ++count > CHAIN_MAX)
			return walk->broken(
				walk->context,
				error_create(
					ERROR_FORMAT,
					"chain from 0x%" PRIx64 ": 0x%" PRIx64 " %s 0x%" PRIx64,
					first, from,
					again ? "leads back to" : "is not the last before", node));
		error = memory_read_word(walk->target->memory, node + offset, &next);
		if (error)
			return walk->broken(walk->context,
					    error_prefix(error,
							 "chain from 0x%" PRIx64 ": node 0x%" PRIx64
							 " after 0x%" PRIx64,
							 first, node, from));
		const struct walk_item item = { .address = node };
		TRY(walk->visit(walk->context, &item));
		from = node;
		node = next;
		if (may_be_ring && node == first)
			return NULL;
	}
	return walk_ended(walk, first);
}

static struct error *walk_links(const struct walk *walk, uint64_t first, uint64_t offset,
				bool may_be_ring)
{
	struct seen seen = { .pages = { .entries = NULL } };
	TRY(target_need_memory(walk->target));
	struct error *error =
		follow_chain(walk, first, offset, may_be_ring, walk->seen ? walk->seen : &seen);
	seen_deinit(&seen);
	return error;
}

struct error *walk_chain(const struct walk *walk, uint64_t first, uint64_t offset)
{
	return walk_links(walk, first, offset, false);
}

struct error *walk_chain_or_ring(const struct walk *walk, uint64_t first, uint64_t offset)
{
	return walk_links(walk, first, offset, true);
}
