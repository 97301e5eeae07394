// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/path_lookup.h"

#include "debugger/kernel/open_files.h"
#include "debugger/kernel/path.h"
#include "debugger/kernel/task.h"
#include "debugger/kernel/walk.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME_SIZE  256	/* NAME_MAX and a NUL */
#define MOUNTS_MAX 4096 /* one upon the other at one place */

struct place {
	uint64_t vfsmount, dentry;
};

/* A walk that looks for one thing: `found` is its address, 0 while there is none. */
struct search {
	struct target *target;
	const char *name; /* of a dentry */
	size_t length;	  /* of that name */
	uint64_t dentry;  /* that a mount is upon */
	uint64_t found;
	const char *link;      /* the member that a dentry or a mount is linked by */
	struct error *problem; /* the first one */
};

static struct error *keep_problem(void *context, struct error *problem)
{
	struct search *search = context;
	if (error_is_fatal(problem))
		return problem;
	if (search->problem)
		error_free(problem);
	else
		search->problem = problem;
	return NULL;
}

/* What was found is good whatever else is broken; what was not may be behind what is. */
static struct error *finish(struct search *search)
{
	if (!search->found && search->problem)
		return search->problem;
	error_free(search->problem);
	return NULL;
}

static struct error *match_dentry(void *context, const struct walk_item *item)
{
	struct search *search = context;
	struct object dentry;
	uint64_t hashed, inode;
	char name[NAME_SIZE];
	if (search->found)
		return NULL;
	TRY(object_container(search->target, "struct dentry", search->link, item->address,
			     &dentry));
	struct error *error = path_dentry_name(&dentry, name, sizeof(name));
	if (!error)
		error = object_u64(&dentry, "d_hash.pprev", &hashed);
	if (!error)
		error = object_u64(&dentry, "d_inode", &inode);
	if (error)
		return keep_problem(search, error);
	/* Names that were removed, and those that were asked for in vain, are in the list too. */
	if (hashed && inode && strlen(name) == search->length &&
	    !memcmp(name, search->name, search->length))
		search->found = dentry.address;
	return NULL;
}

/* The entry of a folder; *ret 0: it is not in memory. */
static struct error *find_child(struct target *target, uint64_t dentry, const char *name,
				size_t length, uint64_t *ret)
{
	struct search search = { .target = target, .name = name, .length = length };
	const struct walk walk = {
		.target = target, .visit = match_dentry, .broken = keep_problem, .context = &search
	};
	struct object folder, head;
	TRY(object_at(target, "struct dentry", dentry, &folder));
	/* d_subdirs up to 6.7 (da549bdd15c2). */
	bool is_hashed = object_has(&folder, "d_children");
	search.link = is_hashed ? "d_sib" : "d_child";
	TRY(object_member(&folder, is_hashed ? "d_children" : "d_subdirs", &head));
	struct error *error = is_hashed ? walk_hlist(&walk, head.address, HLIST_PLAIN)
					: walk_list(&walk, head.address, false);
	if (error) {
		error_free(search.problem);
		return error;
	}
	*ret = search.found;
	return finish(&search);
}

static struct error *match_mount(void *context, const struct walk_item *item)
{
	struct search *search = context;
	struct object mount, vfsmount;
	uint64_t upon = 0;
	TRY(object_container(search->target, "struct mount", search->link, item->address, &mount));
	struct error *error = object_u64(&mount, "mnt_mountpoint", &upon);
	if (!error)
		error = object_member(&mount, "mnt", &vfsmount);
	if (error)
		return keep_problem(search, error);
	if (upon == search->dentry && !search->found)
		search->found = vfsmount.address;
	return NULL;
}

