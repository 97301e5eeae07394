/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the stack of a task that waits, or is waited for, says of where it is. */
#ifndef DEBUGGER_ANALYSIS_WAIT_STACK_H
#define DEBUGGER_ANALYSIS_WAIT_STACK_H

#include "base/strbuf.h"
#include "debugger/kernel/task.h"

/*
 * Where a task is that waits for nobody: the function outside of the scheduler, of a running one
 * that which was interrupted, or the innermost; "" unknown. Errors are fatal ones.
 */
struct error *wait_function_of(struct target *target, const struct task *task,
			       const char **ret) MUST_CHECK;
/*
 * The innermost function of a module that a task is in, where the stack is proved:
 * "vol_scrub+0x19 [volmgr]". Nothing is put if there is none, or `function` (NULL: none) is it.
 * Errors are fatal ones.
 */
struct error *wait_put_module_place(struct target *target, const struct task *task,
				    const char *function, struct strbuf *ret) MUST_CHECK;
/*
 * Whether a task has come into one module twice, with the kernel between: what it waits for there,
 * it may have taken the first time. Where the stack is proved. Errors are fatal ones.
 */
struct error *wait_is_nested(struct target *target, const struct task *task, bool *ret) MUST_CHECK;

#endif
