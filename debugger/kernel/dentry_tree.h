/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The names that the kernel has in memory, from the root of a filesystem on (kernel fs/dcache.c).
 */
#ifndef DEBUGGER_KERNEL_DENTRY_TREE_H
#define DEBUGGER_KERNEL_DENTRY_TREE_H

#include "debugger/kernel/path.h"

struct dentry_visitor {
	struct error *(*visit)(void *context, const struct object *dentry);
	/* Something is broken here; takes `problem`. */
	struct error *(*broken)(void *context, struct error *problem);
	void *context;
};

/*
 * Each struct dentry of a struct super_block that its root leads to, a folder before what is in it.
 * Errors: of `visit` and `broken`, and what is missing of the superblock.
 */
struct error *dentry_tree_for_each(const struct object *super,
				   const struct dentry_visitor *visitor) MUST_CHECK;

/*
 * "/a/b", from the filesystem's root on; *ret is in `buffer`. What is too deep lacks its beginning.
 * `folder`: path.h, of dentries alone; NULL: none.
 */
struct error *dentry_path(struct object dentry, struct path_folder *folder, char buffer[PATH_SIZE],
			  const char **ret) MUST_CHECK;

#endif
