/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef DEBUGGER_KERNEL_CGROUP_H
#define DEBUGGER_KERNEL_CGROUP_H

#include "debugger/target/target.h"

/*
 * The path of a task's cgroup in the unified hierarchy, as /proc/PID/cgroup has it behind "0::":
 * task_struct.cgroups->dfl_cgrp->kn and the parents of that (kernel include/linux/kernfs.h). Raw
 * bytes of the dump. Errors: a member or a page is missing, or the path does not fit.
 */
struct error *task_cgroup(struct target *target, uint64_t task, char *buffer,
			  size_t size) MUST_CHECK;
/* The same of a struct cgroup at an address, of any hierarchy. */
struct error *cgroup_path(struct target *target, uint64_t cgroup, char *buffer,
			  size_t size) MUST_CHECK;

#endif
