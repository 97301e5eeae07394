// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/dentry_tree.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/kernel/walk.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 256
#define NAME_SIZE 256
/* So many names in lists of folders that are not theirs are told one by one: behind that, the first
 * one ends its list, for lists that lead into one another are walked for each of them. */
#define STRANGERS_MAX 1000

/* Folders whose names are still to be visited wait in `todo`: the deepest that was found comes
 * next. */
struct pass {
	struct target *target;
	const struct dentry_visitor *visitor;
	const char *head; /* member of a folder: the list of what is in it */
	uint64_t link;	  /* offset of what links that */
	bool is_hlist;	  /* since 6.8 */
	uint64_t super, parent;
	uint64_t *todo;
	size_t count, capacity;
	unsigned int strangers;
};

static struct error *broken(void *context, struct error *problem)
{
	const struct pass *pass = context;
	return pass->visitor->broken(pass->visitor->context, problem);
}

/*
 * A name is in one folder, which it knows, and in none that is itself, as only a root says: so each
 * is visited once, whatever lists say.
 */
static struct error *check_parent(const struct pass *pass, const struct object *dentry)
{
	uint64_t parent, super;
	TRY(object_u64(dentry, "d_parent", &parent));
	TRY(object_u64(dentry, "d_sb", &super));
	if (dentry->address == pass->parent)
		return error_create(ERROR_FORMAT, "dentry 0x%" PRIx64 " is in its own list",
				    dentry->address);
	if (parent != pass->parent || super != pass->super)
		return error_create(ERROR_FORMAT, "dentry 0x%" PRIx64 " does not link back",
				    dentry->address);
	return NULL;
}

static struct error *check_root(const struct pass *pass, const struct object *root)
{
	uint64_t super, parent;
	TRY(object_u64(root, "d_sb", &super));
	TRY(object_u64(root, "d_parent", &parent));
	return super == pass->super && parent == root->address
		       ? NULL
		       : error_create(ERROR_FORMAT,
				      "dentry 0x%" PRIx64 " is not the root of its filesystem",
				      root->address);
}

static struct error *add_child(void *context, const struct walk_item *item)
{
	struct pass *pass = context;
	struct object dentry;
	uint64_t name;
	TRY(object_at(pass->target, "struct dentry", item->address - pass->link, &dentry));
	/* A mark of who reads the folder stands among them, without a name (DCACHE_DENTRY_CURSOR).
	 */
	TRY(object_u64(&dentry, "d_name.len", &name));
	struct error *error = check_parent(pass, &dentry);
	if (error && (error_is_fatal(error) || pass->strangers++ >= STRANGERS_MAX))
		return error;
	if (error)
		return broken(pass, error);
	if (!name)
		return NULL;
	if (!array_reserve(&pass->todo, &pass->capacity, pass->count + 1))
		return error_no_memory();
	pass->todo[pass->count++] = dentry.address;
	return NULL;
}

static struct error *visit_children(struct pass *pass, const struct object *dentry)
{
	struct object head;
	const struct walk walk = {
		.target = pass->target, .visit = add_child, .broken = broken, .context = pass
	};
	pass->parent = dentry->address;
	TRY(object_member(dentry, pass->head, &head));
	return pass->is_hlist ? walk_hlist(&walk, head.address, HLIST_PLAIN)
			      : walk_list(&walk, head.address, false);
}

static struct error *visit_next(struct pass *pass)
{
	struct object dentry;
	TRY(interrupt_check());
	TRY(object_at(pass->target, "struct dentry", pass->todo[--pass->count], &dentry));
	TRY(pass->visitor->visit(pass->visitor->context, &dentry));
	struct error *error = visit_children(pass, &dentry);
	return error && !error_is_fatal(error) ? broken(pass, error) : error;
}

struct error *dentry_tree_for_each(const struct object *super, const struct dentry_visitor *visitor)
{
	struct object root;
	struct pass pass = { .target = super->target, .visitor = visitor, .super = super->address };
	TRY(object_follow(super, "s_root", &root));
	if (!root.address)
		return NULL;
	pass.is_hlist = object_has(&root, "d_children");
	pass.head = pass.is_hlist ? "d_children" : "d_subdirs";
	TRY(object_offset(super->target, "struct dentry", pass.is_hlist ? "d_sib" : "d_child",
			  &pass.link));
	TRY(check_root(&pass, &root));
	if (!array_reserve(&pass.todo, &pass.capacity, 1))
		return error_no_memory();
	pass.todo[pass.count++] = root.address;
	struct error *error = NULL;
	while (!error && pass.count)
		error = visit_next(&pass);
	free(pass.todo);
	return error;
}

/* "/a/b" of the folder that a dentry lies in, behind which its own name goes; false: no room. */
static bool put_name(char *buffer, size_t *at, const char *name, size_t length)
{
	if (length > *at)
		return false;
	*at -= length;
	memcpy(buffer + *at, name, length);
	return true;
}

struct error *dentry_path(struct object dentry, struct path_folder *folder, char buffer[PATH_SIZE],
			  const char **ret)
{
	size_t at = PATH_SIZE - 1, end = 0;
	uint64_t place = 0;
	bool is_whole = false;
	buffer[at] = 0;
	for (unsigned int depth = 0; depth < DEPTH_MAX; depth++) {
		char name[NAME_SIZE + 1] = "/";
		struct object parent;
		if (depth == 1 && folder && folder->dentry == dentry.address) {
			put_name(buffer, &at, folder->path, strlen(folder->path));
			break;
		}
		TRY(object_follow(&dentry, "d_parent", &parent));
		is_whole = parent.address == dentry.address;
		if (is_whole)
			break;
		TRY(path_dentry_name(&dentry, name + 1, sizeof(name) - 1));
		if (!put_name(buffer, &at, name, strlen(name)))
			break;
		dentry = parent;
		if (!depth) {
			place = parent.address;
			end = at;
		}
	}
	*ret = buffer[at] ? buffer + at : "/";
	if (folder && is_whole && place) {
		folder->dentry = place;
		memcpy(folder->path, buffer + at, end - at);
		folder->path[end - at] = 0;
	}
	return NULL;
}
