// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/open_files.h"

#include "base/interrupt.h"
#include <inttypes.h>

/* Far more than any kernel is set to (fs.nr_open); more than that is damage. */
#define FILES_MAX (1u << 24)
#define WORD_BITS 64u

struct table {
	struct target *target;
	uint64_t files, open, close; /* addresses of fd[], open_fds[], close_on_exec[] */
	uint64_t count;
};

/* PF_EXITING, and PF_USER_WORKER since 6.4: tasks that have no files, or no longer. */
#define FLAGS_OF_NO_FILES (0x4u | 0x4000u)

static struct error *check_has_none(const struct object *task)
{
	uint64_t flags;
	TRY(object_u64(task, "flags", &flags));
	return flags & FLAGS_OF_NO_FILES ? NULL
					 : error_create(ERROR_FORMAT,
							"the files of task 0x%" PRIx64
							" are NULL, though it is not exiting",
							task->address);
}

static struct error *find_table(struct target *target, uint64_t task, struct table *ret)
{
	struct object object, files, table;
	*ret = (struct table){ .target = target };
	TRY(object_at(target, "struct task_struct", task, &object));
	TRY(object_follow(&object, "files", &files));
	if (!files.address)
		return check_has_none(&object);
	TRY(object_follow(&files, "fdt", &table));
	TRY(object_u64(&table, "max_fds", &ret->count));
	TRY(object_u64(&table, "fd", &ret->files));
	TRY(object_u64(&table, "open_fds", &ret->open));
	TRY(object_u64(&table, "close_on_exec", &ret->close));
	/* The first one of a files_struct lies in it, and has a word of bits. */
	if (!ret->count || ret->count > FILES_MAX)
		return error_create(ERROR_FORMAT, "fdtable 0x%" PRIx64 " has %" PRIu64 " entries",
				    table.address, ret->count);
	return NULL;
}

/* The descriptors of one word of bits. */
static struct error *visit_word(const struct table *table, uint64_t first, uint64_t open,
				open_file_visitor *visit, void *context)
{
	struct memory *memory = table->target->memory;
	uint64_t close;
	TRY(memory_read_u64(memory, table->close + first / 8, &close));
	for (; open; open &= open - 1) {
		unsigned int bit = (unsigned int)__builtin_ctzll(open);
		struct open_file file = { .fd = (uint32_t)first + bit,
					  .close_on_exec = close >> bit & 1 };
		TRY(interrupt_check());
		TRY(memory_read_word(memory, table->files + file.fd * 8ull, &file.file));
		/* Taken, but not yet open. */
		if (file.file && file.fd < table->count)
			TRY(visit(context, &file));
	}
	return NULL;
}

struct error *open_files_for_each(struct target *target, uint64_t task, open_file_visitor *visit,
				  void *context)
{
	struct table table;
	TRY(find_table(target, task, &table));
	for (uint64_t first = 0; first < table.count; first += WORD_BITS) {
		uint64_t open;
		TRY(memory_read_u64(target->memory, table.open + first / 8, &open));
		if (open)
			TRY(visit_word(&table, first, open, visit, context));
	}
	return NULL;
}
