// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/cgroup.h"

#include "debugger/target/object.h"
#include <string.h>

#define DEPTH_LIMIT 256
#define NAME_SIZE   256

/* Puts "/name" before what `*at` points to. */
static struct error *prepend(const char *name, const char *buffer, char **at)
{
	size_t length = strlen(name);
	if ((size_t)(*at - buffer) < length + 1)
		return error_create(ERROR_FORMAT, "the path of the cgroup is too long");
	*at -= length;
	memcpy(*at, name, length);
	*--*at = '/';
	return NULL;
}

struct error *cgroup_path(struct target *target, uint64_t cgroup, char *buffer, size_t size)
{
	struct object group, node;
	TRY(object_at(target, "struct cgroup", cgroup, &group));
	TRY(object_follow(&group, "kn", &node));
	/* kernfs_node.parent is called __parent since 741c10b096bc (6.15). */
	const char *parent = object_has(&node, "parent") ? "parent" : "__parent";
	char *at = buffer + size - 1;
	*at = 0;
	for (unsigned int depth = 0; depth < DEPTH_LIMIT; depth++) {
		char name[NAME_SIZE];
		uint64_t above, text;
		size_t length;
		TRY(object_u64(&node, parent, &above));
		if (!above) {
			if (!*at)
				TRY(prepend("", buffer, &at));
			memmove(buffer, at, strlen(at) + 1);
			return NULL;
		}
		TRY(object_u64(&node, "name", &text));
		TRY(memory_read_string(target->memory, text, name, sizeof(name), &length));
		TRY(prepend(name, buffer, &at));
		TRY(object_follow(&node, parent, &node));
	}
	return error_create(ERROR_FORMAT, "more than %d cgroups above one another", DEPTH_LIMIT);
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
