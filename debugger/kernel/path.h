/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paths of files, through dentries and mounts (kernel fs/d_path.c). */
#ifndef DEBUGGER_KERNEL_PATH_H
#define DEBUGGER_KERNEL_PATH_H

#include "debugger/target/object.h"

/* As the kernel's own, which writes paths into a page. */
#define PATH_SIZE 4096

/*
 * The path of a dentry on a mount, addresses of a struct vfsmount and a struct dentry, from the
 * root of the mount's namespace: where a task is in a chroot, it sees less. A name that was removed
 * has " (deleted)" behind it. Raw bytes of the dump, as names may be anything but '/' and NUL.
 */
struct error *path_of(struct target *target, uint64_t vfsmount, uint64_t dentry,
		      char buffer[PATH_SIZE]) MUST_CHECK;
/* The same of a struct path at `name` of an object. */
struct error *path_at(const struct object *object, const char *name,
		      char buffer[PATH_SIZE]) MUST_CHECK;
/* The mount and the folder of the last path, for many files of few folders; zeroed at first. */
struct path_folder {
	uint64_t super;		/* address of a super_block whose files have paths; 0: none */
	uint64_t vfsmount;	/* of a struct vfsmount; 0: none */
	struct object mounted;	/* the struct mount of that */
	uint64_t root;		/* and its root, a struct dentry */
	uint64_t mount, dentry; /* of a struct mount, a struct dentry; 0: none */
	char path[PATH_SIZE];	/* "" for the root */
};

/*
 * A struct file's, as /proc/PID/fd has it: "pipe:[123]" and "anon_inode:[eventpoll]" too. `folder`
 * is used and filled; NULL: none.
 */
struct error *path_of_file(const struct object *file, struct path_folder *folder,
			   char buffer[PATH_SIZE]) MUST_CHECK;
/*
 * An error where an inode is not of the superblock in whose list it is: lists that lead into one
 * another end there, or each of them would be walked for each superblock.
 */
struct error *inode_check_super(const struct object *inode, uint64_t super) MUST_CHECK;
/*
 * An inode's by one of its names, from the root of its filesystem: an inode is on no mount, and may
 * have other names. ERROR_NOT_FOUND: it has none in memory.
 */
struct error *path_of_inode(const struct object *inode, char buffer[PATH_SIZE]) MUST_CHECK;
/* The member of struct dentry that links an inode's names; its union has no name since about 7.1.
 */
const char *path_alias_name(const struct object *dentry);
/* The name alone, without folders. */
struct error *path_dentry_name(const struct object *dentry, char *buffer, size_t size) MUST_CHECK;
/* The char array behind a pointer, up to its NUL; "" for NULL. */
struct error *path_pointed_string(const struct object *object, const char *path, char *buffer,
				  size_t size) MUST_CHECK;

#endif
