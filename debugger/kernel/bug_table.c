// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/bug_table.h"

#include <stdlib.h>

#define FLAG_WARNING 1 /* BUGFLAG_WARNING, BUGFLAG_ONCE */
#define FLAG_ONCE    2
#define TABLE_MAX    (16u << 20) /* bytes of one */

struct table {
	struct target *target;
	uint64_t start, size; /* bytes */
	struct object entry;  /* its type; the address changes */
	uint64_t entry_size;
};

/* An address that is stored as a distance from where it is stored. */
static struct error *read_relative(const struct object *entry, const char *member, uint64_t *ret)
{
	struct object field;
	uint64_t distance;
	TRY(object_member(entry, member, &field));
	TRY(object_u64(&field, NULL, &distance));
	*ret = field.address + distance;
	return NULL;
}

static struct error *read_bug(const struct object *entry, struct bug *ret)
{
	uint64_t flags = 0, file;
	size_t length;
	*ret = (struct bug){ .entry = entry->address };
	TRY(object_u64(entry, "flags", &flags));
	ret->is_warning = flags & FLAG_WARNING;
	ret->is_once = flags & FLAG_ONCE;
	/* A kernel without CONFIG_DEBUG_BUGVERBOSE has no places. */
	if (!object_has(entry, "file_disp") || !object_has(entry, "line"))
		return NULL;
	TRY(object_u64(entry, "line", &ret->line));
	TRY(read_relative(entry, "file_disp", &file));
	return memory_read_string(entry->target->memory, file, ret->file, sizeof(ret->file),
				  &length);
}

static struct error *find_in(struct table *table, uint64_t pc, uint64_t hint, bool *ret_found,
			     struct bug *ret)
{
	uint64_t count = table->size / table->entry_size, address;
	struct object entry = table->entry;
	if (hint >= table->start && hint - table->start < count * table->entry_size &&
	    !((hint - table->start) % table->entry_size)) {
		entry.address = hint;
		*ret_found = true;
		return read_bug(&entry, ret);
	}
	for (uint64_t i = 0; i < count; i++) {
		entry.address = table->start + i * table->entry_size;
		TRY(read_relative(&entry, "bug_addr_disp", &address));
		if (address != pc)
			continue;
		*ret_found = true;
		return read_bug(&entry, ret);
	}
	return NULL;
}

static struct error *find_table(struct target *target, uint64_t pc, struct table *ret)
{
	const struct module *module = target_module_at(target, pc);
	uint64_t end, count;
	TRY(object_at(target, "struct bug_entry", 0, &ret->entry));
	if (!object_has(&ret->entry, "bug_addr_disp") ||
	    !type_size(ret->entry.type, &ret->entry_size) || !ret->entry_size)
		return error_create(ERROR_NOT_FOUND, "the kernel's bug_entry is another one");
	ret->target = target;
	if (module) {
		struct object object;
		TRY(object_at(target, "struct module", module->address, &object));
		TRY(object_u64(&object, "bug_table", &ret->start));
		TRY(object_u64(&object, "num_bugs", &count));
		if (count > TABLE_MAX / ret->entry_size)
			return error_create(ERROR_FORMAT, "bug table: %llu entries are too many",
					    (unsigned long long)count);
		ret->size = count * ret->entry_size;
		return NULL;
	}
	if (!symtab_address(target->symbols, "__start___bug_table", &ret->start) ||
	    !symtab_address(target->symbols, "__stop___bug_table", &end) || end < ret->start ||
	    end - ret->start > TABLE_MAX)
		return error_create(ERROR_NOT_FOUND, "no bug table");
	ret->size = end - ret->start;
	return NULL;
}

struct error *bug_find(struct target *target, uint64_t pc, uint64_t hint, bool *ret_found,
		       struct bug *ret)
{
	struct table table;
	*ret_found = false;
	TRY(find_table(target, pc, &table));
	return find_in(&table, pc, hint, ret_found, ret);
}
