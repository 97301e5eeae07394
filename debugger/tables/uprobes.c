// SPDX-License-Identifier: GPL-3.0-or-later
/* Probes in the code of programs. */
#include "debugger/kernel/path.h"

#include "base/array.h"
#include "debugger/tables/walks.h"

enum { COLUMN_PROBE, COLUMN_INODE, COLUMN_OFFSET, COLUMN_FLAGS, COLUMN_REFERENCES, COLUMN_PATH };

static const struct table_column columns[] = {
	[COLUMN_PROBE] = { "uprobe", COLUMN_ADDRESS, 16, "its struct uprobe", "struct uprobe" },
	[COLUMN_INODE] = { "inode", COLUMN_ADDRESS, 0, "of the file", "struct inode" },
	[COLUMN_OFFSET] = { "offset", COLUMN_WIDE, 10, "in it", NULL },
	[COLUMN_FLAGS] = { "flags", COLUMN_INTEGER, 0, "1: the instruction was copied", NULL },
	[COLUMN_REFERENCES] = { "ref", COLUMN_INTEGER, 4, "who holds it", NULL },
	[COLUMN_PATH] = { "path", COLUMN_TEXT, -32, "of the file, in its file system", NULL },
};

static struct error *set_path(struct table_scan *scan, const struct object *inode)
{
	char path[PATH_SIZE];
	TRY(path_of_inode(inode, path));
	table_set_text(scan, COLUMN_PATH, path);
	return NULL;
}

static struct error *visit_probe(struct table_scan *scan, const struct object *probe, void *context)
{
	struct object inode;
	(void)context;
	table_set(scan, COLUMN_PROBE, probe->address);
	TRY(table_set_member(scan, COLUMN_OFFSET, probe, "offset"));
	TRY(table_set_member(scan, COLUMN_FLAGS, probe, "flags"));
	TRY(table_set_member(scan, COLUMN_REFERENCES, probe, "ref.refs.counter"));
	struct error *error = object_follow(probe, "inode", &inode);
	if (error) {
		TRY(table_set_error(scan, COLUMN_INODE, error));
	} else if (inode.address) {
		table_set(scan, COLUMN_INODE, inode.address);
		TRY(table_set_error(scan, COLUMN_PATH, set_path(scan, &inode)));
	}
	return table_emit(scan);
}

static struct error *visit(struct table_scan *scan)
{
	const struct table_walk walk = { CONTAINER_RBTREE, "struct uprobe", "rb_node", visit_probe,
					 NULL };
	uint64_t root;
	/* A kernel without them. */
	return table_symbol(scan, "uprobes_tree", &root) ? table_walk(scan, root, &walk) : NULL;
}

static const char *const examples[] = { "uprobes", NULL };

const struct table table_uprobes = {
	.name = "uprobes",
	.summary = "probes in the code of programs",
	.description =
		"A row is a struct uprobe: a place in a file, where each program that runs it "
		"is stopped for those who asked.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_PROBE,
	.is_object = true,
};
