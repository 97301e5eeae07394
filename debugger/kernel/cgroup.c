// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/cgroup.h"

#include "debugger/kernel/kernfs.h"

struct error *cgroup_path(struct target *target, uint64_t cgroup, char *buffer, size_t size)
{
	struct object group, node;
	TRY(object_at(target, "struct cgroup", cgroup, &group));
	TRY(object_follow(&group, "kn", &node));
	return error_prefix(kernfs_path(&node, buffer, size), "the cgroup's directory");
}

struct error *task_cgroup(struct target *target, uint64_t task, char *buffer, size_t size)
{
	struct object object, set;
	uint64_t group;
	TRY(object_at(target, "struct task_struct", task, &object));
	TRY(object_follow(&object, "cgroups", &set));
	TRY(object_u64(&set, "dfl_cgrp", &group));
	return cgroup_path(target, group, buffer, size);
}
