// SPDX-License-Identifier: GPL-3.0-or-later
/* Open files (kernel include/linux/fs.h, include/linux/fdtable.h). */
#include "debugger/tables/table.h"

#include "base/array.h"
#include "debugger/kernel/open_files.h"
#include "debugger/kernel/path.h"

enum {
	COLUMN_PID,
	COLUMN_COMM,
	COLUMN_FD,
	COLUMN_FILE,
	COLUMN_DENTRY,
	COLUMN_INODE,
	COLUMN_INO,
	COLUMN_TYPE,
	COLUMN_POS,
	COLUMN_FLAGS,
	COLUMN_CLOEXEC,
	COLUMN_TASK,
	COLUMN_PATH,
};

static const struct table_column columns[] = {
	[COLUMN_PID] = { "pid", COLUMN_INTEGER, 7, "of the task", NULL },
	[COLUMN_COMM] = { "comm", COLUMN_TEXT, -15, "the task's name", NULL },
	[COLUMN_FD] = { "fd", COLUMN_INTEGER, 4, "the descriptor", NULL },
	[COLUMN_FILE] = { "file", COLUMN_ADDRESS, 16, "its struct file", "struct file" },
	[COLUMN_DENTRY] = { "dentry", COLUMN_ADDRESS, 0, "its struct dentry", "struct dentry" },
	[COLUMN_INODE] = { "inode", COLUMN_ADDRESS, 16, "its struct inode", "struct inode" },
	[COLUMN_INO] = { "ino", COLUMN_WIDE, 0, "number of the inode", NULL },
	[COLUMN_TYPE] = { "type", COLUMN_TEXT, -4, "REG, DIR, LNK, CHR, BLK, FIFO, SOCK", NULL },
	[COLUMN_POS] = { "pos", COLUMN_WIDE, 0, "where the next read or write goes", NULL },
	[COLUMN_FLAGS] = { "flags", COLUMN_INTEGER, 0, "O_* of open(2)", NULL },
	[COLUMN_CLOEXEC] = { "cloexec", COLUMN_INTEGER, 0, "1: execve() closes it", NULL },
	[COLUMN_TASK] = { "task", COLUMN_ADDRESS, 0, "the task's task_struct",
			  "struct task_struct" },
	[COLUMN_PATH] = { "path", COLUMN_TEXT, -24, "as /proc/PID/fd has it", NULL },
};

#define MODE_TYPE  0170000u /* S_IFMT */
#define MODE_SHIFT 12
#define FILE_SIZE  512 /* or more: then each member is read */

struct pass {
	struct table_scan *scan;
	const struct task *task;
	struct path_folder folder;
};

static const char *type_name(uint64_t mode)
{
	static const char *const names[16] = {
		[001] = "FIFO", [002] = "CHR", [004] = "DIR", [006] = "BLK",
		[010] = "REG",	[012] = "LNK", [014] = "SOCK"
	};
	return names[(mode & MODE_TYPE) >> MODE_SHIFT] ?: "";
}

static struct error *set_inode(struct table_scan *scan, const struct object *file)
{
	struct object inode;
	uint64_t mode;
	if (!table_wants(scan, COLUMN_INODE) && !table_wants(scan, COLUMN_INO) &&
	    !table_wants(scan, COLUMN_TYPE))
		return NULL;
	struct error *error = object_follow(file, "f_inode", &inode);
	if (error)
		return table_set_error(scan, COLUMN_INODE, error);
	table_set(scan, COLUMN_INODE, inode.address);
	TRY(table_set_member(scan, COLUMN_INO, &inode, "i_ino"));
	error = object_u64(&inode, "i_mode", &mode);
	if (error)
		return table_set_error(scan, COLUMN_TYPE, error);
	table_set_text(scan, COLUMN_TYPE, type_name(mode));
	return NULL;
}

static struct error *set_path(struct table_scan *scan, const struct object *file,
			      struct path_folder *folder)
{
	char path[PATH_SIZE];
	if (!table_wants(scan, COLUMN_PATH))
		return NULL;
	struct error *error = path_of_file(file, folder, path);
	if (error)
		return table_set_error(scan, COLUMN_PATH, error);
	table_set_text(scan, COLUMN_PATH, path);
	return NULL;
}

static struct error *visit_file(void *context, const struct open_file *open)
{
	struct pass *pass = context;
	struct table_scan *scan = pass->scan;
	struct object file;
	uint8_t bytes[FILE_SIZE];
	TRY(object_at(scan->target, "struct file", open->file, &file));
	object_load(&file, bytes, sizeof(bytes));
	table_set(scan, COLUMN_PID, (uint64_t)pass->task->pid);
	table_set_text(scan, COLUMN_COMM, pass->task->comm);
	table_set(scan, COLUMN_TASK, pass->task->address);
	table_set(scan, COLUMN_FD, open->fd);
	table_set(scan, COLUMN_FILE, open->file);
	table_set(scan, COLUMN_CLOEXEC, open->close_on_exec);
	TRY(table_set_member(scan, COLUMN_DENTRY, &file, "f_path.dentry"));
	TRY(table_set_member(scan, COLUMN_POS, &file, "f_pos"));
	TRY(table_set_member(scan, COLUMN_FLAGS, &file, "f_flags"));
	TRY(set_inode(scan, &file));
	TRY(set_path(scan, &file, &pass->folder));
	return table_emit(scan);
}

static struct error *visit_task(struct table_scan *scan, const struct task *task)
{
	struct pass pass = { .scan = scan, .task = task };
	return error_prefix(open_files_for_each(scan->target, task->address, visit_file, &pass),
			    "files");
}

static const char *const examples[] = { "files", "files 1", "files -a -o pid,comm,fd,path",
					"files | print f_mode", NULL };

const struct table table_files = {
	.name = "files",
	.summary = "open files",
	.description = "A row is a descriptor of a task that leads to an open file. Threads that "
		       "share their leader's descriptors have no rows of their own. Paths begin at "
		       "the root of the mount's namespace.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit_task = visit_task,
	.shared = "files",
	.item = COLUMN_FILE,
};
