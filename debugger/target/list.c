// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/target/list.h"

#include "base/bytes.h"
#include "base/interrupt.h"
#include "debugger/target/object.h"
#include <inttypes.h>

/* More nodes than any list of a real machine has. */
#define LIST_LIMIT (1u << 24)

void list_walk_init(struct list_walk *walk, struct target *target, uint64_t head)
{
	*walk = (struct list_walk){ .target = target, .head = head, .node = head };
}

void list_walk_init_backward(struct list_walk *walk, struct target *target, uint64_t head)
{
	list_walk_init(walk, target, head);
	walk->backward = true;
}

/* `next` and `prev` of a node, turned round when walking backward. */
static struct error *read_links(const struct list_walk *walk, uint64_t node, uint64_t *ret_next,
				uint64_t *ret_prev)
{
	struct memory *memory = walk->target->memory;
	uint8_t raw[16];
	size_t word = memory->word_size;
	TRY(error_prefix(memory_read(memory, node, raw, 2 * word), "list node 0x%" PRIx64, node));
	uint64_t next = load_unsigned(raw, word, memory->big_endian);
	uint64_t prev = load_unsigned(raw + word, word, memory->big_endian);
	*ret_next = walk->backward ? prev : next;
	*ret_prev = walk->backward ? next : prev;
	return NULL;
}

/*
 * Every node must point back to where the walk came from: then no cycle can be entered but
 * the one through the head.
 */
static struct error *next_node(struct list_walk *walk, uint64_t *ret_node)
{
	uint64_t next, prev, after;
	TRY(interrupt_check());
	TRY(read_links(walk, walk->node, &next, &prev));
	TRY(read_links(walk, next, &after, &prev));
	if (prev != walk->node)
		return error_create(ERROR_FORMAT,
				    "list at 0x%" PRIx64 ": node 0x%" PRIx64
				    " does not link back to 0x%" PRIx64,
				    walk->head, next, walk->node);
	if (next != walk->head && ++walk->count > LIST_LIMIT)
		return error_create(ERROR_FORMAT, "list at 0x%" PRIx64 " does not end", walk->head);
	*ret_node = next;
	return NULL;
}

struct error *list_walk_next(struct list_walk *walk, uint64_t *ret_node)
{
	uint64_t next = 0;
	*ret_node = 0;
	if (walk->ended)
		return NULL;
	struct error *error = next_node(walk, &next);
	if (error || next == walk->head) {
		walk->ended = true;
		return error;
	}
	walk->node = next;
	*ret_node = next;
	return NULL;
}
