/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory cgroups: limit, usage and what is in it, by kind (kernel mm/memcontrol.c). */
#ifndef DEBUGGER_KERNEL_MEMORY_CGROUP_H
#define DEBUGGER_KERNEL_MEMORY_CGROUP_H

#include "debugger/target/object.h"
#include "debugger/target/target.h"

#define CGROUP_PATH_SIZE 1024

enum memory_cgroup_kind {
	CGROUP_ANONYMOUS,
	CGROUP_FILE,   /* without what is shared */
	CGROUP_SHARED, /* tmpfs, shared memory */
	CGROUP_RECLAIMABLE,
	CGROUP_SLAB,
	CGROUP_TABLES,
	CGROUP_STACKS,
	CGROUP_VMALLOC,
	CGROUP_PER_CPU,
	CGROUP_SOCKETS,
	CGROUP_KINDS
};
/* "anonymous memory", "sockets". */
const char *memory_cgroup_kind_name(enum memory_cgroup_kind kind);

struct memory_cgroup {
	uint64_t address;	     /* of its struct mem_cgroup */
	char path[CGROUP_PATH_SIZE]; /* in its hierarchy; raw bytes of the dump, "" unknown */
	uint64_t usage;		     /* bytes, with all below it */
	uint64_t limit;		     /* bytes, memory.max; UINT64_MAX: none */
	uint64_t failures;	     /* how often the limit was hit */
	bool has_kinds;
	/* Bytes, as the kernel last summed them up, which it does before it gives in to a limit. */
	uint64_t kinds[CGROUP_KINDS];
};

/*
 * How often a struct mem_cgroup hit its limit: memory.failcnt, or, where the kernel does not count
 * that, "max" of memory.events.local.
 */
struct error *memory_cgroup_failures(struct target *target, const struct object *group,
				     uint64_t *ret) MUST_CHECK;
/* Errors: what the dump lacks. */
struct error *memory_cgroup_read(struct target *target, uint64_t address,
				 struct memory_cgroup *ret) MUST_CHECK;
/* The struct mem_cgroup that a task is in; 0: none. */
struct error *task_memory_cgroup(struct target *target, uint64_t task, uint64_t *ret) MUST_CHECK;
/* One is the other, or below it. */
struct error *memory_cgroup_is_below(struct target *target, uint64_t address, uint64_t above,
				     bool *ret) MUST_CHECK;

#endif
