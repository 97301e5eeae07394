// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/cgroup.h"

#include "debugger/target/object.h"
#include <inttypes.h>
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

/*
 * Counts the nodes from this one up to its root, which is not counted.  Each directory of kernfs
 * names the root that it hangs under, and all of a path name the same one: memory that holds no
 * nodes is told by that at its first step, and not at its 256th, for each of 100,000 tasks.
 */
static struct error *count_above(const struct object *from, const char *parent, unsigned int *ret)
{
	struct object node = *from;
	uint64_t root, above, of_above;
	TRY(object_u64(&node, "dir.root", &root));
	for (*ret = 0; *ret < DEPTH_LIMIT; (*ret)++) {
		TRY(object_u64(&node, parent, &above));
		if (!above)
			return NULL;
		TRY(object_follow(&node, parent, &node));
		TRY(object_u64(&node, "dir.root", &of_above));
		if (of_above != root)
			return error_create(ERROR_FORMAT,
					    "the cgroup's directory is under another root than the "
					    "one above it, at 0x%" PRIx64,
					    above);
	}
	return error_create(ERROR_FORMAT, "more than %d cgroups above one another", DEPTH_LIMIT);
}

struct error *cgroup_path(struct target *target, uint64_t cgroup, char *buffer, size_t size)
{
	struct object group, node;
	unsigned int depth;
	TRY(object_at(target, "struct cgroup", cgroup, &group));
	TRY(object_follow(&group, "kn", &node));
	/* kernfs_node.parent is called __parent since 741c10b096bc (6.15). */
	const char *parent = object_has(&node, "parent") ? "parent" : "__parent";
	TRY(count_above(&node, parent, &depth));
	char *at = buffer + size - 1;
	*at = 0;
	if (!depth)
		TRY(prepend("", buffer, &at));
	while (depth--) {
		char name[NAME_SIZE];
		uint64_t text;
		size_t length;
		TRY(object_u64(&node, "name", &text));
		TRY(memory_read_string(target->memory, text, name, sizeof(name), &length));
		TRY(prepend(name, buffer, &at));
		TRY(object_follow(&node, parent, &node));
	}
	memmove(buffer, at, strlen(at) + 1);
	return NULL;
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
