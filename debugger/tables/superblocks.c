// SPDX-License-Identifier: GPL-3.0-or-later
/* Superblocks: filesystems that are in use, mounted or not. */
#include "debugger/tables/walks.h"

#include "base/array.h"
#include "debugger/kernel/path.h"
#include <inttypes.h>
#include <stdio.h>

enum {
	COLUMN_SUPERBLOCK,
	COLUMN_DEVICE,
	COLUMN_TYPE,
	COLUMN_BLOCK_SIZE,
	COLUMN_FLAGS,
	COLUMN_FROZEN,
	COLUMN_ACTIVE,
	COLUMN_INODES,
	COLUMN_PAGES,
	COLUMN_DIRTY,
	COLUMN_ID,
};

static const struct table_column columns[] = {
	[COLUMN_SUPERBLOCK] = { "superblock", COLUMN_ADDRESS, 16, "its struct super_block",
				"struct super_block" },
	[COLUMN_DEVICE] = { "dev", COLUMN_TEXT, -7, "major:minor, as in /proc/PID/mountinfo",
			    NULL },
	[COLUMN_TYPE] = { "type", COLUMN_TEXT, -12, "the filesystem's", NULL },
	[COLUMN_BLOCK_SIZE] = { "blocksize", COLUMN_BYTES, 0, "of a block", NULL },
	[COLUMN_FLAGS] = { "flags", COLUMN_TEXT, -12, "ro, nosuid, nodev, sync, ...", NULL },
	[COLUMN_FROZEN] = { "frozen", COLUMN_INTEGER, 6,
			    "0: not; 4: wholly; between: it is about to", NULL },
	[COLUMN_ACTIVE] = { "active", COLUMN_INTEGER, 0, "who holds it: mounts, mainly", NULL },
	[COLUMN_INODES] = { "inodes", COLUMN_INTEGER, 7, "in memory", NULL },
	[COLUMN_PAGES] = { "cached", COLUMN_BYTES, 7, "of its files in memory", NULL },
	[COLUMN_DIRTY] = { "dirty", COLUMN_INTEGER, 0, "inodes that are to be written", NULL },
	[COLUMN_ID] = { "id", COLUMN_TEXT, -12, "what it calls itself: often the device", NULL },
};

/* kernel include/linux/fs.h: SB_* that mount(2) knows */
static const struct table_word flag_words[] = {
	{ 0x1, "ro" },		 { 0x2, "nosuid" },
	{ 0x4, "nodev" },	 { 0x8, "noexec" },
	{ 0x10, "sync" },	 { 0x40, "mand" },
	{ 0x80, "dirsync" },	 { 0x400, "noatime" },
	{ 0x800, "nodiratime" }, { 0x2000000, "lazytime" },
};
/* I_DIRTY_SYNC, I_DIRTY_DATASYNC and I_DIRTY_PAGES: the same bits for long */
#define INODE_DIRTY 7u

/* kernel include/linux/kdev_t.h */
#define MINOR_BITS 20

struct sums {
	uint64_t super;
	uint64_t inodes, pages, dirty;
};

static struct error *add_inode(struct table_scan *scan, const struct object *inode, void *context)
{
	struct sums *sums = context;
	uint64_t pages, state;
	TRY(inode_check_super(inode, sums->super));
	sums->inodes++;
	struct error *error = object_u64(inode, "i_data.nrpages", &pages);
	if (!error)
		error = object_u64(inode, "i_state", &state);
	if (error)
		return table_broken(scan, error_prefix(error, "inode 0x%" PRIx64, inode->address));
	sums->pages += pages;
	sums->dirty += (state & INODE_DIRTY) != 0;
	return NULL;
}

static struct error *set_sums(struct table_scan *scan, const struct object *super)
{
	struct sums sums = { .super = super->address };
	struct object list;
	const struct table_walk walk = { CONTAINER_LIST, "struct inode", "i_sb_list", add_inode,
					 &sums };
	if (!table_wants(scan, COLUMN_INODES) && !table_wants(scan, COLUMN_PAGES) &&
	    !table_wants(scan, COLUMN_DIRTY))
		return NULL;
	TRY(object_member(super, "s_inodes", &list));
	TRY(table_walk_forgetful(scan, list.address, &walk));
	table_set(scan, COLUMN_INODES, sums.inodes);
	table_set_pages(scan, COLUMN_PAGES, sums.pages);
	table_set(scan, COLUMN_DIRTY, sums.dirty);
	return NULL;
}

static struct error *set_device(struct table_scan *scan, const struct object *super)
{
	uint64_t device;
	char text[32];
	TRY(object_u64(super, "s_dev", &device));
	snprintf(text, sizeof(text), "%" PRIu64 ":%" PRIu64, device >> MINOR_BITS,
		 device & ((1u << MINOR_BITS) - 1));
	table_set_text(scan, COLUMN_DEVICE, text);
	return NULL;
}

static struct error *set_type(struct table_scan *scan, const struct object *super)
{
	struct object type;
	TRY(object_follow(super, "s_type", &type));
	return table_set_pointed(scan, COLUMN_TYPE, &type, "name");
}

static struct error *set_flags(struct table_scan *scan, const struct object *super)
{
	uint64_t flags;
	TRY(object_u64(super, "s_flags", &flags));
	table_set_words(scan, COLUMN_FLAGS, flag_words, ARRAY_COUNT(flag_words), flags);
	return NULL;
}

static struct error *visit_super(struct table_scan *scan, const struct object *super, void *context)
{
	(void)context;
	table_set(scan, COLUMN_SUPERBLOCK, super->address);
	TRY(table_set_error(scan, COLUMN_DEVICE, set_device(scan, super)));
	TRY(table_set_error(scan, COLUMN_TYPE, set_type(scan, super)));
	TRY(table_set_error(scan, COLUMN_FLAGS, set_flags(scan, super)));
	TRY(table_set_member(scan, COLUMN_BLOCK_SIZE, super, "s_blocksize"));
	TRY(table_set_member(scan, COLUMN_FROZEN, super, "s_writers.frozen"));
	TRY(table_set_member(scan, COLUMN_ACTIVE, super, "s_active.counter"));
	TRY(table_set_error(scan, COLUMN_INODES, set_sums(scan, super)));
	TRY(table_set_chars(scan, COLUMN_ID, super, "s_id"));
	return table_emit(scan);
}

static struct error *visit(struct table_scan *scan)
{
	const struct table_walk walk = { CONTAINER_LIST, "struct super_block", "s_list",
					 visit_super, NULL };
	return table_walk_variable(scan, "super_blocks", "struct list_head", &walk);
}

static const char *const examples[] = { "superblocks", "superblocks --where 'frozen > 0'",
					"superblocks --sort -cached -n 3 -o type,id,inodes,cached",
					NULL };

const struct table table_superblocks = {
	.name = "superblocks",
	.summary = "filesystems that are in use",
	.description = "A row is a struct super_block, also of those that the kernel mounts for "
		       "itself.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_SUPERBLOCK,
	.is_object = true,
};
