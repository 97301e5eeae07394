// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * All that tasks have open, by what it leads to: the files of their tables (fs/file.c).
 * What cannot be read is nobody's, and is noted: somebody else may have what one alone was seen to
 * have.
 */
#include "debugger/analysis/waits_private.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/interrupt.h"

/* Open files, and places for them, that are looked at in all tasks together. */
#define FILES_MAX     (1u << 18)
#define SLOTS_MAX     (1u << 22)
#define SLOTS_AT_ONCE 512u

/* A table of open files, and one of the tasks that share it: the first thread, if that does. */
struct table {
	uint64_t address;
	const struct task *task;
};

struct loading {
	struct wait_world *world;
	uint64_t mode, data; /* offsets in struct file */
	size_t slots_left;
};

static int compare_tables(const void *a, const void *b)
{
	const struct table *one = a, *other = b;
	if (one->address != other->address)
		return one->address < other->address ? -1 : 1;
	int first = one->task->pid == one->task->tgid,
	    second = other->task->pid == other->task->tgid;
	if (first != second)
		return second - first;
	return one->task->address < other->task->address
		       ? -1
		       : one->task->address > other->task->address;
}

static int compare_files(const void *a, const void *b)
{
	const struct wait_file *one = a, *other = b;
	if (one->data != other->data)
		return one->data < other->data ? -1 : 1;
	if (one->file != other->file)
		return one->file < other->file ? -1 : 1;
	return one->table < other->table ? -1 : one->table > other->table;
}

static struct error *keep_file(struct loading *loading, const struct table *table, uint64_t file)
{
	struct wait_world *world = loading->world;
	struct memory *memory = world->target->memory;
	uint32_t mode;
	uint64_t data = 0;
	struct error *why = memory_read_u32(memory, file + loading->mode, &mode);
	if (!why)
		why = memory_read_word(memory, file + loading->data, &data);
	world->files_unread |= why != NULL;
	bool is_read = !why;
	error_free(why);
	if (!is_read || !data)
		return NULL;
	if (world->file_count >= FILES_MAX) {
		world->files_cut = true;
		return NULL;
	}
	if (!array_reserve(&world->files, &world->file_capacity, world->file_count + 1))
		return error_no_memory();
	world->files[world->file_count++] = (struct wait_file){ .data = data,
								.file = file,
								.table = table->address,
								.task = table->task->address,
								.mode = mode };
	return NULL;
}

static struct error *load_table(struct loading *loading, const struct table *table)
{
	struct wait_world *world = loading->world;
	struct memory *memory = world->target->memory;
	uint8_t bytes[SLOTS_AT_ONCE * 8];
	uint64_t fdt, slots, array;
	TRY(interrupt_check());
	if (!wait_read(world, "struct files_struct", table->address, "fdt", &fdt) ||
	    !wait_read(world, "struct fdtable", fdt, "max_fds", &slots) ||
	    !wait_read(world, "struct fdtable", fdt, "fd", &array)) {
		world->files_unread = true;
		return NULL;
	}
	slots = (uint32_t)slots;
	world->files_cut |= slots > loading->slots_left;
	if (slots > loading->slots_left)
		slots = loading->slots_left;
	loading->slots_left -= slots;
	while (slots) {
		struct error *why;
		TRY(interrupt_check());
		size_t wanted = (slots < SLOTS_AT_ONCE ? slots : SLOTS_AT_ONCE) * 8;
		size_t size = memory_read_some(memory, array, bytes, wanted, &why);
		error_free(why);
		for (size_t i = 0; i + 8 <= size; i += 8) {
			uint64_t file = load_unsigned(bytes + i, 8, memory->big_endian);
			if (file)
				TRY(keep_file(loading, table, file));
		}
		if (size < wanted) {
			world->files_unread = true;
			break;
		}
		array += size;
		slots -= size / 8;
	}
	return NULL;
}

static struct error *load_tables(struct loading *loading, struct table *tables)
{
	struct wait_world *world = loading->world;
	size_t count = 0;
	for (size_t i = 0; i < world->task_count; i++) {
		struct table *table = &tables[count];
		table->task = &world->tasks[i];
		if (!wait_read(world, "struct task_struct", table->task->address, "files",
			       &table->address))
			world->files_unread = true;
		else if (table->address)
			count++;
	}
	array_sort(tables, count, sizeof(*tables), compare_tables);
	for (size_t i = 0; i < count; i++)
		if (!i || tables[i].address != tables[i - 1].address)
			TRY(load_table(loading, &tables[i]));
	array_sort(world->files, world->file_count, sizeof(*world->files), compare_files);
	return NULL;
}

struct error *wait_load_files(struct wait_world *world)
{
	struct loading loading = { .world = world, .slots_left = SLOTS_MAX };
	if (world->files_loaded)
		return NULL;
	world->files_loaded = true;
	if (!wait_offset(world, "struct file", "f_mode", &loading.mode) ||
	    !wait_offset(world, "struct file", "private_data", &loading.data)) {
		world->files_unread = true;
		return NULL;
	}
	struct table *tables = malloc((world->task_count + 1) * sizeof(*tables));
	if (!tables)
		return error_no_memory();
	struct error *error = load_tables(&loading, tables);
	free(tables);
	return error;
}
