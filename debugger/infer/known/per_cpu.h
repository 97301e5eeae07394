/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Per-CPU variables by their offset into the area: BTF types these, and only these, since 5.11. In
 * an older kernel's BTF they are untyped as all globals are. There the copy that the first CPU has
 * stands for the variable: it is at a place of its own, so what is asked of it and found out about
 * it is what is asked and found of any global.
 */
#ifndef DEBUGGER_INFER_KNOWN_PER_CPU_H
#define DEBUGGER_INFER_KNOWN_PER_CPU_H

#include "base/error.h"
#include "debugger/code/lay.h"
#include "debugger/target/target.h"

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

/* Copies of variables that BTF leaves untyped; all 0: there are none. */
struct per_cpu_copies {
	uint64_t base;	      /* a copy's place is the symbol's address plus this */
	uint64_t first, last; /* places: [first, last) */
};
/* Of the kernel, and of modules if they are loaded by now. False: BTF types them. */
bool per_cpu_untyped(struct target *target, struct per_cpu_copies *ret);
/*
 * The variables that BTF types, with what is declared of them; their addresses are offsets into
 * each CPU's area. None where BTF does not: then they are among what is inferred. Modules' are
 * visited if those are loaded by now. Ends at the first error, which is returned.
 */
typedef struct error *(*per_cpu_visitor)(void *context, const struct symbol *symbol,
					 struct type type, enum type_origin origin);
struct error *per_cpu_visit(struct target *target, per_cpu_visitor visit, void *context) MUST_CHECK;

#endif
