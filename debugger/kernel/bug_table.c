// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/bug_table.h"

#include "base/interrupt.h"
#include <stdlib.h>

#define FLAG_WARNING 1 /* BUGFLAG_WARNING, BUGFLAG_ONCE */
#define FLAG_ONCE    2
#define FLAG_ARGS    0x10	 /* BUGFLAG_ARGS, since 6.19 */
#define TABLE_MAX    (16u << 20) /* bytes of one */
#define ENTRIES_MAX  (1u << 20)	 /* of a walk over all of them */

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
	TRY(read_relative(entry, "bug_addr_disp", &ret->address));
	TRY(object_u64(entry, "flags", &flags));
	ret->is_near = flags & FLAG_ARGS;
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

static struct error *prepare_table(struct target *target, struct table *ret)
{
	*ret = (struct table){ .target = target };
	TRY(object_at(target, "struct bug_entry", 0, &ret->entry));
	if (!object_has(&ret->entry, "bug_addr_disp") ||
	    !type_size(ret->entry.type, &ret->entry_size) || !ret->entry_size)
		return error_create(ERROR_NOT_FOUND, "the kernel's bug_entry is another one");
	return NULL;
}

/* `module` NULL: the kernel's. */
static struct error *find_table(const struct module *module, struct table *table)
{
	struct target *target = table->target;
	uint64_t end, count;
	if (module) {
		struct object object;
		TRY(object_at(target, "struct module", module->address, &object));
		TRY(object_u64(&object, "bug_table", &table->start));
		TRY(object_u64(&object, "num_bugs", &count));
		if (count > TABLE_MAX / table->entry_size)
			return error_create(ERROR_FORMAT, "bug table: %llu entries are too many",
					    (unsigned long long)count);
		table->size = count * table->entry_size;
		return NULL;
	}
	if (!symtab_address(target->symbols, "__start___bug_table", &table->start) ||
	    !symtab_address(target->symbols, "__stop___bug_table", &end) || end < table->start ||
	    end - table->start > TABLE_MAX)
		return error_create(ERROR_NOT_FOUND, "no bug table");
	table->size = end - table->start;
	return NULL;
}

struct error *bug_find(struct target *target, uint64_t pc, uint64_t hint, bool *ret_found,
		       struct bug *ret)
{
	struct table table;
	*ret_found = false;
	TRY(prepare_table(target, &table));
	TRY(find_table(target_module_at(target, pc), &table));
	return find_in(&table, pc, hint, ret_found, ret);
}

struct walk_state {
	bug_visitor *visit;
	void *context;
	uint64_t left; /* entries that may still be looked at */
};

static struct error *visit_entries(struct walk_state *state, const struct table *table,
				   const struct module *module)
{
	uint64_t count = table->size / table->entry_size;
	struct object entry = table->entry;
	struct bug bug;
	for (uint64_t i = 0; i < count && state->left; i++, state->left--) {
		TRY(interrupt_check());
		entry.address = table->start + i * table->entry_size;
		struct error *error = read_bug(&entry, &bug);
		if (!error)
			TRY(state->visit(state->context, module, &bug));
		TRY(error_only_fatal(error));
	}
	return NULL;
}

struct error *bug_each_of(struct target *target, const struct module *module, bug_visitor *visit,
			  void *context)
{
	struct walk_state state = { .visit = visit, .context = context, .left = ENTRIES_MAX };
	struct table table;
	TRY(prepare_table(target, &table));
	TRY(find_table(module, &table));
	return visit_entries(&state, &table, module);
}

struct error *bug_each(struct target *target, bug_visitor *visit, void *context)
{
	struct walk_state state = { .visit = visit, .context = context, .left = ENTRIES_MAX };
	const struct module *modules;
	size_t count = target_modules(target, &modules);
	struct table table;
	TRY(prepare_table(target, &table));
	struct error *error = find_table(NULL, &table);
	if (!error)
		TRY(visit_entries(&state, &table, NULL));
	TRY(error_only_fatal(error));
	for (size_t i = 0; i < count; i++) {
		error = find_table(&modules[i], &table);
		if (!error)
			TRY(visit_entries(&state, &table, &modules[i]));
		TRY(error_only_fatal(error));
	}
	return NULL;
}
