/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernel stacks a CPU can be on: bounds and names. KERNEL-FORMATS section 5.7. */
#ifndef DEBUGGER_UNWIND_STACKS_H
#define DEBUGGER_UNWIND_STACKS_H

#include "debugger/unwind/unwind.h"

struct stack_bounds {
	enum stack_kind kind;
	char name[16];	     /* "" for a task's, "IRQ", "NMI", "#DF", ... */
	uint64_t start, end; /* [start, end); start 0: unknown */
};

#define STACKS_MAX 16

/* The stacks of one task and of one CPU. */
struct stacks {
	struct target *target;
	const struct cpu *cpu; /* NULL: a sleeping task, which is on its own stack */
	bool cpu_loaded;
	size_t count;
	struct stack_bounds bounds[STACKS_MAX];
};

/* Either may be NULL. */
void stacks_init(struct stacks *stacks, struct target *target, const struct task *task,
		 const struct cpu *cpu);
/* Those of the CPU as well, which are else looked for when they are needed. */
void stacks_load(struct stacks *stacks);
/* The one that `sp` points into or just past; NULL: none that is known. */
const struct stack_bounds *stacks_find(struct stacks *stacks, uint64_t sp);

#endif
