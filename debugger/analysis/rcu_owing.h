/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who holds an RCU grace period up: CPUs that owe it a quiescent state, and tasks that were taken
 * off their CPU, or went to sleep, while they read (kernel kernel/rcu/tree.h).
 */
#ifndef DEBUGGER_ANALYSIS_RCU_OWING_H
#define DEBUGGER_ANALYSIS_RCU_OWING_H

#include "debugger/target/target.h"

struct rcu_owing {
	size_t count;	/* of such CPUs */
	uint32_t first; /* the lowest one, if there are any */
	size_t task_count;
	uint64_t task;	   /* the task_struct of the one that reads for longest; 0: none */
	uint64_t began_ns; /* how long ago the grace period began; 0: not known */
};

/* Errors: RCU's tree cannot be read. */
struct error *rcu_owing_find(struct target *target, struct rcu_owing *ret) MUST_CHECK;

#endif
