/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The areas of vmalloc's address space, as /proc/vmallocinfo lists them (kernel mm/vmalloc.c). */
#ifndef DEBUGGER_KERNEL_VMALLOC_H
#define DEBUGGER_KERNEL_VMALLOC_H

#include "debugger/target/target.h"

struct vmalloc_area {
	uint64_t start, size; /* bytes, with the guard page behind it */
	uint64_t pages;	      /* that were allocated for it; 0: it maps something else */
	uint64_t caller;      /* address of code, 0 unknown */
	uint64_t flags;
};

/*
 * By ascending address in each of the kernel's trees. Areas that cannot be read are counted in
 * `*ret_lost` and skipped. The visitor returns an error to end the walk.
 */
typedef struct error *vmalloc_visitor(void *context, const struct vmalloc_area *area);
struct error *vmalloc_for_each(struct target *target, vmalloc_visitor *visit, void *context,
			       uint64_t *ret_lost) MUST_CHECK;

#endif
