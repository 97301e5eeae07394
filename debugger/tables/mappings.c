// SPDX-License-Identifier: GPL-3.0-or-later
/* Mappings of processes. */
#include "debugger/kernel/mappings.h"

#include "base/array.h"
#include "debugger/kernel/path.h"
#include "debugger/tables/table.h"
#include <inttypes.h>

enum {
	COLUMN_PID,
	COLUMN_COMM,
	COLUMN_VMA,
	COLUMN_START,
	COLUMN_END,
	COLUMN_SIZE,
	COLUMN_PERMS,
	COLUMN_FLAGS,
	COLUMN_OFFSET,
	COLUMN_INO,
	COLUMN_FILE,
	COLUMN_MM,
	COLUMN_TASK,
	COLUMN_PATH,
};

static const struct table_column columns[] = {
	[COLUMN_PID] = { "pid", COLUMN_INTEGER, 7, "of the task", NULL },
	[COLUMN_COMM] = { "comm", COLUMN_TEXT, -15, "the task's name", NULL },
	[COLUMN_VMA] = { "vma", COLUMN_ADDRESS, 16, "its struct vm_area_struct",
			 "struct vm_area_struct" },
	[COLUMN_START] = { "start", COLUMN_ADDRESS, 16, "the process's first address in it", NULL },
	[COLUMN_END] = { "end", COLUMN_ADDRESS, 16, "the first one behind it", NULL },
	[COLUMN_SIZE] = { "size", COLUMN_BYTES, 5, "from start to end", NULL },
	[COLUMN_PERMS] = { "perms", COLUMN_TEXT, -5, "read, write, execute; s: shared, p: private",
			   NULL },
	[COLUMN_FLAGS] = { "flags", COLUMN_WIDE, 0, "VM_* of the kernel", NULL },
	[COLUMN_OFFSET] = { "offset", COLUMN_WIDE, 0, "in the file, bytes", NULL },
	[COLUMN_INO] = { "ino", COLUMN_WIDE, 0, "number of the file's inode", NULL },
	[COLUMN_FILE] = { "file", COLUMN_ADDRESS, 0, "its struct file", "struct file" },
	[COLUMN_MM] = { "mm", COLUMN_ADDRESS, 0, "the process's struct mm_struct",
			"struct mm_struct" },
	[COLUMN_TASK] = { "task", COLUMN_ADDRESS, 0, "the task's task_struct",
			  "struct task_struct" },
	[COLUMN_PATH] = { "path", COLUMN_TEXT, -24, "of the file; [heap], [stack], [vdso]", NULL },
};

#define PAGE_SHIFT 12
/* kernel include/linux/mm.h */
#define VM_READ	    0x01u
#define VM_WRITE    0x02u
#define VM_EXEC	    0x04u
#define VM_MAYSHARE 0x80u

struct pass {
	struct table_scan *scan;
	const struct task *task;
	struct object mm;
};

static struct error *set_range(struct table_scan *scan, const struct object *vma)
{
	uint64_t start, end;
	TRY(object_u64(vma, "vm_start", &start));
	TRY(object_u64(vma, "vm_end", &end));
	table_set(scan, COLUMN_START, start);
	table_set(scan, COLUMN_END, end);
	table_set(scan, COLUMN_SIZE, end - start);
	return NULL;
}

static struct error *set_flags(struct table_scan *scan, const struct object *vma)
{
	uint64_t flags;
	struct error *error = object_u64(vma, "vm_flags", &flags);
	if (error)
		return table_set_error(scan, COLUMN_FLAGS, error);
	const char text[] = { flags & VM_READ ? 'r' : '-', flags & VM_WRITE ? 'w' : '-',
			      flags & VM_EXEC ? 'x' : '-', flags & VM_MAYSHARE ? 's' : 'p', 0 };
	table_set(scan, COLUMN_FLAGS, flags);
	table_set_text(scan, COLUMN_PERMS, text);
	return NULL;
}

static struct error *set_file(struct table_scan *scan, const struct object *vma)
{
	struct object file, inode;
	uint64_t page;
	TRY(object_follow(vma, "vm_file", &file));
	if (!file.address)
		return NULL;
	table_set(scan, COLUMN_FILE, file.address);
	TRY(object_u64(vma, "vm_pgoff", &page));
	table_set(scan, COLUMN_OFFSET, page << PAGE_SHIFT);
	if (!table_wants(scan, COLUMN_INO))
		return NULL;
	TRY(object_follow(&file, "f_inode", &inode));
	return table_set_member(scan, COLUMN_INO, &inode, "i_ino");
}

static struct error *set_path(struct table_scan *scan, const struct object *mm,
			      const struct object *vma)
{
	char path[PATH_SIZE];
	TRY(mapping_name(mm, vma, path, sizeof(path)));
	table_set_text(scan, COLUMN_PATH, path);
	return NULL;
}

static struct error *visit_vma(void *context, const struct object *vma)
{
	const struct pass *pass = context;
	struct table_scan *scan = pass->scan;
	table_set(scan, COLUMN_PID, (uint64_t)pass->task->pid);
	table_set_text(scan, COLUMN_COMM, pass->task->comm);
	table_set(scan, COLUMN_TASK, pass->task->address);
	table_set(scan, COLUMN_MM, pass->mm.address);
	table_set(scan, COLUMN_VMA, vma->address);
	TRY(table_set_error(scan, COLUMN_START, set_range(scan, vma)));
	TRY(set_flags(scan, vma));
	TRY(table_set_error(scan, COLUMN_FILE, set_file(scan, vma)));
	if (table_wants(scan, COLUMN_PATH))
		TRY(table_set_error(scan, COLUMN_PATH, set_path(scan, &pass->mm, vma)));
	return table_emit(scan);
}

static struct error *broken(void *context, struct error *problem)
{
	const struct pass *pass = context;
	return table_broken(pass->scan, problem);
}

static struct error *visit_task(struct table_scan *scan, const struct task *task)
{
	struct pass pass = { .scan = scan, .task = task };
	const struct mapping_visitor visitor = { visit_vma, broken, &pass };
	struct object object;
	TRY(object_at(scan->target, "struct task_struct", task->address, &object));
	TRY(object_follow(&object, "mm", &pass.mm));
	/* Kernel threads have none. */
	if (!pass.mm.address)
		return NULL;
	return error_prefix(mappings_for_each(scan->target, pass.mm.address, &visitor),
			    "mm 0x%" PRIx64, pass.mm.address);
}

static const char *const examples[] = { "mappings", "mappings 1",
					"mappings -a -o pid,comm,size,perms,path",
					"mappings 1 | print {vm_page_prot, vm_pgoff}", NULL };

const struct table table_mappings = {
	.name = "mappings",
	.alias = "vm",
	.summary = "memory mappings of processes",
	.description =
		"A row is a struct vm_area_struct, as /proc/PID/maps has them. Kernel threads "
		"have none, and threads of a process share theirs.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit_task = visit_task,
	.shared = "mm",
	.item = COLUMN_VMA,
};