/* Goes to the root of what is mounted there, and of what is mounted upon that. */
static struct error *enter_mounts(struct target *target, struct place *place)
{
	for (unsigned int i = 0; i < MOUNTS_MAX; i++) {
		struct search search = { .target = target,
					 .dentry = place->dentry,
					 .link = "mnt_child" };
		const struct walk walk = { .target = target,
					   .visit = match_mount,
					   .broken = keep_problem,
					   .context = &search };
		struct object mount, children, vfsmount;
		TRY(object_container(target, "struct mount", "mnt", place->vfsmount, &mount));
		TRY(object_member(&mount, "mnt_mounts", &children));
		struct error *error = walk_list(&walk, children.address, false);
		if (error) {
			error_free(search.problem);
			return error;
		}
		TRY(finish(&search));
		if (!search.found)
			return NULL;
		place->vfsmount = search.found;
		TRY(object_at(target, "struct vfsmount", search.found, &vfsmount));
		TRY(object_u64(&vfsmount, "mnt_root", &place->dentry));
	}
	return error_create(ERROR_FORMAT, "more than %u mounts upon each other", MOUNTS_MAX);
}

static struct error *find_root(struct target *target, struct place *ret)
{
	struct task task;
	struct object object, fs;
	TRY(task_find(target, 1, &task));
	struct error *error = object_at(target, "struct task_struct", task.address, &object);
	task_deinit(&task);
	if (!error)
		error = object_follow(&object, "fs", &fs);
	if (!error)
		error = object_u64(&fs, "root.mnt", &ret->vfsmount);
	if (!error)
		error = object_u64(&fs, "root.dentry", &ret->dentry);
	return error_prefix(error, "the root of task 1");
}

static struct error *find_named(struct target *target, const char *path, struct object *ret)
{
	struct place place;
	struct object dentry;
	const char *at = path;
	TRY(find_root(target, &place));
	TRY(enter_mounts(target, &place));
	while (*(at += strspn(at, "/"))) {
		size_t length = strcspn(at, "/");
		uint64_t child;
		TRY(find_child(target, place.dentry, at, length, &child));
		at += length;
		if (!child)
			return error_create(ERROR_NOT_FOUND,
					    "the kernel has no name %.*s in memory",
					    (int)(at - path), path);
		place.dentry = child;
		TRY(enter_mounts(target, &place));
	}
	TRY(object_at(target, "struct dentry", place.dentry, &dentry));
	return object_follow(&dentry, "d_inode", ret);
}

/* --- of a process ---------------------------------------------------------------------------- */

struct descriptor {
	uint32_t number;
	uint64_t file;
};

static struct error *match_descriptor(void *context, const struct open_file *file)
{
	struct descriptor *wanted = context;
	if (file->fd == wanted->number)
		wanted->file = file->file;
	return NULL;
}

static struct error *find_opened(struct target *target, uint32_t pid, uint32_t number,
				 struct object *ret)
{
	struct descriptor wanted = { .number = number };
	struct task task;
	struct object file;
	TRY(task_find(target, pid, &task));
	struct error *error = open_files_for_each(target, task.address, match_descriptor, &wanted);
	task_deinit(&task);
	TRY(error);
	if (!wanted.file)
		return error_create(ERROR_NOT_FOUND, "task %u has no file %u open", pid, number);
	TRY(object_at(target, "struct file", wanted.file, &file));
	return object_follow(&file, "f_inode", ret);
}

static struct error *find_program(struct target *target, uint32_t pid, struct object *ret)
{
	struct task task;
	struct object object, mm, file;
	TRY(task_find(target, pid, &task));
	struct error *error = object_at(target, "struct task_struct", task.address, &object);
	task_deinit(&task);
	TRY(error);
	TRY(object_follow(&object, "mm", &mm));
	if (!mm.address)
		return error_create(ERROR_NOT_FOUND, "task %u runs no program", pid);
	TRY(object_follow(&mm, "exe_file", &file));
	if (!file.address)
		return error_create(ERROR_NOT_FOUND, "task %u runs no program", pid);
	return object_follow(&file, "f_inode", ret);
}

struct error *path_lookup(struct target *target, const char *path, struct object *ret)
{
	unsigned int pid, number;
	int end = 0;
	TRY(target_need_memory(target));
	if (sscanf(path, "/proc/%u/fd/%u%n", &pid, &number, &end) == 2 && !path[end])
		return find_opened(target, pid, number, ret);
	end = 0;
	if (sscanf(path, "/proc/%u/exe%n", &pid, &end) == 1 && end && !path[end])
		return find_program(target, pid, ret);
	return find_named(target, path, ret);
}
