/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which tasks a command is about: foreach and stacks ask for them in the same words. */
#ifndef DEBUGGER_COMMAND_TASK_FILTER_H
#define DEBUGGER_COMMAND_TASK_FILTER_H

#include "debugger/command/command.h"
#include "debugger/kernel/task.h"

struct task_filter {
	struct target *target;
	bool kernel, user;	  /* only these; neither: both */
	bool active, leader;	  /* only what ran on a CPU; only what leads its threads */
	const char *states;	  /* letters, NULL: any */
	uint64_t mm;		  /* address of an mm_struct, 0: any */
	const char *cgroup;	  /* path, its children too; NULL: any */
	const char *const *names; /* pids, addresses, names with * and ? */
	size_t name_count;
	bool *found; /* by name */
};

/* The first options of a command that filters tasks, in this order. */
enum { FILTER_KERNEL, FILTER_USER, FILTER_STATE, FILTER_MM, FILTER_CGROUP, FILTER_OPTIONS };
#define TASK_FILTER_OPTIONS                                                                        \
	[FILTER_KERNEL] = { 'k', "kernel", NULL, 0, "kernel threads only" },                       \
	[FILTER_USER] = { 'u', "user", NULL, 0, "user tasks only" },                               \
	[FILTER_STATE] = { 's', "state", "LETTERS", OPERAND_WORD,                                  \
			   "only tasks in one of these states" },                                  \
	[FILTER_MM] = { 0, "mm", "ADDRESS", OPERAND_ADDRESS, "only tasks with this mm_struct" },   \
	[FILTER_CGROUP] = { 0, "cgroup", "PATH", OPERAND_WORD,                                     \
			    "only tasks in this cgroup or below it" }

/* Takes the options above; `names`: operands, borrowed. Deinit in any case. */
struct error *task_filter_init(struct task_filter *filter, struct session *session,
			       const struct arguments *arguments, const char *const *names,
			       size_t name_count) MUST_CHECK;
void task_filter_deinit(struct task_filter *filter);
bool task_filter_wants(struct task_filter *filter, const struct task *task);
/* ERROR_NOT_FOUND: no task is called by one of the names. */
struct error *task_filter_check(const struct task_filter *filter) MUST_CHECK;

#endif
