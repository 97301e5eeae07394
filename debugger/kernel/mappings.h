/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is mapped into a process's address space (kernel include/linux/mm_types.h). */
#ifndef DEBUGGER_KERNEL_MAPPINGS_H
#define DEBUGGER_KERNEL_MAPPINGS_H

#include "debugger/target/object.h"

/*
 * Visits each struct vm_area_struct of an mm, the address of its struct mm_struct, in the order of
 * addresses. `broken` takes what is wrong with one; the walk goes on. Both return an error to end
 * it.
 */
struct mapping_visitor {
	struct error *(*visit)(void *context, const struct object *vma);
	struct error *(*broken)(void *context, struct error *problem);
	void *context;
};
struct error *mappings_for_each(struct target *target, uint64_t mm,
				const struct mapping_visitor *visitor) MUST_CHECK;

/* The name behind it in /proc/PID/maps: a path, "[heap]", "[stack]", "[vdso]"; "": it has none. */
struct error *mapping_name(const struct object *mm, const struct object *vma, char *buffer,
			   size_t size) MUST_CHECK;

#endif
