// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * An idr is an xarray (kernel include/linux/xarray.h): a tree of nodes with 64 slots; a slot is
 * empty, an entry, or, marked by its two low bits 10, a node one level down.
 */
#include "debugger/kernel/pid_table.h"

#include "base/bytes.h"
#include "base/interrupt.h"
#include "debugger/target/object.h"

#define NODE_MARK      2u
#define NODE_MARK_MASK 3u
/* Small numbers with the mark are not nodes (retry entries and the like). */
#define NODE_LOWEST 4096u
#define SLOTS_MAX   64u
#define SHIFT_MAX   64u
/* 64 * 65536 is PID_MAX_LIMIT: there cannot be more. */
#define NODES_MAX 70000u

struct pid_walk {
	struct target *target;
	uint64_t slots, shift; /* offsets in struct xa_node */
	uint64_t slot_count;
	uint32_t nodes;
	uint64_t tasks, pid_links; /* offsets in struct pid and task_struct */
	struct error *(*visit)(void *context, uint64_t task);
	void *context;
};

/* The task whose own pid this is: the first of pid->tasks[PIDTYPE_PID], linked by pid_links[0]. */
static struct error *visit_pid(struct pid_walk *walk, uint64_t pid)
{
	uint64_t link;
	struct error *error = memory_read_word(walk->target->memory, pid + walk->tasks, &link);
	error_free(error);
	if (error || !link)
		return NULL;
	return walk->visit(walk->context, link - walk->pid_links);
}

static struct error *visit_node(struct pid_walk *walk, uint64_t node, unsigned int above)
{
	struct memory *memory = walk->target->memory;
	uint8_t shift, raw[8 * SLOTS_MAX];
	TRY(interrupt_check());
	struct error *error = memory_read_u8(memory, node + walk->shift, &shift);
	if (!error)
		error = memory_read(memory, node + walk->slots, raw,
				    walk->slot_count * memory->word_size);
	error_free(error);
	/* Levels must descend, or damaged nodes that contain each other never end. */
	if (error || shift >= above || ++walk->nodes > NODES_MAX)
		return NULL;
	for (uint64_t i = 0; i < walk->slot_count; i++) {
		uint64_t slot = load_unsigned(raw + i * memory->word_size, memory->word_size,
					      memory->big_endian);
		if (!slot)
			continue;
		if ((slot & NODE_MARK_MASK) != NODE_MARK)
			TRY(visit_pid(walk, slot & ~(uint64_t)NODE_MARK_MASK));
		else if (slot > NODE_LOWEST && shift)
			TRY(visit_node(walk, slot - NODE_MARK, shift));
	}
	return NULL;
}

static struct error *find_offsets(struct pid_walk *walk)
{
	struct type node;
	struct type_place place;
	struct btf_type record;
	TRY(object_offset(walk->target, "struct xa_node", "shift", &walk->shift));
	TRY(object_offset(walk->target, "struct xa_node", "slots", &walk->slots));
	TRY(object_offset(walk->target, "struct pid", "tasks", &walk->tasks));
	TRY(object_offset(walk->target, "struct task_struct", "pid_links", &walk->pid_links));
	TRY(target_find_type(walk->target, NULL, "struct xa_node", &node));
	TRY(type_find_path(node, "slots", &place));
	if (!type_get_resolved(place.type, &record) || record.kind != BTF_ARRAY ||
	    record.array_count > SLOTS_MAX)
		return error_create(ERROR_FORMAT, "xa_node.slots is not an array of %u", SLOTS_MAX);
	walk->slot_count = record.array_count;
	return NULL;
}

static struct error *find_head(struct pid_walk *walk, uint64_t *ret)
{
	struct object names;
	TRY(find_offsets(walk));
	TRY(object_variable(walk->target, "init_pid_ns", "struct pid_namespace", &names));
	return object_u64(&names, "idr.idr_rt.xa_head", ret);
}

struct error *pid_table_for_each(struct target *target,
				 struct error *(*visit)(void *context, uint64_t task),
				 void *context, struct error **ret_problem)
{
	struct pid_walk walk = { .target = target, .visit = visit, .context = context };
	uint64_t head;
	*ret_problem = find_head(&walk, &head);
	if (!*ret_problem && (head & NODE_MARK_MASK) == NODE_MARK && head > NODE_LOWEST)
		return visit_node(&walk, head - NODE_MARK, SHIFT_MAX);
	return NULL;
}
