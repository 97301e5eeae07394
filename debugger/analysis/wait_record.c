// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Who waits for a lock leaves a record on its stack that names its task and is linked into the
 * lock's list. Both together are a proof: what is left over of an earlier wait is linked to
 * nothing.
 */
#include "debugger/analysis/waits_private.h"

#include "base/array.h"
#include "base/bytes.h"

#define STACK_READ_MAX (16u << 10)

/* The part of the stack from the waiting function outwards. */
static bool read_stack(struct sleeper *sleeper)
{
	const struct stack_trace *trace = sleeper->trace;
	uint64_t start = trace->frames[sleeper->frame].sp;
	uint64_t end = sleeper->task->stack + sleeper->world->stack_size;
	if (sleeper->stack)
		return sleeper->stack_size;
	if (!wait_is_on_stack(sleeper->world, sleeper->task, start) || start % 8)
		return false;
	size_t size = end - start < STACK_READ_MAX ? (size_t)(end - start) : STACK_READ_MAX;
	sleeper->stack = malloc(size);
	if (!sleeper->stack)
		return false;
	struct error *why;
	sleeper->stack_start = start;
	sleeper->stack_size =
		memory_read_some(sleeper->world->target->memory, start, sleeper->stack, size, &why);
	error_free(why);
	return sleeper->stack_size;
}

/* Where the first `frames` frames from the waiting function on end. */
static uint64_t end_of_frames(const struct sleeper *sleeper, size_t frames)
{
	const struct stack_trace *trace = sleeper->trace;
	uint64_t end = sleeper->stack_start + sleeper->stack_size;
	size_t last = sleeper->frame + frames;
	if (last >= trace->count || trace->frames[last].kind == FRAME_USER)
		return end;
	uint64_t sp = trace->frames[last].sp;
	return sp > sleeper->stack_start && sp < end ? sp : end;
}

size_t wait_records(struct sleeper *sleeper, const char *type, const char *task_member,
		    const char *node_member, size_t frames, uint64_t ret[WAIT_RECORDS_MAX])
{
	struct target *target = sleeper->world->target;
	uint64_t task, node, next;
	size_t count = 0;
	if (!wait_offset(sleeper->world, type, task_member, &task) ||
	    !wait_offset(sleeper->world, type, node_member, &node) || !read_stack(sleeper))
		return 0;
	uint64_t end = end_of_frames(sleeper, frames);
	for (uint64_t at = sleeper->stack_start; at + 8 <= end && count < WAIT_RECORDS_MAX;
	     at += 8) {
		uint64_t word = load_unsigned(sleeper->stack + (at - sleeper->stack_start), 8,
					      target->memory->big_endian);
		uint64_t base = at - task;
		if (word == sleeper->task->address && base >= sleeper->stack_start &&
		    wait_node_is_linked(target, base + node, &next))
			ret[count++] = base;
	}
	return count;
}

size_t wait_places_of_task(struct sleeper *sleeper, size_t frames, uint64_t ret[WAIT_RECORDS_MAX])
{
	size_t count = 0;
	if (!read_stack(sleeper))
		return 0;
	uint64_t end = end_of_frames(sleeper, frames);
	for (uint64_t at = sleeper->stack_start; at + 8 <= end && count < WAIT_RECORDS_MAX; at += 8)
		if (load_unsigned(sleeper->stack + (at - sleeper->stack_start), 8,
				  sleeper->world->target->memory->big_endian) ==
		    sleeper->task->address)
			ret[count++] = at;
	return count;
}

/* --- who is a waiter -------------------------------------------------------------------- */

struct record_test {
	struct wait_world *world;
	uint64_t to_task; /* from a node to the pointer at the task */
};

/* Records lie on the stack of the task that they name. */
static bool is_record(void *context, uint64_t node)
{
	const struct record_test *test = context;
	uint64_t address;
	struct error *error =
		memory_read_word(test->world->target->memory, node + test->to_task, &address);
	error_free(error);
	const struct task *task = error ? NULL : wait_task_at(test->world, address);
	return task && wait_is_on_stack(test->world, task, node);
}

