// SPDX-License-Identifier: GPL-3.0-or-later
/* Pipes that somebody has open: what is in them, and who has which end. */
#include "debugger/kernel/open_files.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "base/strbuf.h"
#include "debugger/tables/walks.h"
#include <inttypes.h>
#include <stdlib.h>

enum {
	COLUMN_PIPE,
	COLUMN_INODE,
	COLUMN_INO,
	COLUMN_SLOTS,
	COLUMN_SIZE,
	COLUMN_CONTENT,
	COLUMN_READERS,
	COLUMN_WRITERS,
	COLUMN_READ_BY,
	COLUMN_WRITTEN_BY
};

static const struct table_column columns[] = {
	[COLUMN_PIPE] = { "pipe", COLUMN_ADDRESS, 16, "its struct pipe_inode_info",
			  "struct pipe_inode_info" },
	[COLUMN_INODE] = { "inode", COLUMN_ADDRESS, 0, "its struct inode", "struct inode" },
	[COLUMN_INO] = { "ino", COLUMN_INTEGER, 8, "its number: pipe:[INO]", NULL },
	[COLUMN_SLOTS] = { "used", COLUMN_INTEGER, 5, "buffers that are in use", NULL },
	[COLUMN_SIZE] = { "max_usage", COLUMN_INTEGER, 9, "of so many", NULL },
	[COLUMN_CONTENT] = { "bytes", COLUMN_BYTES, 6, "that wait to be read", NULL },
	[COLUMN_READERS] = { "readers", COLUMN_INTEGER, 7, "open files at the reading end", NULL },
	[COLUMN_WRITERS] = { "writers", COLUMN_INTEGER, 7,
			     "and at the other; 0: there will be no more", NULL },
	[COLUMN_READ_BY] = { "read_by", COLUMN_TEXT, -16,
			     "pids of processes that have the reading end", NULL },
	[COLUMN_WRITTEN_BY] = { "written_by", COLUMN_TEXT, -16, "and of those that have the other",
				NULL },
};

/* f_mode of kernel include/linux/fs.h */
#define MODE_READ  1u
#define MODE_WRITE 2u
#define SLOTS_MAX  (1u << 20)
/*
 * Of all tasks, which may all lead to one table of files, and of all pipes, which may lead to one
 * array of buffers: their product has no end.
 */
#define FILES_MAX   ((uint64_t)1 << 26)
#define ENDS_MAX    ((size_t)1 << 22)
#define BUFFERS_MAX ((uint64_t)1 << 22)

/* An end that a process has open. */
struct end {
	uint64_t pipe, inode, ino, mode;
	int32_t pid;
	size_t order;
};

struct pass {
	struct table_scan *scan;
	uint64_t operations[4]; /* of files that are pipes; 0: there are no more */
	const struct task *task;
	struct end *ends;
	size_t count, capacity;
	uint64_t files_left, buffers_left;
};

static bool is_pipe(const struct pass *pass, uint64_t operations)
{
	for (size_t i = 0; i < ARRAY_COUNT(pass->operations) && pass->operations[i]; i++)
		if (pass->operations[i] == operations)
			return true;
	return false;
}

static struct error *visit_file(void *context, const struct open_file *open)
{
	struct pass *pass = context;
	struct object file, inode;
	struct end end = { .pid = pass->task->tgid, .order = pass->count };
	uint64_t operations;
	if (!pass->files_left)
		return error_create(ERROR_FORMAT, "more than %" PRIu64 " files are open",
				    FILES_MAX);
	pass->files_left--;
	TRY(object_at(pass->scan->target, "struct file", open->file, &file));
	TRY(object_u64(&file, "f_op", &operations));
	if (!is_pipe(pass, operations))
		return NULL;
	if (pass->count >= ENDS_MAX)
		return error_create(ERROR_FORMAT, "more than %zu ends of pipes are open", ENDS_MAX);
	TRY(object_u64(&file, "f_mode", &end.mode));
	TRY(object_follow(&file, "f_inode", &inode));
	TRY(object_u64(&inode, "i_pipe", &end.pipe));
	TRY(object_u64(&inode, "i_ino", &end.ino));
	end.inode = inode.address;
	if (!array_reserve(&pass->ends, &pass->capacity, pass->count + 1))
		return error_no_memory();
	pass->ends[pass->count++] = end;
	return NULL;
}

static struct error *visit_task(void *context, const struct task *task)
{
	struct pass *pass = context;
	pass->task = task;
	if (task->pid != task->tgid)
		return NULL;
	struct error *error =
		open_files_for_each(pass->scan->target, task->address, visit_file, pass);
	return table_broken(pass->scan, error_prefix(error, "task %d", task->pid));
}

