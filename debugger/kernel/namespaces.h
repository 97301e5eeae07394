/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The namespaces that tasks are in. */
#ifndef DEBUGGER_KERNEL_NAMESPACES_H
#define DEBUGGER_KERNEL_NAMESPACES_H

#include "debugger/kernel/task.h"

enum namespace_kind {
	NAMESPACE_MOUNT,
	NAMESPACE_UTS,
	NAMESPACE_IPC,
	NAMESPACE_PID,
	NAMESPACE_USER,
	NAMESPACE_NET,
	NAMESPACE_CGROUP,
	NAMESPACE_TIME,
	NAMESPACE_KINDS
};
/* As in /proc/PID/ns: "mnt", "uts", ... */
const char *namespace_kind_name(enum namespace_kind kind);
/* Of its struct: "struct mnt_namespace". */
const char *namespace_type_name(enum namespace_kind kind);

struct namespace_use {
	uint64_t address;
	enum namespace_kind kind;
	uint32_t tasks; /* threads that are in it */
	int32_t pid;	/* of the first */
	size_t order;	/* in which they were met */
};

struct namespaces {
	struct namespace_use *items; /* by kind, then in the order of tasks */
	size_t count;
};

/*
 * Those of the kinds in a bit mask. *ret_problem: the first thing that was broken on the way; NULL:
 * nothing. Caller frees it and `ret->items`.
 */
struct error *namespaces_read(struct target *target, uint32_t kinds, struct namespaces *ret,
			      struct error **ret_problem) MUST_CHECK;

#endif
