// SPDX-License-Identifier: GPL-3.0-or-later
/* Mounts of all namespaces (kernel fs/mount.h). */
#include "debugger/tables/walks.h"

#include "base/address_map.h"
#include "base/array.h"
#include "debugger/kernel/path.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	COLUMN_MOUNT,
	COLUMN_ID,
	COLUMN_PARENT,
	COLUMN_SUPERBLOCK,
	COLUMN_NAMESPACE,
	COLUMN_TYPE,
	COLUMN_SOURCE,
	COLUMN_OPTIONS,
	COLUMN_PATH,
};

static const struct table_column columns[] = {
	[COLUMN_MOUNT] = { "mount", COLUMN_ADDRESS, 16, "its struct mount", "struct mount" },
	[COLUMN_ID] = { "id", COLUMN_INTEGER, 4, "as in /proc/PID/mountinfo", NULL },
	[COLUMN_PARENT] = { "parent", COLUMN_INTEGER, 0, "id of the mount that it lies on", NULL },
	[COLUMN_SUPERBLOCK] = { "superblock", COLUMN_ADDRESS, 16, "its struct super_block",
				"struct super_block" },
	[COLUMN_NAMESPACE] = { "namespace", COLUMN_WIDE, 10,
			       "inode number of the namespace, as in /proc/PID/ns/mnt", NULL },
	[COLUMN_TYPE] = { "type", COLUMN_TEXT, -10, "the filesystem's", NULL },
	[COLUMN_SOURCE] = { "source", COLUMN_TEXT, -12, "what was mounted", NULL },
	[COLUMN_OPTIONS] = { "options", COLUMN_TEXT, -12, "the mount's own: ro, nosuid, ...",
			     NULL },
	[COLUMN_PATH] = { "path", COLUMN_TEXT, -24, "where", NULL },
};

#define TYPE_SIZE   64
#define SOURCE_SIZE 1024

/* MNT_* of kernel include/linux/mount.h, in the words and the order of /proc/mounts. */
static const struct {
	uint32_t bit;
	const char *word;
} option_words[] = {
	{ 0x01, "nosuid" },	{ 0x02, "nodev" },    { 0x04, "noexec" },      { 0x08, "noatime" },
	{ 0x10, "nodiratime" }, { 0x20, "relatime" }, { 0x80, "nosymfollow" },
};
#define MOUNT_READ_ONLY	     0x40u	 /* MNT_READONLY */
#define MOUNT_CURSOR	     0x10000000u /* MNT_CURSOR: where a reader of /proc/mounts stands */
#define SUPERBLOCK_READ_ONLY 0x01u	 /* SB_RDONLY */

struct pass {
	struct table_scan *scan;
	uint64_t node; /* offset of what links a mount into its namespace */
	bool is_list;
	uint64_t count; /* of mounts of this namespace */
	struct object namespace;
};

static struct error *set_type(struct table_scan *scan, const struct object *super)
{
	struct object kind;
	char name[TYPE_SIZE], part[TYPE_SIZE] = "", text[2 * TYPE_SIZE];
	TRY(object_follow(super, "s_type", &kind));
	TRY(path_pointed_string(&kind, "name", name, sizeof(name)));
	TRY(path_pointed_string(super, "s_subtype", part, sizeof(part)));
	snprintf(text, sizeof(text), *part ? "%s.%s" : "%s", name, part);
	table_set_text(scan, COLUMN_TYPE, text);
	return NULL;
}

static struct error *set_options(struct table_scan *scan, const struct object *mount,
				 const struct object *super)
{
	uint64_t flags, super_flags;
	char text[96];
	TRY(object_u64(mount, "mnt.mnt_flags", &flags));
	TRY(object_u64(super, "s_flags", &super_flags));
	bool is_read_only = flags & MOUNT_READ_ONLY || super_flags & SUPERBLOCK_READ_ONLY;
	int used = snprintf(text, sizeof(text), "%s", is_read_only ? "ro" : "rw");
	for (size_t i = 0; i < ARRAY_COUNT(option_words); i++)
		if (flags & option_words[i].bit)
			used += snprintf(text + used, sizeof(text) - (size_t)used, ",%s",
					 option_words[i].word);
	table_set_text(scan, COLUMN_OPTIONS, text);
	return NULL;
}

