// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/throttle.h"

#include "debugger/kernel/walk.h"

struct groups {
	struct target *target;
	task_group_visitor *visit;
	void *context;
};

/* RUNTIME_INF in place of a quota: there is none. */
static struct error *read_group(const struct object *object, struct task_group *ret)
{
	*ret = (struct task_group){ .address = object->address };
	TRY(object_u64(object, "cfs_bandwidth.quota", &ret->quota));
	TRY(object_u64(object, "cfs_bandwidth.period", &ret->period));
	TRY(object_u64(object, "cfs_bandwidth.nr_periods", &ret->periods));
	TRY(object_u64(object, "cfs_bandwidth.nr_throttled", &ret->throttled_periods));
	TRY(object_u64(object, "cfs_bandwidth.throttled_time", &ret->throttled_ns));
	TRY(object_u64(object, "css.cgroup", &ret->cgroup));
	struct object queues;
	struct type pointed;
	TRY(object_member(object, "cfs_rq", &queues));
	/* 7.3 has it as a per-CPU variable. */
	ret->are_per_cpu = type_target(queues.type, &pointed) && !type_is_pointer(pointed);
	return object_u64(&queues, NULL, &ret->queues);
}

static struct error *visit_group(void *context, const struct walk_item *item)
{
	const struct groups *groups = context;
	struct object object;
	struct task_group group;
	TRY(object_container(groups->target, "struct task_group", "list", item->address, &object));
	TRY(read_group(&object, &group));
	return group.quota == UINT64_MAX || !group.period ? NULL
							  : groups->visit(groups->context, &group);
}

static struct error *end_walk(void *context, struct error *problem)
{
	(void)context;
	return problem;
}

struct error *limited_groups_for_each(struct target *target, task_group_visitor *visit,
				      void *context)
{
	struct groups groups = { target, visit, context };
	struct walk walk = {
		.target = target, .visit = visit_group, .broken = end_walk, .context = &groups
	};
	struct object head, group;
	TRY(object_at(target, "struct task_group", 0, &group));
	/* Without CONFIG_CFS_BANDWIDTH nobody is throttled. */
	if (!object_has(&group, "cfs_bandwidth.quota"))
		return NULL;
	TRY(object_variable(target, "task_groups", "struct list_head", &head));
	return walk_list(&walk, head.address, false);
}

struct error *group_throttled_since(struct target *target, const struct task_group *group,
				    const struct cpu *cpu, uint64_t *ret, uint64_t *ret_queue)
{
	struct object queue;
	uint64_t throttled;
	*ret = 0;
	*ret_queue = group->queues + cpu->per_cpu_offset;
	if (!group->are_per_cpu)
		TRY(memory_read_word(target->memory,
				     group->queues +
					     (uint64_t)cpu->number * target->memory->word_size,
				     ret_queue));
	if (!*ret_queue)
		return NULL;
	TRY(object_at(target, "struct cfs_rq", *ret_queue, &queue));
	TRY(object_u64(&queue, "throttled", &throttled));
	return throttled ? object_u64(&queue, "throttled_clock", ret) : NULL;
}

struct error *task_is_throttled(struct target *target, uint64_t task, bool *ret)
{
	struct object object, queue;
	uint64_t count = 0;
	*ret = false;
	TRY(object_at(target, "struct task_struct", task, &object));
	/* The queue of the task's own group: without groups, that of the CPU. */
	if (!object_has(&object, "se.cfs_rq"))
		return NULL;
	TRY(object_follow(&object, "se.cfs_rq", &queue));
	if (queue.address && object_has(&queue, "throttle_count"))
		TRY(object_u64(&queue, "throttle_count", &count));
	*ret = count;
	return NULL;
}
