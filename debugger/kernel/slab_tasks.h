/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tasks by way of the slab cache that holds them: the last resort, for when neither the task list
 * nor the pids lead to them. What a task once was is not shown: a free slot never, a slot that may
 * be free only when others still point at the task in it.
 */
#ifndef DEBUGGER_KERNEL_SLAB_TASKS_H
#define DEBUGGER_KERNEL_SLAB_TASKS_H

#include "debugger/target/target.h"

/*
 * Visits every task_struct found, idle tasks excepted, by ascending address. `*ret_problem` (NULL:
 * none; caller frees) is why the slabs could not be searched. The visitor returns an error to end
 * the walk.
 */
struct error *slab_tasks_for_each(struct target *target,
				  struct error *(*visit)(void *context, uint64_t task),
				  void *context, struct error **ret_problem) MUST_CHECK;

#endif
