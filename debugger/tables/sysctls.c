// SPDX-License-Identifier: GPL-3.0-or-later
/* Settings of /proc/sys. */
#include "debugger/tables/walks.h"

#include "base/array.h"
#include "base/strbuf.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	COLUMN_TABLE,
	COLUMN_MODE,
	COLUMN_DATA,
	COLUMN_SIZE,
	COLUMN_HANDLER,
	COLUMN_PATH,
	COLUMN_VALUE
};

static const struct table_column columns[] = {
	[COLUMN_TABLE] = { "ctl_table", COLUMN_ADDRESS, 0, "its struct ctl_table",
			   "struct ctl_table" },
	[COLUMN_MODE] = { "mode", COLUMN_TEXT, 0, "permissions in octal", NULL },
	[COLUMN_DATA] = { "data", COLUMN_ADDRESS, 16, "the variable", NULL },
	[COLUMN_SIZE] = { "size", COLUMN_BYTES, 0, "of that", NULL },
	[COLUMN_HANDLER] = { "handler", COLUMN_TEXT, 0, "the function that reads and writes it",
			     NULL },
	[COLUMN_PATH] = { "path", COLUMN_TEXT, -44, "below /proc/sys", NULL },
	[COLUMN_VALUE] = { "value", COLUMN_TEXT, -16,
			   "its numbers or its text; none: its function makes it", NULL },
};

/* What the functions of kernel/sysctl.c read that only read; others compute. */
static const struct {
	const char *name;
	unsigned int bytes; /* 0: a text; 1 with is_bool: one number alone */
	bool is_signed, is_bool;
} handlers[] = {
	{ "proc_dostring", 0, false, false },	       { "proc_dointvec", 4, true, false },
	{ "proc_dointvec_minmax", 4, true, false },    { "proc_douintvec", 4, false, false },
	{ "proc_douintvec_minmax", 4, false, false },  { "proc_dou8vec_minmax", 1, false, false },
	{ "proc_doulongvec_minmax", 8, false, false }, { "proc_dobool", 1, false, true },
};

#define PATH_MAX_SIZE 512
#define NAME_SIZE     128
#define VALUE_SIZE    4096
#define DEPTH_MAX     16
#define MODE_TYPE     0170000u /* S_IFMT */
#define MODE_FOLDER   0040000u /* S_IFDIR */
#define MODE_LINK     0120000u /* S_IFLNK: it stands for a folder of each network namespace */

struct pass {
	char path[PATH_MAX_SIZE];
	size_t used;
	unsigned int depth;
	uint64_t folder; /* address of the one that is walked */
	uint64_t addresses[ARRAY_COUNT(handlers)];
	uint64_t entry_size, node_size;
};

/* --- values ---------------------------------------------------------------------------------- */

static struct error *set_numbers(struct table_scan *scan, uint64_t data, uint64_t size,
				 unsigned int bytes, bool is_signed)
{
	struct strbuf text = { 0 };
	struct error *error = NULL;
	for (uint64_t at = 0; at + bytes <= size && !error; at += bytes) {
		uint8_t raw[8] = { 0 };
		uint64_t number;
		error = memory_read(scan->target->memory, data + at, raw, bytes);
		memcpy(&number, raw, sizeof(number));
		if (at)
			strbuf_char(&text, '\t');
		if (is_signed)
			strbuf_i64(&text, (int32_t)number);
		else
			strbuf_u64(&text, number);
	}
	strbuf_bytes(&text, "", 1);
	if (!error && !text.failed)
		table_set_text(scan, COLUMN_VALUE, text.data);
	strbuf_deinit(&text);
	return error;
}

static struct error *set_string(struct table_scan *scan, uint64_t data, uint64_t size)
{
	char text[VALUE_SIZE];
	size_t length;
	/* Its last byte may be the text's, too. */
	TRY(memory_read_string(scan->target->memory, data, text,
			       size < sizeof(text) ? (size_t)size + 1 : sizeof(text), &length));
	table_set_text(scan, COLUMN_VALUE, text);
	return NULL;
}

