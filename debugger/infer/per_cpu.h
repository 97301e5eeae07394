/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Per-CPU variables by their offset into the area: BTF types these, and only these. */
#ifndef DEBUGGER_INFER_PER_CPU_H
#define DEBUGGER_INFER_PER_CPU_H

#include "base/error.h"
#include "debugger/infer/lay.h"

struct per_cpu_variable {
	uint64_t offset;
	uint32_t size;
	struct kind type;
};

struct per_cpu {
	struct per_cpu_variable *items; /* by offset */
	size_t count, capacity;
};

/* Those of one level; `start` is the offset that its DATASEC counts from. */
struct error *per_cpu_add(struct per_cpu *per_cpu, const struct levels *levels, uint16_t level,
			  uint64_t start) MUST_CHECK;
void per_cpu_deinit(struct per_cpu *per_cpu);
/* The variable around an offset; false: none. */
bool per_cpu_find(const struct per_cpu *per_cpu, uint64_t offset, struct kind *ret,
		  int64_t *ret_offset);
/* Its offset by name; ~0: none. */
uint64_t per_cpu_offset(const struct levels *levels, const char *name, uint64_t start);

#endif
