/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tasks by way of the pids of the initial namespace (init_pid_ns.idr): a second way to them, for
 * when the task list has holes.
 */
#ifndef DEBUGGER_KERNEL_PID_TABLE_H
#define DEBUGGER_KERNEL_PID_TABLE_H

#include "debugger/target/target.h"

/*
 * Visits the address of the task_struct of every pid that can be reached; what cannot is passed
 * over. The visitor returns an error to end the walk. *ret_problem: why there was no search, which
 * the caller frees; NULL.
 */
struct error *pid_table_for_each(struct target *target,
				 struct error *(*visit)(void *context, uint64_t task),
				 void *context, struct error **ret_problem) MUST_CHECK;

#endif
