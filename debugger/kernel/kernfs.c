// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/kernfs.h"

#include <inttypes.h>
#include <string.h>

/* Of struct kernfs_node.flags (enum kernfs_node_type). */
#define KERNFS_DIRECTORY 1u

#define DEPTH_LIMIT 256
#define NAME_SIZE   256

/* Puts "/name" before what `*at` points to. */
static struct error *prepend(const char *name, const char *buffer, char **at)
{
	size_t length = strlen(name);
	if ((size_t)(*at - buffer) < length + 1)
		return error_create(ERROR_FORMAT, "the path is too long");
	*at -= length;
	memcpy(*at, name, length);
	*--*at = '/';
	return NULL;
}

/*
 * Counts the nodes from this directory up to its root, which is not counted.  Each directory of
 * kernfs names the root that it hangs under, and all of a path name the same one: memory that holds
 * no nodes is told by that at its first step, and not at its 256th, for each of 100,000 tasks.
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
			return error_create(
				ERROR_FORMAT,
				"the directory is under another root than the one above "
				"it, at 0x%" PRIx64,
				above);
	}
	return error_create(ERROR_FORMAT, "more than %d directories above one another",
			    DEPTH_LIMIT);
}

static struct error *prepend_name(const struct object *node, const char *buffer, char **at)
{
	char name[NAME_SIZE];
	uint64_t text;
	size_t length;
	TRY(object_u64(node, "name", &text));
	TRY(memory_read_string(node->target->memory, text, name, sizeof(name), &length));
	return prepend(name, buffer, at);
}

struct error *kernfs_path(const struct object *of, char *buffer, size_t size)
{
	struct object node = *of;
	unsigned int depth;
	uint64_t flags;
	/* kernfs_node.parent is called __parent since 741c10b096bc (6.15). */
	const char *parent = object_has(&node, "parent") ? "parent" : "__parent";
	char *at = buffer + size - 1;
	*at = 0;
	TRY(object_u64(&node, "flags", &flags));
	bool is_file = !(flags & KERNFS_DIRECTORY);
	if (is_file) {
		TRY(prepend_name(&node, buffer, &at));
		TRY(object_follow(&node, parent, &node));
	}
	TRY(count_above(&node, parent, &depth));
	if (!depth && !is_file)
		TRY(prepend("", buffer, &at));
	while (depth--) {
		TRY(prepend_name(&node, buffer, &at));
		TRY(object_follow(&node, parent, &node));
	}
	memmove(buffer, at, strlen(at) + 1);
	return NULL;
}
