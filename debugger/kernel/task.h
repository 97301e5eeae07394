/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tasks, by member name (kernel include/linux/sched.h). */
#ifndef DEBUGGER_KERNEL_TASK_H
#define DEBUGGER_KERNEL_TASK_H

#include "debugger/target/object.h"

struct task {
	uint64_t address;
	int32_t pid, tgid, ppid; /* ppid -1: not known */
	uint32_t cpu;
	bool on_cpu;	       /* it is running: some run queue's curr */
	bool is_idle;	       /* a CPU's idle task */
	bool is_partial;       /* pid, comm and state are not in the dump: see problem */
	bool has_mm;	       /* false: a kernel thread */
	uint64_t state;	       /* __state | exit_state, as the kernel has them */
	uint64_t stack;	       /* lowest address of its kernel stack, 0 unknown */
	char state_letter;     /* as in /proc/PID/stat: R S D T t X Z P I */
	char comm[64];	       /* raw bytes of the dump: print through a sink */
	struct error *problem; /* members that could not be read, NULL */
};

/* Reads one task. Only an unreadable task_struct is an error; single members are not. */
struct error *task_read(struct target *target, uint64_t address, struct task *ret) MUST_CHECK;
void task_deinit(struct task *task);

/*
 * Visits all tasks: idle tasks of every CPU first, then every thread of every process in
 * list order. A broken list, or a task that is not whole, is reported through `*ret_problem` (NULL:
 * whole; caller frees) after all that could be reached. The visitor returns an error to end the
 * walk.
 */
typedef struct error *task_visitor(void *context, const struct task *task);
struct error *task_for_each(struct target *target, task_visitor *visit, void *context,
			    struct error **ret_problem) MUST_CHECK;
/* By pid (of the initial namespace; 0 gives CPU 0's idle task) or by address of its task_struct. */
struct error *task_find(struct target *target, uint64_t pid_or_address,
			struct task *ret) MUST_CHECK;
/* The one that runs on a CPU. Partial when its task_struct cannot be read. */
struct error *task_on_cpu(struct target *target, uint32_t cpu, struct task *ret) MUST_CHECK;
/*
 * The panicking task, or CPU 0's current one when nothing panicked; of a running machine the one
 * that we are.
 */
struct error *task_panicking(struct target *target, struct task *ret) MUST_CHECK;
/* The list of tasks is walked anew when next asked for: a running machine has others by then. */
void task_forget(struct target *target);

#endif
