// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/path.h"

#include "base/interrupt.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME_SIZE   256	 /* NAME_MAX and a NUL */
#define STEPS_MAX   8192 /* up a path: each takes two bytes of a page at least, or leaves a mount */
#define FSTYPE_SIZE 32
#define DENTRY_SIZE 512 /* or more: then each member is read */

static const char deleted[] = " (deleted)";

struct error *path_pointed_string(const struct object *object, const char *path, char *buffer,
				  size_t size)
{
	uint64_t address;
	size_t length;
	*buffer = 0;
	TRY(object_u64(object, path, &address));
	if (!address)
		return NULL;
	return memory_read_string(object->target->memory, address, buffer, size, &length);
}

struct error *path_dentry_name(const struct object *dentry, char *buffer, size_t size)
{
	uint64_t name, length;
	TRY(object_u64(dentry, "d_name.name", &name));
	TRY(object_u64(dentry, "d_name.len", &length));
	if (length >= size)
		return error_create(ERROR_FORMAT,
				    "the name of dentry 0x%" PRIx64 " has %" PRIu64 " bytes",
				    dentry->address, length);
	TRY(memory_read(dentry->target->memory, name, buffer, length));
	buffer[length] = 0;
	if (strlen(buffer) != length)
		return error_create(ERROR_FORMAT, "the name of dentry 0x%" PRIx64 " has a NUL",
				    dentry->address);
	return NULL;
}

/* Puts "/name" before what `*at` points to. */
static struct error *prepend(const char *name, const char *buffer, char **at)
{
	size_t length = strlen(name);
	if ((size_t)(*at - buffer) < length + 1)
		return error_create(ERROR_FORMAT, "the path is longer than %d bytes", PATH_SIZE);
	*at -= length;
	memcpy(*at, name, length);
	*--*at = '/';
	return NULL;
}

static struct error *is_deleted(const struct object *dentry, bool *ret)
{
	uint64_t hashed, parent;
	TRY(object_u64(dentry, "d_hash.pprev", &hashed));
	*ret = false;
	if (hashed)
		return NULL;
	TRY(object_u64(dentry, "d_parent", &parent));
	*ret = parent != dentry->address;
	return NULL;
}

/* A place on the way up. */
struct step {
	struct object mount, dentry;
	uint64_t root; /* dentry of the mount's, 0: on no mount */
};

static struct error *enter_mount(struct step *step, uint64_t vfsmount)
{
	TRY(object_container(step->dentry.target, "struct mount", "mnt", vfsmount, &step->mount));
	return object_u64(&step->mount, "mnt.mnt_root", &step->root);
}

/* The same where the last path may have been on that mount. */
static struct error *enter_known(struct step *step, uint64_t vfsmount, struct path_folder *folder)
{
	if (folder && vfsmount && folder->vfsmount == vfsmount) {
		step->mount = folder->mounted;
		step->root = folder->root;
		return NULL;
	}
	TRY(enter_mount(step, vfsmount));
	if (folder) {
		folder->vfsmount = vfsmount;
		folder->mounted = step->mount;
		folder->root = step->root;
	}
	return NULL;
}

/* Out of a mount, to where it lies; *ret_top: it lies on nothing. */
static struct error *leave_mount(struct step *step, bool *ret_top)
{
	struct object parent, vfsmount;
	TRY(object_follow(&step->mount, "mnt_parent", &parent));
	*ret_top = parent.address == step->mount.address;
	if (*ret_top)
		return NULL;
	TRY(object_follow(&step->mount, "mnt_mountpoint", &step->dentry));
	TRY(object_member(&parent, "mnt", &vfsmount));
	return enter_mount(step, vfsmount.address);
}

/* The rest of the path is the folder's: whether it is known. */
static bool is_known(const struct path_folder *folder, const struct step *step)
{
	return folder && folder->dentry && folder->dentry == step->dentry.address &&
	       folder->mount == step->mount.address;
}

