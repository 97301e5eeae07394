// SPDX-License-Identifier: GPL-3.0-or-later
/* Names of files in memory, those of files that are not there among them. */
#include "debugger/kernel/dentry_tree.h"

#include "base/array.h"
#include "debugger/tables/walks.h"
#include <inttypes.h>

enum {
	COLUMN_DENTRY,
	COLUMN_SUPERBLOCK,
	COLUMN_FILESYSTEM,
	COLUMN_ID,
	COLUMN_INODE,
	COLUMN_INO,
	COLUMN_TYPE,
	COLUMN_COUNT,
	COLUMN_UNUSED,
	COLUMN_NAME,
	COLUMN_PATH,
};

static const struct table_column columns[] = {
	[COLUMN_DENTRY] = { "dentry", COLUMN_ADDRESS, 16, "its struct dentry", "struct dentry" },
	[COLUMN_SUPERBLOCK] = { "superblock", COLUMN_ADDRESS, 0, "its struct super_block",
				"struct super_block" },
	[COLUMN_FILESYSTEM] = { "filesystem", COLUMN_TEXT, -10, "the type of that", NULL },
	[COLUMN_ID] = { "id", COLUMN_TEXT, 0, "its name in the log: vda1", NULL },
	[COLUMN_INODE] = { "inode", COLUMN_ADDRESS, 16, "its struct inode; of negative ones none",
			   "struct inode" },
	[COLUMN_INO] = { "ino", COLUMN_WIDE, 0, "the number of that", NULL },
	[COLUMN_TYPE] = { "type", COLUMN_TEXT, -8,
			  "REG, DIR, LNK, CHR, BLK, FIFO, SOCK; negative: there is no such file",
			  NULL },
	[COLUMN_COUNT] = { "count", COLUMN_INTEGER, 5, "who uses it, names in it among them",
			   NULL },
	[COLUMN_UNUSED] = { "unused", COLUMN_INTEGER, 6, "1: it may be let go when memory is short",
			    NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, 0, "the last part of the path", NULL },
	[COLUMN_PATH] = { "path", COLUMN_TEXT, -40, "from the filesystem's root on", NULL },
};

/* kernel include/uapi/linux/stat.h: S_IFMT */
static const char *const type_names[16] = { [1] = "FIFO", [2] = "CHR",	[4] = "DIR",  [6] = "BLK",
					    [8] = "REG",  [10] = "LNK", [12] = "SOCK" };

struct pass {
	struct table_scan *scan;
	struct object super, type;
	struct path_folder folder;
};

static struct error *set_inode(struct table_scan *scan, const struct object *dentry)
{
	struct object inode;
	uint64_t mode;
	if (!table_wants(scan, COLUMN_INODE) && !table_wants(scan, COLUMN_INO) &&
	    !table_wants(scan, COLUMN_TYPE))
		return NULL;
	TRY(object_follow(dentry, "d_inode", &inode));
	if (!inode.address) {
		table_set_text(scan, COLUMN_TYPE, "negative");
		return NULL;
	}
	table_set(scan, COLUMN_INODE, inode.address);
	TRY(table_set_member(scan, COLUMN_INO, &inode, "i_ino"));
	TRY(object_u64(&inode, "i_mode", &mode));
	table_set_name(scan, COLUMN_TYPE, type_names, ARRAY_COUNT(type_names), mode >> 12 & 15);
	return NULL;
}

/* On the list of those that nobody uses, or on one of those that are about to go. */
static struct error *set_unused(struct table_scan *scan, const struct object *dentry)
{
	struct object list;
	uint64_t next;
	if (!table_wants(scan, COLUMN_UNUSED))
		return NULL;
	TRY(object_member(dentry, "d_lru", &list));
	TRY(memory_read_word(scan->target->memory, list.address, &next));
	table_set(scan, COLUMN_UNUSED, next != list.address);
	return NULL;
}

static struct error *set_names(struct table_scan *scan, const struct object *dentry,
			       struct path_folder *folder)
{
	char path[PATH_SIZE];
	const char *name;
	if (table_wants(scan, COLUMN_NAME)) {
		TRY(path_dentry_name(dentry, path, sizeof(path)));
		table_set_text(scan, COLUMN_NAME, path);
	}
	if (!table_wants(scan, COLUMN_PATH))
		return NULL;
	TRY(dentry_path(*dentry, folder, path, &name));
	table_set_text(scan, COLUMN_PATH, name);
	return NULL;
}

static struct error *visit_dentry(void *context, const struct object *dentry)
{
	struct pass *pass = context;
	struct table_scan *scan = pass->scan;
	table_set(scan, COLUMN_DENTRY, dentry->address);
	table_set(scan, COLUMN_SUPERBLOCK, pass->super.address);
	TRY(table_set_pointed(scan, COLUMN_FILESYSTEM, &pass->type, "name"));
	TRY(table_set_chars(scan, COLUMN_ID, &pass->super, "s_id"));
	TRY(table_set_member(scan, COLUMN_COUNT, dentry, "d_lockref.count"));
	TRY(table_set_error(scan, COLUMN_TYPE, set_inode(scan, dentry)));
	TRY(table_set_error(scan, COLUMN_UNUSED, set_unused(scan, dentry)));
	TRY(table_set_error(scan, COLUMN_PATH, set_names(scan, dentry, &pass->folder)));
	return table_emit(scan);
}

static struct error *broken(void *context, struct error *problem)
{
	const struct pass *pass = context;
	return table_broken(pass->scan, problem);
}

static struct error *visit_super(struct table_scan *scan, const struct object *super, void *context)
{
	struct pass *pass = context;
	const struct dentry_visitor visitor = { visit_dentry, broken, pass };
	pass->super = *super;
	struct error *error = object_follow(super, "s_type", &pass->type);
	if (!error)
		error = dentry_tree_for_each(super, &visitor);
	return table_broken(scan, error);
}

static struct error *visit(struct table_scan *scan)
{
	struct pass pass = { .scan = scan };
	const struct table_walk walk = { CONTAINER_LIST, "struct super_block", "s_list",
					 visit_super, &pass };
	return table_walk_variable(scan, "super_blocks", "struct list_head", &walk);
}

static const char *const examples[] = {
	"dentries --where \"path = '/' or type = 'negative'\" -n 20",
	"sql SELECT filesystem, count(*) AS names, sum(type = 'negative') AS negative, "
	"sum(unused) AS unused FROM dentries GROUP BY superblock ORDER BY names DESC LIMIT 5",
	NULL
};

const struct table table_dentries = {
	.name = "dentries",
	.alias = "dentry",
	.summary = "names of files in memory, and of files that are not there",
	.description =
		"A row is a struct dentry that the root of a superblock leads to, a folder before "
		"what is in it. A negative one says that there is no such file. Names that were "
		"removed, pipes and sockets are in no folder, and have no row.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_DENTRY,
	.is_object = true,
};