static int by_pipe(const void *left, const void *right)
{
	const struct end *a = left, *b = right;
	if (a->pipe != b->pipe)
		return a->pipe < b->pipe ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/* In the buffers from tail to head, which count on and wrap. */
static struct error *set_content(struct pass *pass, const struct object *pipe)
{
	struct table_scan *scan = pass->scan;
	struct object buffer;
	uint64_t head, tail, slots, size, length, sum = 0;
	TRY(object_u64(pipe, "head", &head));
	TRY(object_u64(pipe, "tail", &tail));
	TRY(object_u64(pipe, "ring_size", &slots));
	uint32_t used = (uint32_t)(head - tail);
	if (!slots || slots > SLOTS_MAX || slots & (slots - 1) || used > slots)
		return error_create(ERROR_FORMAT,
				    "pipe 0x%" PRIx64 " has %" PRIu32 " buffers of %" PRIu64,
				    pipe->address, used, slots);
	table_set(scan, COLUMN_SLOTS, used);
	if (!table_wants(scan, COLUMN_CONTENT))
		return NULL;
	if (used > pass->buffers_left)
		return error_create(ERROR_FORMAT, "pipes have more than %" PRIu64 " buffers",
				    BUFFERS_MAX);
	pass->buffers_left -= used;
	TRY(object_follow(pipe, "bufs", &buffer));
	if (!type_size(buffer.type, &size))
		return NULL;
	uint64_t first = buffer.address;
	for (uint32_t i = 0; i < used; i++) {
		buffer.address = first + ((tail + i) & (slots - 1)) * size;
		TRY(interrupt_check());
		TRY(object_u64(&buffer, "len", &length));
		sum += length;
	}
	table_set(scan, COLUMN_CONTENT, sum);
	return NULL;
}

static void set_pids(struct table_scan *scan, unsigned int column, const struct end *ends,
		     size_t count, uint64_t mode)
{
	struct strbuf text = { 0 };
	int32_t last = -1;
	for (size_t i = 0; i < count; i++) {
		if (!(ends[i].mode & mode) || ends[i].pid == last)
			continue;
		last = ends[i].pid;
		strbuf_format(&text, "%s%" PRId32, text.size ? "," : "", last);
	}
	strbuf_bytes(&text, "", 1);
	if (!text.failed)
		table_set_text(scan, column, text.data);
	strbuf_deinit(&text);
}

static struct error *visit_pipe(struct pass *pass, const struct end *ends, size_t count)
{
	struct table_scan *scan = pass->scan;
	struct object pipe;
	TRY(object_at(scan->target, "struct pipe_inode_info", ends->pipe, &pipe));
	table_set(scan, COLUMN_PIPE, ends->pipe);
	table_set(scan, COLUMN_INODE, ends->inode);
	table_set(scan, COLUMN_INO, ends->ino);
	TRY(table_set_error(scan, COLUMN_CONTENT, set_content(pass, &pipe)));
	TRY(table_set_member(scan, COLUMN_SIZE, &pipe, "max_usage"));
	TRY(table_set_member(scan, COLUMN_READERS, &pipe, "readers"));
	TRY(table_set_member(scan, COLUMN_WRITERS, &pipe, "writers"));
	set_pids(scan, COLUMN_READ_BY, ends, count, MODE_READ);
	set_pids(scan, COLUMN_WRITTEN_BY, ends, count, MODE_WRITE);
	return table_emit(scan);
}

static struct error *visit_all(struct pass *pass)
{
	struct error *problem = NULL;
	struct error *error = task_for_each(pass->scan->target, visit_task, pass, &problem);
	if (error) {
		error_free(problem);
		return error;
	}
	TRY(table_broken(pass->scan, problem));
	array_sort(pass->ends, pass->count, sizeof(*pass->ends), by_pipe);
	for (size_t i = 0, next; i < pass->count; i = next) {
		for (next = i + 1;
		     next < pass->count && pass->ends[next].pipe == pass->ends[i].pipe;)
			next++;
		TRY(visit_pipe(pass, &pass->ends[i], next - i));
	}
	return NULL;
}

static struct error *visit(struct table_scan *scan)
{
	/* Those of names in a folder are called otherwise since 25a6cc9a630b (6.15). */
	static const char *const names[] = { "pipefifo_fops", "pipeanon_fops" };
	struct pass pass = { .scan = scan, .files_left = FILES_MAX, .buffers_left = BUFFERS_MAX };
	size_t found = 0;
	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		found += table_symbol(scan, names[i], &pass.operations[found]);
	if (!found)
		return error_create(ERROR_NOT_FOUND, "the kernel has no symbol %s", names[0]);
	struct error *error = visit_all(&pass);
	free(pass.ends);
	return error;
}

static const char *const examples[] = { "pipes", "pipes --where 'used = max_usage'",
					"pipes --where \"written_by = ''\"", NULL };

const struct table table_pipes = {
	.name = "pipes",
	.summary = "pipes, and who has their ends",
	.description = "A row is a pipe, or a FIFO, that a process has open.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_PIPE,
	.is_object = true,
};
