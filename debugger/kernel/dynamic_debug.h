/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pr_debug() and its like: the kernel keeps of each one the function that it is written in, its
 * file and its line, and a branch that leads to it (kernel include/linux/dynamic_debug.h,
 * include/linux/jump_label.h).
 */
#ifndef DEBUGGER_KERNEL_DYNAMIC_DEBUG_H
#define DEBUGGER_KERNEL_DYNAMIC_DEBUG_H

#include "debugger/target/object.h"

struct debug_site {
	uint64_t descriptor; /* struct _ddebug */
	uint64_t address;    /* the branch in front of it; one message has several where the
			      * compiler copied its function */
	uint64_t line;
	char function[128]; /* that it is written in, which may be inlined into another one */
	char file[256];	    /* as it was compiled */
};

typedef struct error *debug_site_visitor(void *context, const struct debug_site *site);
/*
 * All of the kernel and its modules, those of freed init code too. What cannot be read, and what is
 * beyond a million, is left out. Errors: the visitor's, Ctrl-C, and ERROR_NOT_FOUND: this kernel
 * has none, or no branches.
 */
struct error *debug_site_each(struct target *target, debug_site_visitor *visit,
			      void *context) MUST_CHECK;

#endif