static struct error *set_source(struct table_scan *scan, const struct object *mount)
{
	char source[SOURCE_SIZE];
	TRY(path_pointed_string(mount, "mnt_devname", source, sizeof(source)));
	table_set_text(scan, COLUMN_SOURCE, *source ? source : "none");
	return NULL;
}

/* Where its root is seen: itself, for a mount is left at its root. */
static struct error *set_path(struct table_scan *scan, const struct object *mount)
{
	struct object inner;
	uint64_t root;
	char path[PATH_SIZE];
	TRY(object_member(mount, "mnt", &inner));
	TRY(object_u64(&inner, "mnt_root", &root));
	TRY(path_of(scan->target, inner.address, root, path));
	table_set_text(scan, COLUMN_PATH, path);
	return NULL;
}

static struct error *set_super(struct table_scan *scan, const struct object *mount)
{
	struct object super;
	struct error *error = object_follow(mount, "mnt.mnt_sb", &super);
	if (error)
		return table_set_error(scan, COLUMN_SUPERBLOCK, error);
	table_set(scan, COLUMN_SUPERBLOCK, super.address);
	TRY(table_set_error(scan, COLUMN_TYPE, set_type(scan, &super)));
	return table_set_error(scan, COLUMN_OPTIONS, set_options(scan, mount, &super));
}

static struct error *set_parent(struct table_scan *scan, const struct object *mount)
{
	struct object parent;
	struct error *error = object_follow(mount, "mnt_parent", &parent);
	return error ? table_set_error(scan, COLUMN_PARENT, error)
		     : table_set_member(scan, COLUMN_PARENT, &parent, "mnt_id");
}

static struct error *visit_mount(void *context, const struct walk_item *item)
{
	struct pass *pass = context;
	struct table_scan *scan = pass->scan;
	struct object mount;
	uint64_t flags = 0;
	TRY(object_at(scan->target, "struct mount", item->address - pass->node, &mount));
	TRY(error_only_fatal(object_u64(&mount, "mnt.mnt_flags", &flags)));
	if (pass->is_list && flags & MOUNT_CURSOR)
		return NULL;
	pass->count++;
	table_set(scan, COLUMN_MOUNT, mount.address);
	TRY(table_set_member(scan, COLUMN_ID, &mount, "mnt_id"));
	TRY(table_set_member(scan, COLUMN_NAMESPACE, &pass->namespace, "ns.inum"));
	TRY(set_parent(scan, &mount));
	TRY(set_super(scan, &mount));
	TRY(table_set_error(scan, COLUMN_SOURCE, set_source(scan, &mount)));
	if (table_wants(scan, COLUMN_PATH))
		TRY(table_set_error(scan, COLUMN_PATH, set_path(scan, &mount)));
	return table_emit(scan);
}

static struct error *broken(void *context, struct error *problem)
{
	struct pass *pass = context;
	return table_broken(pass->scan, problem);
}

/* --- the namespaces: those of all tasks ------------------------------------------------------ */

struct met {
	uint64_t address;
	size_t order; /* in which task it was met */
};

struct namespaces {
	struct table_scan *scan;
	struct met *met;
	size_t count, capacity;
	struct address_map roots; /* of the trees that were walked */
};

/*
 * A root has no parent, so that it does not say whose it is: namespaces that lead to one tree have
 * its mounts but once. All else of a tree links back to where it hangs, as lists do.
 */
static struct error *note_root(struct namespaces *namespaces, const struct object *namespace)
{
	size_t count = namespaces->roots.count;
	uint64_t root;
	TRY(object_u64(namespace, "mounts.rb_node", &root));
	if (!root)
		return NULL;
	if (!address_map_add(&namespaces->roots, sizeof(root), root))
		return error_no_memory();
	if (namespaces->roots.count == count)
		return error_create(ERROR_FORMAT,
				    "mount namespace 0x%" PRIx64 " has the mounts of another one",
				    namespace->address);
	return NULL;
}

static struct error *namespace_of(struct target *target, const struct task *task, uint64_t *ret)
{
	struct object object, proxy;
	*ret = 0;
	TRY(object_at(target, "struct task_struct", task->address, &object));
	TRY(object_follow(&object, "nsproxy", &proxy));
	return proxy.address ? object_u64(&proxy, "mnt_ns", ret) : NULL;
}

