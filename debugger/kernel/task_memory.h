/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much memory a process has, from its mm_struct (kernel include/linux/mm_types.h). */
#ifndef DEBUGGER_KERNEL_TASK_MEMORY_H
#define DEBUGGER_KERNEL_TASK_MEMORY_H

#include "debugger/target/target.h"

struct task_memory {
	uint64_t mm;				/* address of its mm_struct, 0: it has none */
	uint64_t file, anonymous, shared, swap; /* pages */
};

/*
 * With what CPUs keep to themselves (since 6.2, f1a7941243c1), or what threads did before; of a
 * running machine up to 64 pages of each such thread are missing. Errors: a member or a page is
 * missing.
 */
struct error *task_memory_read(struct target *target, uint64_t task,
			       struct task_memory *ret) MUST_CHECK;

#endif
