// SPDX-License-Identifier: GPL-3.0-or-later
/* Inodes in memory, with what is cached of their files. */
#include "debugger/kernel/dentry_tree.h"

#include "base/array.h"
#include "debugger/tables/walks.h"
#include <inttypes.h>
#include <stdio.h>

enum {
	COLUMN_INODE,
	COLUMN_SUPERBLOCK,
	COLUMN_FILESYSTEM,
	COLUMN_INO,
	COLUMN_TYPE,
	COLUMN_MODE,
	COLUMN_NLINK,
	COLUMN_UID,
	COLUMN_COUNT,
	COLUMN_STATE,
	COLUMN_SIZE,
	COLUMN_CACHED,
	COLUMN_DENTRY,
	COLUMN_NAME,
};

static const struct table_column columns[] = {
	[COLUMN_INODE] = { "inode", COLUMN_ADDRESS, 16, "its struct inode", "struct inode" },
	[COLUMN_SUPERBLOCK] = { "superblock", COLUMN_ADDRESS, 0, "its struct super_block",
				"struct super_block" },
	[COLUMN_FILESYSTEM] = { "filesystem", COLUMN_TEXT, -10, "the type of that", NULL },
	[COLUMN_INO] = { "ino", COLUMN_WIDE, 8, "its number there", NULL },
	[COLUMN_TYPE] = { "type", COLUMN_TEXT, -4, "REG, DIR, LNK, CHR, BLK, FIFO, SOCK", NULL },
	[COLUMN_MODE] = { "mode", COLUMN_TEXT, 0, "permissions in octal", NULL },
	[COLUMN_NLINK] = { "nlink", COLUMN_INTEGER, 0, "names that it has; 0: it was removed",
			   NULL },
	[COLUMN_UID] = { "uid", COLUMN_INTEGER, 0, "its owner", NULL },
	[COLUMN_COUNT] = { "count", COLUMN_INTEGER, 5, "who uses it", NULL },
	[COLUMN_STATE] = { "state", COLUMN_TEXT, 0, "dirty, new, freeing, ...", NULL },
	[COLUMN_SIZE] = { "size", COLUMN_BYTES, 6, "of the file", NULL },
	[COLUMN_CACHED] = { "cached", COLUMN_BYTES, 6, "of it in memory", NULL },
	[COLUMN_DENTRY] = { "dentry", COLUMN_ADDRESS, 0, "of its first name", "struct dentry" },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, -24, "the first, from the filesystem's root on",
			  NULL },
};

/* kernel include/uapi/linux/stat.h: S_IFMT */
static const char *const type_names[16] = { [1] = "FIFO", [2] = "CHR",	[4] = "DIR",  [6] = "BLK",
					    [8] = "REG",  [10] = "LNK", [12] = "SOCK" };
/* kernel include/linux/fs.h: I_*, which were these bits for long */
static const struct table_word state_words[] = {
	{ 0x7, "dirty" },    { 0x8, "new" },	{ 0x10, "will_free" },
	{ 0x20, "freeing" }, { 0x40, "clear" }, { 0x80, "sync" },
};

struct pass {
	struct object super, type;
	uint64_t alias; /* offset in a dentry of what links it to its inode */
	struct path_folder folder;
};

static struct error *set_name(struct table_scan *scan, struct pass *pass,
			      const struct object *inode)
{
	struct object first, dentry;
	char path[PATH_SIZE];
	const char *name;
	uint64_t node;
	if (!table_wants(scan, COLUMN_NAME) && !table_wants(scan, COLUMN_DENTRY))
		return NULL;
	TRY(object_member(inode, "i_dentry", &first));
	TRY(memory_read_word(scan->target->memory, first.address, &node));
	/* None is in memory, or it has none. */
	if (!node)
		return NULL;
	TRY(object_at(scan->target, "struct dentry", node - pass->alias, &dentry));
	table_set(scan, COLUMN_DENTRY, dentry.address);
	if (!table_wants(scan, COLUMN_NAME))
		return NULL;
	TRY(dentry_path(dentry, &pass->folder, path, &name));
	table_set_text(scan, COLUMN_NAME, name);
	return NULL;
}

