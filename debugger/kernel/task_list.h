/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the tasks are: by their lists, and where these are broken or shorter than the kernel's own
 * count, by their pids and in their slabs, too.
 */
#ifndef DEBUGGER_KERNEL_TASK_LIST_H
#define DEBUGGER_KERNEL_TASK_LIST_H

#include "debugger/target/target.h"

/* PID_MAX_LIMIT: what is above is an address. */
#define PID_LIMIT (4u << 20)

/*
 * Visits the address of each task_struct: idle tasks of every CPU first, then every thread of
 * every process in list order. What may be missing is told by `*ret_problem` (NULL: nothing;
 * caller frees). The visitor returns an error to end the walk.
 */
typedef struct error *task_list_visitor(void *context, uint64_t address);
struct error *task_list_for_each(struct target *target, task_list_visitor *visit, void *context,
				 struct error **ret_problem) MUST_CHECK;
/* The lists are walked anew when next asked for: a running machine has other tasks by then. */
void task_list_forget(struct target *target);

#endif
