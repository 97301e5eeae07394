/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sets of CPUs as text: "0-3,8" (kernel include/linux/cpumask.h). */
#ifndef DEBUGGER_KERNEL_CPU_LIST_H
#define DEBUGGER_KERNEL_CPU_LIST_H

#include "debugger/target/object.h"

/*
 * The possible CPUs that are in the cpumask_var_t at `path`, which is a mask or a pointer to one;
 * "" for none, and for a mask that was never allocated.
 */
struct error *cpu_list_text(const struct object *object, const char *path, char *buffer,
			    size_t size) MUST_CHECK;

#endif