static struct error *note_namespace(void *context, const struct task *task)
{
	struct namespaces *namespaces = context;
	uint64_t address;
	struct error *error = namespace_of(namespaces->scan->target, task, &address);
	if (error)
		return table_broken(namespaces->scan, error_prefix(error, "task %d", task->pid));
	/* One that has exited has none; and mostly it is the one before's. */
	size_t count = namespaces->count;
	if (!address || (count && namespaces->met[count - 1].address == address))
		return NULL;
	if (!array_reserve(&namespaces->met, &namespaces->capacity, count + 1))
		return error_no_memory();
	namespaces->met[namespaces->count++] = (struct met){ address, count };
	return NULL;
}

static int by_address(const void *a, const void *b)
{
	const struct met *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int by_order(const void *a, const void *b)
{
	const struct met *x = a, *y = b;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Each once, where it was met first. */
static void keep_first(struct namespaces *namespaces)
{
	struct met *met = namespaces->met;
	size_t kept = 0;
	array_sort(met, namespaces->count, sizeof(*met), by_address);
	for (size_t i = 0; i < namespaces->count; i++)
		if (!kept || met[kept - 1].address != met[i].address)
			met[kept++] = met[i];
	namespaces->count = kept;
	array_sort(met, kept, sizeof(*met), by_order);
}

static struct error *check_count(const struct pass *pass)
{
	/* `mounts` of lists was called so in the end. */
	bool is_old = pass->is_list && !object_has(&pass->namespace, "nr_mounts");
	return table_check_count(pass->scan, &pass->namespace, is_old ? "mounts" : "nr_mounts",
				 pass->count);
}

static struct error *visit_namespace(struct namespaces *namespaces, uint64_t address)
{
	struct table_scan *scan = namespaces->scan;
	struct pass pass = { .scan = scan };
	struct walk walk = { .target = scan->target,
			     .visit = visit_mount,
			     .broken = broken,
			     .context = &pass,
			     .seen = &scan->seen };
	struct object mounts;
	TRY(object_at(scan->target, "struct mnt_namespace", address, &pass.namespace));
	/* A list until 2eea9ce4310d (6.8), a tree since: `mounts` was the count. */
	pass.is_list = object_has(&pass.namespace, "list");
	if (pass.is_list) {
		TRY(object_offset(scan->target, "struct mount", "mnt_list", &pass.node));
		TRY(object_member(&pass.namespace, "list", &mounts));
		TRY(walk_list(&walk, mounts.address, false));
		return check_count(&pass);
	}
	TRY(note_root(namespaces, &pass.namespace));
	TRY(object_offset(scan->target, "struct mount", "mnt_node", &pass.node));
	TRY(object_member(&pass.namespace, "mounts", &mounts));
	TRY(walk_rbtree(&walk, mounts.address));
	return check_count(&pass);
}

static struct error *visit_namespaces(struct namespaces *namespaces)
{
	struct table_scan *scan = namespaces->scan;
	struct error *problem = NULL;
	struct error *error = task_for_each(scan->target, note_namespace, namespaces, &problem);
	if (error) {
		error_free(problem);
		return error;
	}
	TRY(table_broken(scan, problem));
	keep_first(namespaces);
	for (size_t i = 0; i < namespaces->count; i++)
		TRY(table_broken(scan, visit_namespace(namespaces, namespaces->met[i].address)));
	return NULL;
}

static struct error *visit(struct table_scan *scan)
{
	struct namespaces namespaces = { .scan = scan };
	struct error *error = visit_namespaces(&namespaces);
	free(namespaces.met);
	address_map_deinit(&namespaces.roots);
	return error;
}

static const char *const examples[] = { "mounts", "mounts -o id,parent,type,path",
					"mounts | print mnt.mnt_sb->s_id", NULL };

const struct table table_mounts = {
	.name = "mounts",
	.alias = "mount",
	.summary = "mounted filesystems",
	.description =
		"A row is a mount of a namespace that a task is in. The options are those of "
		"the mount; those of the filesystem itself stand in its superblock.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_MOUNT,
	.is_object = true,
};