static struct error *set_value(struct table_scan *scan, const struct pass *pass,
			       const struct object *entry)
{
	uint64_t data, size, handler;
	TRY(object_u64(entry, "data", &data));
	TRY(object_u64(entry, "maxlen", &size));
	TRY(object_u64(entry, "proc_handler", &handler));
	if (!data || !size || size > VALUE_SIZE)
		return NULL;
	for (size_t i = 0; i < ARRAY_COUNT(handlers); i++) {
		if (!handler || pass->addresses[i] != handler)
			continue;
		if (!handlers[i].bytes)
			return set_string(scan, data, size);
		return set_numbers(scan, data, handlers[i].is_bool ? 1 : size, handlers[i].bytes,
				   handlers[i].is_signed);
	}
	return NULL;
}

static struct error *emit(struct table_scan *scan, const struct pass *pass,
			  const struct object *entry, uint64_t mode)
{
	char text[16];
	table_set(scan, COLUMN_TABLE, entry->address);
	snprintf(text, sizeof(text), "%04o", (unsigned int)mode & 07777);
	table_set_text(scan, COLUMN_MODE, text);
	TRY(table_set_member(scan, COLUMN_DATA, entry, "data"));
	TRY(table_set_member(scan, COLUMN_SIZE, entry, "maxlen"));
	TRY(table_set_function(scan, COLUMN_HANDLER, entry, "proc_handler"));
	table_set_text(scan, COLUMN_PATH, pass->path);
	TRY(table_set_error(scan, COLUMN_VALUE, set_value(scan, pass, entry)));
	return table_emit(scan);
}

/* --- folders: a tree of nodes each, whose places are those of entries in an array ------------- */

static struct error *visit_folder(struct table_scan *scan, struct pass *pass,
				  const struct object *folder);

static struct error *find_entry(const struct pass *pass, const struct object *node,
				struct object *ret_header, struct object *ret)
{
	uint64_t first, entries;
	TRY(object_follow(node, "header", ret_header));
	TRY(object_u64(ret_header, "node", &first));
	TRY(object_u64(ret_header, "ctl_table", &entries));
	if (node->address < first || (node->address - first) % pass->node_size)
		return error_create(ERROR_FORMAT, "node 0x%" PRIx64 " is not its header's",
				    node->address);
	return object_at(node->target, "struct ctl_table",
			 entries + (node->address - first) / pass->node_size * pass->entry_size,
			 ret);
}

/*
 * A folder has one node of its own, and knows the folder that this is in: so each is entered once,
 * wherever else links lead to it.
 */
static struct error *enter(struct table_scan *scan, struct pass *pass, const struct object *header,
			   uint64_t node)
{
	struct object folder;
	uint64_t parent, own, outer = pass->folder;
	TRY(object_u64(header, "parent", &parent));
	TRY(object_u64(header, "node", &own));
	TRY(object_container(scan->target, "struct ctl_dir", "header", header->address, &folder));
	if (parent != outer || own != node)
		return error_create(ERROR_FORMAT, "folder 0x%" PRIx64 " is another one's",
				    folder.address);
	pass->depth++;
	struct error *error = visit_folder(scan, pass, &folder);
	pass->folder = outer;
	pass->depth--;
	return error;
}

static struct error *visit_entry(struct table_scan *scan, struct pass *pass,
				 const struct object *header, const struct object *entry,
				 uint64_t node)
{
	uint64_t mode;
	TRY(object_u64(entry, "mode", &mode));
	if ((mode & MODE_TYPE) == MODE_LINK)
		return NULL;
	if ((mode & MODE_TYPE) != MODE_FOLDER)
		return emit(scan, pass, entry, mode);
	if (pass->depth == DEPTH_MAX)
		return error_create(ERROR_FORMAT, "folders lie more than %d deep", DEPTH_MAX);
	return enter(scan, pass, header, node);
}

static struct error *visit_node(struct table_scan *scan, const struct object *node, void *context)
{
	struct pass *pass = context;
	struct object header, entry;
	char name[NAME_SIZE];
	size_t used = pass->used;
	uint64_t address;
	size_t length = 0;
	struct error *error = find_entry(pass, node, &header, &entry);
	if (!error)
		error = object_u64(&entry, "procname", &address);
	if (!error)
		error = memory_read_string(scan->target->memory, address, name, sizeof(name),
					   &length);
	if (!error && used + length + 2 > sizeof(pass->path))
		error = error_create(ERROR_FORMAT, "a path of /proc/sys is too long");
	if (error)
		return table_broken(scan, error);
	pass->used += (size_t)snprintf(pass->path + used, sizeof(pass->path) - used, "%s%s",
				       used ? "/" : "", name);
	error = visit_entry(scan, pass, &header, &entry, node->address);
	pass->used = used;
	pass->path[used] = 0;
	return table_broken(scan, error);
}

