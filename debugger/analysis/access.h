/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the instruction that an exception came upon accesses, computed from its registers. */
#ifndef DEBUGGER_ANALYSIS_ACCESS_H
#define DEBUGGER_ANALYSIS_ACCESS_H

#include "debugger/unwind/unwind.h"

#define ACCESSES_MAX 4

struct access {
	uint64_t address; /* of its first byte */
	uint32_t size;	  /* bytes; 0: not known, or as many as a count says */
	bool is_write;	  /* it writes, and perhaps reads before */
	bool is_stack;	  /* it pushes or pops */
	bool has_base;
	unsigned int base; /* the register that the place starts from, in struct registers */
	uint64_t base_value;
	int64_t displacement; /* what is added to it, an index included */
};

struct accesses {
	/* In the order of the instruction; those whose registers are not known are left out. */
	struct access items[ACCESSES_MAX];
	size_t count;
	bool calls; /* it calls, or jumps to, an address in a register or in memory */
};

/*
 * Of the instruction at the frame's pc, which has not run. `cpu`: whose per-CPU area it means,
 * NULL: not known. Errors: ERROR_NOT_FOUND, its bytes cannot be read or understood.
 */
struct error *accesses_find(struct target *target, const struct cpu *cpu, const struct frame *frame,
			    struct accesses *ret) MUST_CHECK;

#endif