/* Entries of wait queues may lie anywhere; they hold the function that wakes them. */
static bool is_entry(void *context, uint64_t node)
{
	const struct record_test *test = context;
	uint64_t function;
	struct error *error =
		memory_read_word(test->world->target->memory, node + test->to_task, &function);
	error_free(error);
	return !error && wait_is_function(test->world, function, NULL);
}

static bool is_queue(const struct wait_class *class)
{
	return !strcmp(class->record, "struct wait_queue_entry");
}

/* --- the lock -----------------------------------------------------------------------------------
 */

/* The list begins in the lock: it is around the node that is no waiter's. */
static struct error *lock_around_head(struct sleeper *sleeper, const struct wait_class *class,
				      const uint64_t *records, size_t count, uint64_t head_offset,
				      uint64_t *ret)
{
	struct wait_world *world = sleeper->world;
	struct record_test test = { .world = world };
	uint64_t node, from;
	const char *member = is_queue(class) ? "func" : class->record_task;
	if (!wait_offset(world, class->record, class->record_node, &node) ||
	    !wait_offset(world, class->record, member, &from))
		return NULL;
	test.to_task = from - node;
	for (size_t i = 0; i < count; i++) {
		uint64_t head;
		TRY(wait_rings_head(&world->rings, world->target, records[i] + node,
				    is_queue(class) ? is_entry : is_record, &test, &head));
		if (head) {
			*ret = head - head_offset;
			return NULL;
		}
	}
	return NULL;
}

/* The ring is of waiters alone; of what may be the lock, it is the one that points into the ring.
 */
static struct error *lock_of_ring(struct sleeper *sleeper, const struct wait_class *class,
				  const uint64_t *records, size_t count, const uint64_t *candidates,
				  size_t candidate_count, uint64_t *ret)
{
	struct wait_world *world = sleeper->world;
	uint64_t node, first;
	if (!wait_offset(world, class->record, class->record_node, &node))
		return NULL;
	for (size_t i = 0; i < candidate_count; i++) {
		if (!wait_read(world, class->type, candidates[i], class->first, &first) || !first)
			continue;
		for (size_t k = 0; k < count; k++) {
			bool shares = first == records[k];
			if (!shares)
				TRY(wait_rings_share(&world->rings, world->target,
						     records[k] + node, first + node, &shares));
			if (shares) {
				*ret = candidates[i];
				return NULL;
			}
		}
	}
	return NULL;
}

struct error *wait_lock_by_list(struct sleeper *sleeper, const struct wait_class *class,
				const uint64_t *candidates, size_t candidate_count, uint64_t *ret)
{
	uint64_t records[WAIT_RECORDS_MAX], head;
	*ret = 0;
	/* The record is a local variable of the waiting function, or of who called it. */
	size_t count = wait_records(sleeper, class->record, class->record_task, class->record_node,
				    2, records);
	if (!count)
		return NULL;
	if (wait_offset(sleeper->world, class->type, class->head, &head))
		return lock_around_head(sleeper, class, records, count, head, ret);
	if (!class->first)
		return NULL;
	return lock_of_ring(sleeper, class, records, count, candidates, candidate_count, ret);
}

struct error *wait_queue_head_of(struct wait_world *world, uint64_t entry, uint64_t *ret)
{
	struct record_test test = { .world = world };
	uint64_t node, function, head, offset;
	*ret = 0;
	if (!wait_offset(world, "struct wait_queue_entry", "entry", &node) ||
	    !wait_offset(world, "struct wait_queue_entry", "func", &function) ||
	    !wait_offset(world, "struct wait_queue_head", "head", &offset))
		return NULL;
	test.to_task = function - node;
	TRY(wait_rings_head(&world->rings, world->target, entry + node, is_entry, &test, &head));
	*ret = head ? head - offset : 0;
	return NULL;
}