/* Each tree is one folder's: what another one's leads to is not gone through again. */
static struct error *check_tree(struct table_scan *scan, struct pass *pass,
				const struct object *root)
{
	struct object node, header, entry;
	uint64_t first, parent;
	TRY(object_u64(root, "rb_node", &first));
	if (!first)
		return NULL;
	TRY(object_container(scan->target, "struct ctl_node", "node", first, &node));
	TRY(find_entry(pass, &node, &header, &entry));
	TRY(object_u64(&header, "parent", &parent));
	return parent == pass->folder
		       ? NULL
		       : error_create(ERROR_FORMAT,
				      "entries of folder 0x%" PRIx64 " are another one's",
				      pass->folder);
}

static struct error *visit_folder(struct table_scan *scan, struct pass *pass,
				  const struct object *folder)
{
	const struct table_walk walk = { CONTAINER_RBTREE, "struct ctl_node", "node", visit_node,
					 pass };
	struct object root;
	pass->folder = folder->address;
	TRY(object_member(folder, "root", &root));
	TRY(check_tree(scan, pass, &root));
	return table_walk(scan, root.address, &walk);
}

/* --- the roots: everybody's, and those of the first namespaces ---------------------------------
 */

static struct error *find_sizes(struct table_scan *scan, struct pass *pass)
{
	struct type entry, node;
	TRY(target_find_type(scan->target, NULL, "struct ctl_table", &entry));
	TRY(target_find_type(scan->target, NULL, "struct ctl_node", &node));
	if (!type_size(entry, &pass->entry_size) || !type_size(node, &pass->node_size) ||
	    !pass->node_size)
		return error_create(ERROR_FORMAT, "struct ctl_node has no size");
	for (size_t i = 0; i < ARRAY_COUNT(handlers); i++)
		table_symbol(scan, handlers[i].name, &pass->addresses[i]);
	return NULL;
}

static struct error *visit_root(struct table_scan *scan, struct pass *pass, const char *variable,
				const char *type_name, const char *path)
{
	struct object root, folder;
	TRY(object_variable(scan->target, variable, type_name, &root));
	TRY(object_member(&root, path, &folder));
	return visit_folder(scan, pass, &folder);
}

static const struct {
	const char *variable, *type_name, *path;
} roots[] = {
	{ "init_net", "struct net", "sysctls.dir" },
	{ "init_ipc_ns", "struct ipc_namespace", "ipc_set.dir" },
	{ "init_ipc_ns", "struct ipc_namespace", "mq_set.dir" },
	{ "init_user_ns", "struct user_namespace", "set.dir" },
	{ "init_pid_ns", "struct pid_namespace", "set.dir" }, /* since 6.14 */
};

static struct error *visit(struct table_scan *scan)
{
	struct pass pass = { .used = 0 };
	TRY(find_sizes(scan, &pass));
	TRY(visit_root(scan, &pass, "sysctl_table_root", "struct ctl_table_root",
		       "default_set.dir"));
	for (size_t i = 0; i < ARRAY_COUNT(roots); i++) {
		struct error *error = visit_root(scan, &pass, roots[i].variable, roots[i].type_name,
						 roots[i].path);
		/* Not all kernels have namespaces of all kinds. */
		if (error && error->kind == ERROR_NOT_FOUND)
			error_free(error);
		else
			TRY(table_broken(scan, error));
	}
	return NULL;
}

static const char *const examples[] = {
	"sysctls --where \"path LIKE 'vm/dirty%'\"",
	"sysctls --where \"path GLOB 'kernel/*panic*'\" -o path,value", NULL
};

const struct table table_sysctls = {
	.name = "sysctls",
	.summary = "settings of /proc/sys",
	.description =
		"A row is a struct ctl_table, as /proc/sys has them: those of everybody, and "
		"of the first namespaces. One whose function computes what it shows "
		"has no value here.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_TABLE,
};
