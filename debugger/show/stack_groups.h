/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Equal stacks of all tasks, counted: what thousands of tasks are waiting for, at a glance. */
#ifndef DEBUGGER_SHOW_STACK_GROUPS_H
#define DEBUGGER_SHOW_STACK_GROUPS_H

#include "debugger/kernel/task.h"
#include "debugger/session.h"

/* Which tasks and stacks; of all zeros, all. */
struct stack_selection {
	const char *function, *module; /* patterns: somewhere on the stack; NULL: any */
	const char *waits;	       /* a pattern: what the task waits in; NULL: anything */
	bool (*wants)(void *context, const struct task *task); /* NULL: all tasks */
	void *context;
};

/*
 * Writes an array of groups; as rows, one a frame. A broken list of tasks, and Ctrl-C, are told
 * after what was found.
 */
struct error *stack_groups_write(struct session *session,
				 const struct stack_selection *selection) MUST_CHECK;

#endif
