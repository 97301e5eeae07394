// SPDX-License-Identifier: GPL-3.0-or-later
/* Types of filesystems, as /proc/filesystems has them. */
#include "debugger/tables/walks.h"

#include "base/array.h"

enum { COLUMN_TYPE, COLUMN_NODEV, COLUMN_OWNER, COLUMN_NAME };

static const struct table_column columns[] = {
	[COLUMN_TYPE] = { "filesystem", COLUMN_ADDRESS, 16, "its struct file_system_type",
			  "struct file_system_type" },
	[COLUMN_NODEV] = { "nodev", COLUMN_INTEGER, 5, "1: it needs no block device", NULL },
	[COLUMN_OWNER] = { "module", COLUMN_TEXT, -12, "whose it is; none: the kernel's", NULL },
	[COLUMN_NAME] = { "name", COLUMN_TEXT, -16, "the type's", NULL },
};

#define NEEDS_DEVICE 1u /* FS_REQUIRES_DEV */

static struct error *set_owner(struct table_scan *scan, const struct object *type)
{
	struct object module;
	TRY(object_follow(type, "owner", &module));
	return module.address ? table_set_chars(scan, COLUMN_OWNER, &module, "name") : NULL;
}

static struct error *visit_type(struct table_scan *scan, const struct object *type, void *context)
{
	uint64_t flags;
	(void)context;
	table_set(scan, COLUMN_TYPE, type->address);
	struct error *error = object_u64(type, "fs_flags", &flags);
	if (error)
		TRY(table_set_error(scan, COLUMN_NODEV, error));
	else
		table_set(scan, COLUMN_NODEV, !(flags & NEEDS_DEVICE));
	TRY(table_set_error(scan, COLUMN_OWNER, set_owner(scan, type)));
	TRY(table_set_pointed(scan, COLUMN_NAME, type, "name"));
	return table_emit(scan);
}

static struct error *visit(struct table_scan *scan)
{
	const struct table_walk chain = { CONTAINER_CHAIN, "struct file_system_type", "next",
					  visit_type, NULL };
	/* Since 7.1 or so. */
	const struct table_walk list = { CONTAINER_HLIST, "struct file_system_type", "list",
					 visit_type, NULL };
	struct object type;
	TRY(object_at(scan->target, "struct file_system_type", 0, &type));
	if (object_has(&type, "next"))
		return table_walk_variable(scan, "file_systems", "unsigned long", &chain);
	return table_walk_variable(scan, "file_systems", "struct hlist_head", &list);
}

static const char *const examples[] = { "filesystems", "filesystems --where 'nodev = 0'", NULL };

const struct table table_filesystems = {
	.name = "filesystems",
	.summary = "types of filesystems",
	.description = "A row is a struct file_system_type, as /proc/filesystems has them. Those "
		       "in use are superblocks.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_TYPE,
	.is_object = true,
};
