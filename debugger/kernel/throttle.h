/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Groups of tasks that have used up their share of the CPUs (cpu.max of cgroups; kernel
 * kernel/sched/fair.c, struct cfs_bandwidth).
 */
#ifndef DEBUGGER_KERNEL_THROTTLE_H
#define DEBUGGER_KERNEL_THROTTLE_H

#include "debugger/target/object.h"

struct task_group {
	uint64_t address;				   /* of its struct task_group */
	uint64_t cgroup;				   /* 0: it has none */
	uint64_t quota, period;				   /* ns of each ns; */
	uint64_t periods, throttled_periods, throttled_ns; /* that there were, of all CPUs */
	uint64_t queues;  /* address of the array of pointers to its cfs_rq, one a CPU; or: */
	bool are_per_cpu; /* `queues` is that of the cfs_rq in the area of each CPU */
};

typedef struct error *task_group_visitor(void *context, const struct task_group *group);
/* Those that have a quota. What is broken ends the walk as an error. */
struct error *limited_groups_for_each(struct target *target, task_group_visitor *visit,
				      void *context) MUST_CHECK;
/*
 * Since when a group must not run on a CPU, in the time of its run queue; 0: it may. `*ret_queue`:
 * its cfs_rq there, 0 none.
 */
struct error *group_throttled_since(struct target *target, const struct task_group *group,
				    const struct cpu *cpu, uint64_t *ret,
				    uint64_t *ret_queue) MUST_CHECK;
/* Whether the group of a task, or one above, must not run on the task's CPU. */
struct error *task_is_throttled(struct target *target, uint64_t task, bool *ret) MUST_CHECK;

#endif
