/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which struct mem_cgroup is of which struct cgroup. A cgroup that was removed does not lead to its
 * own any more, which lives on while pages are charged to it (kernel/cgroup/cgroup.c,
 * offline_css()): it is below the one of the cgroup above, and leads back.
 */
#ifndef DEBUGGER_KERNEL_MEMORY_CGROUP_MAP_H
#define DEBUGGER_KERNEL_MEMORY_CGROUP_MAP_H

#include "debugger/target/target.h"

struct memory_cgroup_map {
	struct memory_cgroup_pair {
		uint64_t cgroup, state; /* addresses; `state`: its struct cgroup_subsys_state */
	} * items;			/* by cgroup */
	size_t count, capacity;
};

/*
 * `root`: the struct cgroup_subsys_state of a hierarchy's root. Fills a map that is all zeros, as
 * far as it can be read, out of the target's budget. Errors: fatal ones, and that there are more
 * than a kernel has.
 */
struct error *memory_cgroup_map_load(struct target *target, uint64_t root,
				     struct memory_cgroup_map *ret) MUST_CHECK;
/* 0: none is known. */
uint64_t memory_cgroup_map_find(const struct memory_cgroup_map *map, uint64_t cgroup);
void memory_cgroup_map_deinit(struct target *target, struct memory_cgroup_map *map);

#endif
