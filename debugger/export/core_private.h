/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a core is made of. Private to core*.c. */
#ifndef DEBUGGER_EXPORT_CORE_PRIVATE_H
#define DEBUGGER_EXPORT_CORE_PRIVATE_H

#include "base/strbuf.h"
#include "debugger/export/core.h"
#include "debugger/kernel/user_space.h"

#define CORE_NOTES_MAX (64u << 20) /* bytes */

/* Pages one behind the other of one mapping, which become a segment. */
struct core_run {
	uint64_t start, size;
	uint32_t flags; /* PF_* */
	bool has_bytes; /* else it is all zeros, and takes no place in the file */
};

struct core {
	struct target *target;
	const struct task *task;
	const struct core_options *options;
	struct user_space *space;
	struct object mm;
	const struct user_mapping *mappings;
	size_t mapping_count;
	uint64_t page_size;
	struct core_run *runs;
	size_t run_count, run_capacity;
	uint64_t run_bytes; /* of those that have some */
	uint64_t steps;	    /* of the search for them */
	struct strbuf notes;
	struct core_summary summary;
};

/* Finds the runs, and what is missing (core_runs.c). */
struct error *core_find_runs(struct core *core) MUST_CHECK;

#define CORE_FPU_SIZE 512u /* bytes of a struct user_fpregs_struct */
#define CORE_AVX_SIZE 832u /* of an XSAVE area, not compacted, with AVX's part as its last */

struct core_fpu {
	size_t size; /* 0: not known; else CORE_FPU_SIZE or, with AVX's registers, CORE_AVX_SIZE */
	uint8_t area[CORE_AVX_SIZE];
};

/*
 * The registers of the FPU, SSE and AVX of a thread that no CPU runs (core_fpu.c), of its
 * task_struct. Only fatal errors.
 */
struct error *core_read_fpu(const struct object *task, struct core_fpu *ret) MUST_CHECK;
/* Writes core->notes (core_notes.c). */
struct error *core_add_notes(struct core *core) MUST_CHECK;

#endif
