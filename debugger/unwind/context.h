/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a CPU without registers was in, by the counters that the kernel keeps of it (kernel
 * include/linux/preempt.h, arch/x86/include/asm/{irq_stack,preempt}.h). They are memory like any
 * other, and right at the moment of the dump: where they say no, a stack was not in use.
 */
#ifndef DEBUGGER_UNWIND_CONTEXT_H
#define DEBUGGER_UNWIND_CONTEXT_H

#include "debugger/target/target.h"

struct cpu_context {
	bool has_count;	      /* preempt_count could be read */
	uint32_t count;	      /* without NEED_RESCHED; not 0: not in user mode */
	bool may_be_nmi;      /* in an NMI or another exception with a stack of its own */
	bool may_be_irq;      /* on the CPU's IRQ stack */
	uint64_t interrupted; /* the pt_regs of the interrupt that is being served; 0: none */
};

void cpu_context_read(struct target *target, const struct cpu *cpu, struct cpu_context *ret);

#endif
