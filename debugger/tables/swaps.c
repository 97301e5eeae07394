// SPDX-License-Identifier: GPL-3.0-or-later
/* Swap areas, as /proc/swaps has them. */
#include "debugger/kernel/path.h"

#include "base/array.h"
#include "debugger/tables/walks.h"

enum {
	COLUMN_SWAP,
	COLUMN_TYPE,
	COLUMN_FLAGS,
	COLUMN_PRIORITY,
	COLUMN_SIZE,
	COLUMN_USED,
	COLUMN_PATH
};

static const struct table_column columns[] = {
	[COLUMN_SWAP] = { "swap", COLUMN_ADDRESS, 16, "its struct swap_info_struct",
			  "struct swap_info_struct" },
	[COLUMN_TYPE] = { "type", COLUMN_INTEGER, 0, "its number in entries of page tables", NULL },
	[COLUMN_FLAGS] = { "flags", COLUMN_INTEGER, 0, "SWP_* of kernel include/linux/swap.h",
			   NULL },
	[COLUMN_PRIORITY] = { "prio", COLUMN_INTEGER, 5, "the greatest is used first", NULL },
	[COLUMN_SIZE] = { "size", COLUMN_BYTES, 7, "that it has room for", NULL },
	[COLUMN_USED] = { "used", COLUMN_BYTES, 7, "of that what is taken", NULL },
	[COLUMN_PATH] = { "path", COLUMN_TEXT, -20, "the file or device", NULL },
};

#define SWAPS_MAX 64
#define IN_USE	  3u /* SWP_USED and SWP_WRITEOK */

static struct error *set_path(struct table_scan *scan, const struct object *swap)
{
	struct object file;
	char path[PATH_SIZE];
	TRY(object_follow(swap, "swap_file", &file));
	TRY(path_of_file(&file, NULL, path));
	table_set_text(scan, COLUMN_PATH, path);
	return NULL;
}

static struct error *set_pages(struct table_scan *scan, unsigned int column,
			       const struct object *swap, const char *path)
{
	uint64_t pages;
	struct error *error = object_u64(swap, path, &pages);
	if (error)
		return table_set_error(scan, column, error);
	table_set_pages(scan, column, pages);
	return NULL;
}

static struct error *emit(struct table_scan *scan, const struct object *swap)
{
	uint64_t flags;
	TRY(object_u64(swap, "flags", &flags));
	/* A place that was used once, and may be again. */
	if (!(flags & IN_USE))
		return NULL;
	table_set(scan, COLUMN_SWAP, swap->address);
	table_set(scan, COLUMN_FLAGS, flags);
	TRY(table_set_member(scan, COLUMN_TYPE, swap, "type"));
	TRY(table_set_member(scan, COLUMN_PRIORITY, swap, "prio"));
	TRY(set_pages(scan, COLUMN_SIZE, swap, "pages"));
	/* An atomic_long_t since 6.13, whose upper bits are flags. */
	TRY(set_pages(scan, COLUMN_USED, swap,
		      object_has(swap, "inuse_pages.counter") ? "inuse_pages.counter"
							      : "inuse_pages"));
	TRY(table_set_error(scan, COLUMN_PATH, set_path(scan, swap)));
	return table_emit(scan);
}

static struct error *visit(struct table_scan *scan)
{
	struct target *target = scan->target;
	struct object counter;
	uint64_t table, count, address;
	size_t word = target->memory->word_size;
	if (!table_symbol(scan, "swap_info", &table))
		return error_create(ERROR_NOT_FOUND, "this kernel has no swap_info");
	TRY(object_variable(target, "nr_swapfiles", "unsigned int", &counter));
	TRY(object_u64(&counter, NULL, &count));
	if (count > SWAPS_MAX)
		return error_create(ERROR_FORMAT, "nr_swapfiles is more than there can be");
	for (uint64_t i = 0; i < count; i++) {
		struct object swap;
		struct error *error = memory_read_word(target->memory, table + i * word, &address);
		if (!error)
			error = object_at(target, "struct swap_info_struct", address, &swap);
		if (!error && address)
			error = emit(scan, &swap);
		TRY(table_broken(scan, error));
	}
	return NULL;
}

static const char *const examples[] = { "swaps", "swaps -o path,size,used", NULL };

const struct table table_swaps = {
	.name = "swaps",
	.alias = "swap",
	.summary = "areas of swap",
	.description = "A row is a struct swap_info_struct in use, as /proc/swaps has them.",
	.examples = examples,
	.columns = columns,
	.column_count = ARRAY_COUNT(columns),
	.visit = visit,
	.item = COLUMN_SWAP,
	.is_object = true,
};
