// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Lines of source, as far as the kernel itself keeps them: its table of BUG() and WARN() has file
 * and line of each trap. That holds for the trap's own instruction and for nothing around it, so
 * each becomes a sequence that ends right behind it.
 */
#include "base/array.h"
#include "debugger/export/exporting.h"
#include "debugger/kernel/bug_table.h"
#include <stdlib.h>
#include <string.h>

#define LINES_MAX 400000 /* Debian's 6.12 has 20,000 */
#define FILES_MAX 20000	 /* 2,000 */
#define TRAP_SIZE 2

struct collecting {
	struct exporting *exporting;
	const struct module *module; /* NULL: the kernel */
};

/* The number of a name that is kept; *ret HASH_NONE: there are too many. */
static struct error *keep_name(struct exported_lines *lines, const char *name, uint32_t *ret)
{
	uint32_t hash = hash_string(name), number;
	size_t position = hash_index_first(&lines->index, hash);
	while ((number = hash_index_next(&lines->index, hash, &position)) != HASH_NONE)
		if (!strcmp(lines->names[number], name))
			break;
	*ret = number;
	if (number != HASH_NONE || lines->name_count == FILES_MAX)
		return NULL;
	if (!array_reserve(&lines->names, &lines->name_capacity, lines->name_count + 1))
		return error_no_memory();
	char *copy = strdup(name);
	number = (uint32_t)lines->name_count;
	if (!copy || !hash_index_add(&lines->index, hash, number)) {
		free(copy);
		return error_no_memory();
	}
	lines->names[lines->name_count++] = copy;
	*ret = number;
	return NULL;
}

/* Is there an `ud2`, as the table says? */
static struct error *is_trap(const struct collecting *collecting, uint64_t address, bool *ret)
{
	struct target *target = collecting->exporting->target;
	uint8_t bytes[TRAP_SIZE] = { 0 };
	*ret = false;
	if (target_module_at(target, address) != collecting->module ||
	    !symtab_is_text(target->symbols, address))
		return NULL;
	struct error *error = memory_read(target->memory, address, bytes, sizeof(bytes));
	*ret = !error && bytes[0] == 0x0f && bytes[1] == 0x0b;
	return error_only_fatal(error);
}

static struct error *add_line(void *context, const struct module *module, const struct bug *bug)
{
	struct collecting *collecting = context;
	struct exported_lines *lines = &collecting->exporting->lines;
	uint32_t file;
	bool is_there;
	(void)module;
	if (bug->is_near || !*bug->file || !bug->line || bug->line > INT32_MAX ||
	    lines->count == LINES_MAX)
		return NULL;
	TRY(is_trap(collecting, bug->address, &is_there));
	if (!is_there)
		return NULL;
	TRY(keep_name(lines, bug->file, &file));
	if (file == HASH_NONE)
		return NULL;
	if (!array_reserve(&lines->items, &lines->capacity, lines->count + 1))
		return error_no_memory();
	lines->items[lines->count++] =
		(struct dwarf_line){ .address = link_address(collecting->exporting, bug->address),
				     .line = (uint32_t)bug->line,
				     .file = file,
				     .size = TRAP_SIZE };
	return NULL;
}

static int compare_lines(const void *a, const void *b)
{
	const struct dwarf_line *left = a, *right = b;
	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	if (left->file != right->file)
		return left->file < right->file ? -1 : 1;
	return left->line < right->line ? -1 : left->line > right->line;
}

/* Of one instruction that has several entries none is proved. */
static void make_unique(struct exported_lines *lines)
{
	size_t kept = 0, end;
	for (size_t i = 0; i < lines->count; i = end) {
		end = i + 1;
		while (end < lines->count && lines->items[end].address == lines->items[i].address)
			end++;
		if (end == i + 1)
			lines->items[kept++] = lines->items[i];
	}
	lines->count = kept;
}

static struct error *collect_from(struct exporting *exporting, const struct module *module)
{
	struct collecting collecting = { exporting, module };
	return error_only_fatal(bug_each_of(exporting->target, module, add_line, &collecting));
}

struct error *export_collect_lines(struct exporting *exporting)
{
	struct exported_lines *lines = &exporting->lines;
	if (!hash_index_init(&lines->index, 4096))
		return error_no_memory();
	if (!exporting->only)
		TRY(collect_from(exporting, NULL));
	for (size_t i = 0; i < exporting->module_count; i++)
		if (exporting->modules[i].btf)
			TRY(collect_from(exporting, &exporting->module_list[i]));
	array_sort(lines->items, lines->count, sizeof(*lines->items), compare_lines);
	make_unique(lines);
	return NULL;
}

size_t exported_lines_from(const struct exported_lines *lines, uint64_t address)
{
	return array_bound(lines->count, i, lines->items[i].address < address);
}

void exported_lines_deinit(struct exported_lines *lines)
{
	for (size_t i = 0; i < lines->name_count; i++)
		free(lines->names[i]);
	free(lines->names);
	free(lines->items);
	hash_index_deinit(&lines->index);
}
