// SPDX-License-Identifier: GPL-3.0-or-later
#include "vmcore/raw.h"

#include "base/bytes.h"
#include "vmcore/physical.h"
#include "vmcore/search.h"
#include <stdlib.h>

#define PAGE	      4096u
#define IMAGE_SIZE    ((uint64_t)64 << 20) /* of the kernel, from _stext on, where its data ends */
#define SIZE_MIN      ((uint64_t)4 << 20)  /* no kernel is smaller */
#define TABLES_MAX    8192u
#define ENTRIES	      512u
#define ENTRY_PRESENT 1u
#define ENTRY_LARGE   0x80u
#define ENTRY_ADDRESS 0x000ffffffffff000u

/* A layout that is tried. */
struct attempt {
	struct elf_core *core;
	struct memory *memory;
};

static void attempt_deinit(struct attempt *attempt)
{
	physical_memory_destroy(attempt->memory);
	elf_core_close(attempt->core);
	*attempt = (struct attempt){ 0 };
}

static struct error *attempt_init(struct attempt *attempt, const struct dump_file *file,
				  const struct elf_runs *runs)
{
	*attempt = (struct attempt){ 0 };
	struct error *error = elf_core_of_runs(file, runs, &attempt->core);
	struct physical_source source = { .page_size = PAGE, .word_size = 8 };
	if (!error) {
		source.core = attempt->core;
		error = physical_memory_create(&source, &attempt->memory);
	}
	if (error)
		attempt_deinit(attempt);
	return error;
}

/* --- does a layout hold? ---------------------------------------------------------- */

struct tables {
	struct memory *memory;
	unsigned int seen, lost;
};

/* Counts the tables below one of x86-64 that are not where memory is. */
static void count_tables(struct tables *tables, uint64_t table, unsigned int level,
			 unsigned int first)
{
	uint8_t bytes[PAGE];
	if (tables->seen++ >= TABLES_MAX)
		return;
	struct error *error = memory_read(tables->memory, table, bytes, sizeof(bytes));
	if (error) {
		error_free(error);
		tables->lost++;
		return;
	}
	for (unsigned int i = first; level > 1 && i < ENTRIES; i++) {
		uint64_t entry = load_u64(bytes + (size_t)8 * i, false);
		bool is_table = level > 3 || !(entry & ENTRY_LARGE);
		if (entry & ENTRY_PRESENT && is_table)
			count_tables(tables, entry & ENTRY_ADDRESS, level - 1, 0);
	}
}

/* How many in a thousand of the kernel's page tables are lost; -1: it is not this layout. */
static int judge(struct memory *memory, const struct vmcoreinfo *info)
{
	struct tables tables = { .memory = memory };
	uint64_t root, physical;
	int64_t five_levels = 0;
	if (!search_fits(memory, info))
		return -1;
	/* Another machine's tables are not known here. */
	if (!vmcoreinfo_get(info, "NUMBER(phys_base)") ||
	    !vmcoreinfo_hex(info, "SYMBOL(swapper_pg_dir)", &root) ||
	    !vmcoreinfo_image_physical(info, root, &physical))
		return 0;
	vmcoreinfo_number(info, "NUMBER(pgtable_l5_enabled)", &five_levels);
	count_tables(&tables, physical & ENTRY_ADDRESS, five_levels ? 5 : 4, ENTRIES / 2);
	return (int)(tables.lost * 1000 / tables.seen);
}

/* --- the search --------------------------------------------------------------------- */

/* Maps lie in the kernel's image; when that is not where it should be, anywhere. */
static struct error *find_layouts(const struct dump_file *file, struct memory *plain,
				  const struct vmcoreinfo *info, struct raw_layouts *layouts)
{
	uint64_t stext, physical;
	if (search_fits(plain, info) && vmcoreinfo_hex(info, "SYMBOL(_stext)", &stext) &&
	    vmcoreinfo_image_physical(info, stext, &physical)) {
		struct error *error = raw_find_layouts(file, physical, IMAGE_SIZE, layouts);
		if (error || layouts->maps)
			return error;
	}
	return raw_find_layouts(file, 0, file->size, layouts);
}

/* Keeps the best: of equals the first, and `plain` when no other is better. */
static struct error *choose(const struct dump_file *file, const struct vmcoreinfo *info,
			    const struct raw_layouts *layouts, struct attempt *best, int *ret)
{
	int lost = judge(best->memory, info);
	for (size_t i = 0; i < layouts->count; i++) {
		struct attempt other;
		struct error *error = attempt_init(&other, file, &layouts->items[i]);
		if (error)
			return error;
		int its = judge(other.memory, info);
		if (its >= 0 && (lost < 0 || its < lost)) {
			struct attempt worse = *best;
			*best = other;
			other = worse;
			lost = its;
		}
		attempt_deinit(&other);
	}
	*ret = lost;
	return NULL;
}

static struct error *open_attempt(const struct dump_file *file, const struct vmcoreinfo *given,
				  struct attempt *best, struct vmcoreinfo **ret_info, int *ret_lost)
{
	struct elf_run all = { 0, file->size, 0 };
	struct elf_runs runs = { &all, 1, 1 };
	struct raw_layouts layouts = { .count = 0 };
	struct error *error = attempt_init(best, file, &runs);
	if (!error && !given)
		error = search_vmcoreinfo(best->memory, ret_info);
	if (error && error->kind == ERROR_NOT_FOUND) {
		error_free(error);
		return NULL;
	}
	const struct vmcoreinfo *info = given ? given : *ret_info;
	if (!error)
		error = find_layouts(file, best->memory, info, &layouts);
	if (!error)
		error = choose(file, info, &layouts, best, ret_lost);
	raw_layouts_deinit(&layouts);
	return error;
}

struct error *raw_open(const struct dump_file *file, const struct vmcoreinfo *given, bool certain,
		       struct elf_core **ret, struct vmcoreinfo **ret_info, bool *ret_has_hole)
{
	struct attempt best = { 0 };
	struct vmcoreinfo *info = NULL;
	int lost = -1;
	struct error *error = NULL;
	/* A flattened stream is no image, and a few bytes of it can promise exabytes. */
	if (!file->extents && (certain || file->size >= SIZE_MIN))
		error = open_attempt(file, given, &best, &info, &lost);
	if (!error && (!best.core || (lost < 0 && !certain)))
		error = error_create(ERROR_NOT_FOUND, "%s: no kernel in it", file->path);
	if (error) {
		vmcoreinfo_free(info);
		attempt_deinit(&best);
		return error;
	}
	*ret = best.core;
	*ret_info = info;
	*ret_has_hole = best.core->data.count > 1;
	best.core = NULL;
	attempt_deinit(&best);
	return NULL;
}