static struct error *set_mode(struct table_scan *scan, const struct object *inode)
{
	uint64_t mode;
	char text[16];
	if (!table_wants(scan, COLUMN_TYPE) && !table_wants(scan, COLUMN_MODE))
		return NULL;
	TRY(object_u64(inode, "i_mode", &mode));
	table_set_name(scan, COLUMN_TYPE, type_names, ARRAY_COUNT(type_names), mode >> 12 & 15);
	snprintf(text, sizeof(text), "%04o", (unsigned int)mode & 07777);
	table_set_text(scan, COLUMN_MODE, text);
	return NULL;
}

static struct error *set_sizes(struct table_scan *scan, const struct object *inode)
{
	uint64_t pages, state, size;
	if (table_wants(scan, COLUMN_SIZE)) {
		TRY(object_u64(inode, "i_size", &size));
		if (size <= INT64_MAX)
			table_set(scan, COLUMN_SIZE, size);
	}
	if (table_wants(scan, COLUMN_STATE)) {
		TRY(object_u64(inode, "i_state", &state));
		table_set_words(scan, COLUMN_STATE, state_words, ARRAY_COUNT(state_words), state);
	}
	if (table_wants(scan, COLUMN_CACHED)) {
		TRY(object_u64(inode, "i_data.nrpages", &pages));
		table_set_pages(scan, COLUMN_CACHED, pages);
	}
	return NULL;
}

static struct error *visit_inode(struct table_scan *scan, const struct object *inode, void *context)
{
	struct pass *pass = context;
	TRY(inode_check_super(inode, pass->super.address));
	table_set(scan, COLUMN_INODE, inode->address);
	table_set(scan, COLUMN_SUPERBLOCK, pass->super.address);
	TRY(table_set_pointed(scan, COLUMN_FILESYSTEM, &pass->type, "name"));
	TRY(table_set_member(scan, COLUMN_INO, inode, "i_ino"));
	TRY(table_set_member(scan, COLUMN_NLINK, inode, "i_nlink"));
	TRY(table_set_member(scan, COLUMN_UID, inode, "i_uid.val"));
	TRY(table_set_member(scan, COLUMN_COUNT, inode, "i_count.counter"));
	TRY(table_set_error(scan, COLUMN_TYPE, set_mode(scan, inode)));
	TRY(table_set_error(scan, COLUMN_CACHED, set_sizes(scan, inode)));
	TRY(table_set_error(scan, COLUMN_NAME, set_name(scan, pass, inode)));
	return table_emit(scan);
}

static struct error *visit_super(struct table_scan *scan, const struct object *super, void *context)
{
	struct pass *pass = context;
	const struct table_walk walk = { CONTAINER_LIST, "struct inode", "i_sb_list", visit_inode,
					 pass };
	struct object list;
	pass->super = *super;
	struct error *error = object_follow(super, "s_type", &pass->type);
	if (!error)
		error = object_member(super, "s_inodes", &list);
	if (!error)
		error = table_walk_forgetful(scan, list.address, &walk);
	return table_broken(scan, error);
}

static struct error *visit(struct table_scan *scan)
{
	struct pass pass = { .alias = 0 };
	const struct table_walk walk = { CONTAINER_LIST, "struct super_block", "s_list",
					 visit_super, &pass };
	struct object dentry;
	TRY(object_at(scan->target, "struct dentry", 0, &dentry));
	TRY(object_offset(scan->target, "struct dentry", path_alias_name(&dentry), &pass.alias));
	return table_walk_variable(scan, "super_blocks", "struct list_head", &walk);
}

static const char *const examples[] = {
	"inodes --sort -cached -n 10", "inodes --where \"filesystem = 'ext4' and state <> ''\"",
	"sql SELECT filesystem, count(*) AS inodes, sum(cached) AS cached "
	"FROM inodes GROUP BY filesystem ORDER BY cached DESC LIMIT 5",
	NULL
};

const struct table table_inodes = {
	.name = "inodes",
	.summary = "inodes in memory, with what is cached of them",
	.description =
		"A row is a struct inode of a superblock: a file, a folder, ... that is in memory. "
		"`cached` is what the page cache has of it. Pipes and sockets are on no "
		"superblock's "
		"list, and have no row.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_INODE,
	.is_object = true,
};