static struct error *put_folder(const struct path_folder *folder, const char *buffer, char **at)
{
	/* It begins with a slash, where it is not empty. */
	return folder->path[0] ? prepend(folder->path + 1, buffer, at) : NULL;
}

/* `folder` is where the last name lies, once that is known. */
static void keep_folder(struct path_folder *folder, const struct step *place, const char *at,
			const char *end)
{
	if (!folder || !place->dentry.address)
		return;
	folder->mount = place->mount.address;
	folder->dentry = place->dentry.address;
	memcpy(folder->path, at, (size_t)(end - at));
	folder->path[end - at] = 0;
}

static struct error *climb(struct step *step, struct path_folder *folder, const char *buffer,
			   char **at)
{
	char name[NAME_SIZE];
	struct step place = { .root = 0 };
	const char *end = NULL;
	bool is_top = false;
	for (unsigned int i = 0; i < STEPS_MAX; i++) {
		struct object parent;
		TRY(interrupt_check());
		if (end && end == *at && is_known(folder, step))
			return put_folder(folder, buffer, at);
		if (step->root && step->dentry.address == step->root) {
			TRY(leave_mount(step, &is_top));
			if (!is_top)
				continue;
			keep_folder(folder, &place, *at, end);
			return NULL;
		}
		TRY(object_follow(&step->dentry, "d_parent", &parent));
		/* The root of a filesystem, but not of the mount: what was mounted was cut off. */
		if (parent.address == step->dentry.address)
			return NULL;
		TRY(path_dentry_name(&step->dentry, name, sizeof(name)));
		TRY(prepend(name, buffer, at));
		step->dentry = parent;
		if (!end) {
			place = *step;
			end = *at;
		}
	}
	return error_create(ERROR_FORMAT, "the path has more than %d parts", STEPS_MAX);
}

static struct error *path_from(struct step *step, struct path_folder *folder,
			       char buffer[PATH_SIZE])
{
	bool is_gone;
	TRY(is_deleted(&step->dentry, &is_gone));
	char *at = buffer + PATH_SIZE - 1;
	*at = 0;
	if (is_gone) {
		at -= strlen(deleted);
		memcpy(at, deleted, strlen(deleted));
	}
	const char *end = at;
	TRY(climb(step, folder, buffer, &at));
	if (at == end)
		TRY(prepend("", buffer, &at));
	memmove(buffer, at, strlen(at) + 1);
	return NULL;
}

struct error *path_of(struct target *target, uint64_t vfsmount, uint64_t dentry,
		      char buffer[PATH_SIZE])
{
	struct step step = { .root = 0 };
	TRY(object_at(target, "struct dentry", dentry, &step.dentry));
	TRY(enter_mount(&step, vfsmount));
	return path_from(&step, NULL, buffer);
}

const char *path_alias_name(const struct object *dentry)
{
	return object_has(dentry, "d_alias") ? "d_alias" : "d_u.d_alias";
}

struct error *inode_check_super(const struct object *inode, uint64_t super)
{
	uint64_t its;
	TRY(error_prefix(object_u64(inode, "i_sb", &its), "inode 0x%" PRIx64, inode->address));
	return its == super ? NULL
			    : error_create(ERROR_FORMAT,
					   "inode 0x%" PRIx64
					   " is in the list of the superblock 0x%" PRIx64
					   ", and not of it",
					   inode->address, super);
}

struct error *path_of_inode(const struct object *inode, char buffer[PATH_SIZE])
{
	struct step step = { .root = 0 };
	uint64_t alias;
	TRY(object_u64(inode, "i_dentry.first", &alias));
	if (!alias)
		return error_create(ERROR_NOT_FOUND, "the inode has no name in memory");
	TRY(object_at(inode->target, "struct dentry", 0, &step.dentry));
	TRY(object_container(inode->target, "struct dentry", path_alias_name(&step.dentry), alias,
			     &step.dentry));
	return path_from(&step, NULL, buffer);
}

