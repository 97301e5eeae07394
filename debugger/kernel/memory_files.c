// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/memory_files.h"

#include "debugger/kernel/path.h"
#include "debugger/kernel/walk.h"
#include "debugger/target/object.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TMPFS_MAGIC 0x01021994u /* kernel include/uapi/linux/magic.h */

struct search {
	struct target *target;
	struct memory_files *found;
	uint64_t super;			 /* whose inodes are looked at */
	uint64_t super_node, inode_node; /* offsets of the nodes of their lists */
};

static struct error *pass_over(void *context, struct error *problem)
{
	(void)context;
	return error_only_fatal(problem);
}

static void add(struct memory_files *found, uint64_t inode, uint64_t pages)
{
	size_t at = 0;
	while (at < found->count && found->items[at].pages >= pages)
		at++;
	if (at == MEMORY_FILES_TOP)
		return;
	size_t kept = found->count < MEMORY_FILES_TOP ? found->count : MEMORY_FILES_TOP - 1;
	memmove(&found->items[at + 1], &found->items[at], (kept - at) * sizeof(*found->items));
	found->items[at] = (struct memory_file){ .inode = inode, .pages = pages };
	found->count = kept + 1;
}

static struct error *look_at_inode(void *context, const struct walk_item *item)
{
	struct search *search = context;
	struct object inode;
	uint64_t pages;
	TRY(object_at(search->target, "struct inode", item->address - search->inode_node, &inode));
	TRY(inode_check_super(&inode, search->super));
	struct error *error = object_u64(&inode, "i_data.nrpages", &pages);
	if (error)
		return error_only_fatal(error);
	if (!pages)
		return NULL;
	search->found->files++;
	search->found->pages += pages;
	add(search->found, inode.address, pages);
	return NULL;
}

static struct error *look_at_super(void *context, const struct walk_item *item)
{
	struct search *search = context;
	struct object super, list;
	uint64_t magic;
	const struct walk walk = { .target = search->target,
				   .visit = look_at_inode,
				   .broken = pass_over,
				   .context = search };
	TRY(object_at(search->target, "struct super_block", item->address - search->super_node,
		      &super));
	struct error *error = object_u64(&super, "s_magic", &magic);
	if (error)
		return error_only_fatal(error);
	if (magic != TMPFS_MAGIC)
		return NULL;
	TRY(object_member(&super, "s_inodes", &list));
	search->super = super.address;
	return error_only_fatal(walk_list(&walk, list.address, false));
}

/* At address 0: there is none.  From 6.18 on each leads to the next one of the filesystem. */
static struct error *first_mount(const struct object *super, struct object *ret)
{
	struct object list;
	uint64_t node;
	TRY(object_member(super, "s_mounts", &list));
	if (!object_has(&list, "next"))
		return object_follow(super, "s_mounts", ret);
	TRY(object_u64(&list, "next", &node));
	if (node == list.address)
		return object_at(super->target, "struct mount", 0, ret);
	return object_container(super->target, "struct mount", "mnt_instance", node, ret);
}

/* Where the filesystem is mounted first; "": nowhere that has a name. */
static struct error *find_mount(const struct object *inode, char path[PATH_SIZE])
{
	struct object super, mount, vfsmount;
	uint64_t root;
	*path = 0;
	TRY(object_follow(inode, "i_sb", &super));
	TRY(first_mount(&super, &mount));
	if (!mount.address)
		return NULL;
	TRY(object_member(&mount, "mnt", &vfsmount));
	TRY(object_u64(&super, "s_root", &root));
	return path_of(inode->target, vfsmount.address, root, path);
}

static struct error *name_file(struct target *target, struct memory_file *file)
{
	struct object inode;
	char *path = malloc(2 * PATH_SIZE);
	if (!path)
		return error_no_memory();
	char *mount = path + PATH_SIZE;
	*path = *mount = 0;
	struct error *error = object_at(target, "struct inode", file->inode, &inode);
	if (!error)
		error = error_only_fatal(find_mount(&inode, mount));
	if (!error)
		error = error_only_fatal(path_of_inode(&inode, path));
	/* The root's own name is all that stands before the file's. */
	if (!error && *path)
		snprintf(file->name, sizeof(file->name), "%s%s", strcmp(mount, "/") ? mount : "",
			 path);
	free(path);
	return error;
}

struct error *memory_files_read(struct target *target, struct memory_files *ret)
{
	struct object head;
	struct search search = { .target = target, .found = ret };
	const struct walk walk = {
		.target = target, .visit = look_at_super, .broken = pass_over, .context = &search
	};
	*ret = (struct memory_files){ .count = 0 };
	TRY(object_offset(target, "struct super_block", "s_list", &search.super_node));
	TRY(object_offset(target, "struct inode", "i_sb_list", &search.inode_node));
	TRY(object_variable(target, "super_blocks", "struct list_head", &head));
	TRY(walk_list(&walk, head.address, false));
	for (size_t i = 0; i < ret->count; i++)
		TRY(name_file(target, &ret->items[i]));
	return NULL;
}