struct error *path_at(const struct object *object, const char *name, char buffer[PATH_SIZE])
{
	struct object path;
	uint64_t vfsmount, dentry;
	TRY(object_member(object, name, &path));
	TRY(object_u64(&path, "mnt", &vfsmount));
	TRY(object_u64(&path, "dentry", &dentry));
	return path_of(object->target, vfsmount, dentry, buffer);
}

/* --- files that have no path ----------------------------------------------------------------- */

static struct error *inode_number(const struct object *dentry, uint64_t *ret)
{
	struct object inode;
	TRY(object_follow(dentry, "d_inode", &inode));
	return object_u64(&inode, "i_ino", ret);
}

/* "net:[4026531840]": the word is in the namespace's operations. */
static struct error *namespace_name(const struct object *dentry, char buffer[PATH_SIZE])
{
	struct object operations;
	uint64_t number, at;
	char word[NAME_SIZE];
	TRY(inode_number(dentry, &number));
	TRY(object_u64(dentry, "d_fsdata", &at));
	TRY(object_at(dentry->target, "struct proc_ns_operations", at, &operations));
	TRY(path_pointed_string(&operations, "name", word, sizeof(word)));
	snprintf(buffer, PATH_SIZE, "%s:[%" PRIu64 "]", word, number);
	return NULL;
}

/* *ret_done false: the file has a path. */
static struct error *pseudo_name(const struct object *dentry, struct path_folder *folder,
				 char buffer[PATH_SIZE], bool *ret_done)
{
	struct object super, kind;
	char type[FSTYPE_SIZE], name[NAME_SIZE];
	uint64_t number;
	TRY(object_follow(dentry, "d_sb", &super));
	*ret_done = false;
	if (folder && folder->super && folder->super == super.address)
		return NULL;
	TRY(object_follow(&super, "s_type", &kind));
	TRY(path_pointed_string(&kind, "name", type, sizeof(type)));
	bool is_pipe = !strcmp(type, "pipefs"), is_socket = !strcmp(type, "sockfs");
	*ret_done = true;
	if (is_pipe || is_socket) {
		TRY(inode_number(dentry, &number));
		snprintf(buffer, PATH_SIZE, "%s:[%" PRIu64 "]", is_pipe ? "pipe" : "socket",
			 number);
		return NULL;
	}
	if (!strcmp(type, "nsfs"))
		return namespace_name(dentry, buffer);
	*ret_done = !strcmp(type, "anon_inodefs");
	if (!*ret_done) {
		if (folder)
			folder->super = super.address;
		return NULL;
	}
	TRY(path_dentry_name(dentry, name, sizeof(name)));
	snprintf(buffer, PATH_SIZE, "anon_inode:%s", name);
	return NULL;
}

/* A file of a mount that nobody sees (memfd, SysV memory), which is its own root there. */
static struct error *hidden_name(const struct object *dentry, uint64_t root, char buffer[PATH_SIZE],
				 bool *ret_done)
{
	uint64_t parent;
	char name[NAME_SIZE];
	TRY(object_u64(dentry, "d_parent", &parent));
	*ret_done = parent == dentry->address && root != dentry->address;
	if (!*ret_done)
		return NULL;
	TRY(path_dentry_name(dentry, name, sizeof(name)));
	snprintf(buffer, PATH_SIZE, "/%s%s", name, deleted);
	return NULL;
}

struct error *path_of_file(const struct object *file, struct path_folder *folder,
			   char buffer[PATH_SIZE])
{
	struct step step = { .root = 0 };
	uint8_t bytes[DENTRY_SIZE];
	uint64_t vfsmount;
	bool is_done;
	TRY(object_follow(file, "f_path.dentry", &step.dentry));
	object_load(&step.dentry, bytes, sizeof(bytes));
	TRY(pseudo_name(&step.dentry, folder, buffer, &is_done));
	if (is_done)
		return NULL;
	TRY(object_u64(file, "f_path.mnt", &vfsmount));
	TRY(enter_known(&step, vfsmount, folder));
	TRY(hidden_name(&step.dentry, step.root, buffer, &is_done));
	return is_done ? NULL : path_from(&step, folder, buffer);
}
