// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/mappings.h"

#include "base/interrupt.h"
#include "debugger/kernel/path.h"
#include "debugger/kernel/walk.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* More than a process can have: vm.max_map_count is an int. */
#define MAPPINGS_MAX (1u << 24)
#define NAME_SIZE    128

struct pass {
	struct target *target;
	uint64_t mm;
	const struct mapping_visitor *visitor;
	bool found; /* one, or what is broken */
};

static struct error *broken(void *context, struct error *problem)
{
	struct pass *pass = context;
	pass->found = true;
	return pass->visitor->broken(pass->visitor->context, problem);
}

/* It says itself whose it is: what does not is not shown as one. */
static struct error *check(const struct pass *pass, const struct object *vma, uint64_t *ret_start,
			   uint64_t *ret_end)
{
	uint64_t mm;
	TRY(object_u64(vma, "vm_mm", &mm));
	TRY(object_u64(vma, "vm_start", ret_start));
	TRY(object_u64(vma, "vm_end", ret_end));
	if (mm != pass->mm || *ret_end <= *ret_start)
		return error_create(ERROR_FORMAT, "0x%" PRIx64 " is no mapping of mm 0x%" PRIx64,
				    vma->address, pass->mm);
	return NULL;
}

static struct error *visit_entry(void *context, const struct walk_item *item)
{
	struct pass *pass = context;
	struct object vma;
	uint64_t start, end;
	pass->found = true;
	TRY(object_at(pass->target, "struct vm_area_struct", item->address, &vma));
	struct error *error = check(pass, &vma, &start, &end);
	if (!error && (item->is_value || item->index != start || item->last != end - 1))
		error = error_create(ERROR_FORMAT,
				     "the tree has 0x%" PRIx64 " at 0x%" PRIx64
				     ", it says 0x%" PRIx64,
				     item->address, item->index, start);
	return error ? broken(pass, error) : pass->visitor->visit(pass->visitor->context, &vma);
}

/* Until 763ecb035029 (6.1) they are linked, by rising addresses: so the walk ends. */
static struct error *walk_links(struct pass *pass, const struct object *mm)
{
	struct object vma;
	uint64_t start, end, before = 0;
	TRY(object_follow(mm, "mmap", &vma));
	for (uint32_t i = 0; vma.address; i++) {
		TRY(interrupt_check());
		struct error *error = check(pass, &vma, &start, &end);
		if (!error && (start < before || i > MAPPINGS_MAX))
			error = error_create(ERROR_FORMAT, "mapping 0x%" PRIx64 " goes back",
					     vma.address);
		if (error)
			return broken(pass, error);
		pass->found = true;
		TRY(pass->visitor->visit(pass->visitor->context, &vma));
		before = end;
		error = object_follow(&vma, "vm_next", &vma);
		if (error)
			return broken(pass, error);
	}
	return NULL;
}

/* One of a process that lives has some, as the kernel counts. */
static struct error *check_found(struct pass *pass, const struct object *mm)
{
	uint64_t count;
	if (pass->found)
		return NULL;
	struct error *error = object_u64(mm, "map_count", &count);
	if (!error && count)
		error = error_create(ERROR_FORMAT,
				     "mm 0x%" PRIx64 " has none of %" PRIu64
				     " mappings that the kernel counted",
				     pass->mm, count);
	return error ? broken(pass, error) : NULL;
}

struct error *mappings_for_each(struct target *target, uint64_t mm,
				const struct mapping_visitor *visitor)
{
	struct pass pass = { target, mm, visitor, false };
	struct walk walk = {
		.target = target, .visit = visit_entry, .broken = broken, .context = &pass
	};
	struct object object, tree;
	TRY(object_at(target, "struct mm_struct", mm, &object));
	if (object_has(&object, "mm_mt")) {
		TRY(object_member(&object, "mm_mt", &tree));
		TRY(walk_maple(&walk, tree.address));
	} else
		TRY(walk_links(&pass, &object));
	return check_found(&pass, &object);
}

/* --- names ----------------------------------------------------------------------------------- */

/* vDSO and the like (kernel mm/mmap.c: special_mapping_name). */
static struct error *special_name(const struct object *vma, char *buffer, size_t size)
{
	struct object mapping;
	struct symbol symbol;
	uint64_t operations, data, cursor = 0;
	TRY(object_u64(vma, "vm_ops", &operations));
	if (!operations ||
	    !target_find_symbol(vma->target, NULL, "special_mapping_vmops", &cursor, &symbol) ||
	    symbol.address != operations)
		return NULL;
	TRY(object_u64(vma, "vm_private_data", &data));
	TRY(object_at(vma->target, "struct vm_special_mapping", data, &mapping));
	return path_pointed_string(&mapping, "name", buffer, size);
}

static struct error *is_between(const struct object *mm, const char *from, const char *to,
				uint64_t start, uint64_t end, bool *ret)
{
	uint64_t low, high;
	TRY(object_u64(mm, from, &low));
	TRY(object_u64(mm, to, &high));
	*ret = start <= high && end >= low;
	return NULL;
}

static struct error *anonymous_name(const struct object *vma, char *buffer, size_t size)
{
	struct object name;
	char text[NAME_SIZE];
	if (!object_has(vma, "anon_name"))
		return NULL;
	TRY(object_follow(vma, "anon_name", &name));
	if (!name.address)
		return NULL;
	TRY(object_member(&name, "name", &name));
	size_t length;
	TRY(memory_read_string(vma->target->memory, name.address, text, sizeof(text), &length));
	snprintf(buffer, size, "[anon:%s]", text);
	return NULL;
}

struct error *mapping_name(const struct object *mm, const struct object *vma, char *buffer,
			   size_t size)
{
	struct object file;
	uint64_t start, end;
	bool is_there;
	char path[PATH_SIZE];
	*buffer = 0;
	TRY(object_follow(vma, "vm_file", &file));
	if (file.address) {
		TRY(path_of_file(&file, NULL, path));
		snprintf(buffer, size, "%s", path);
		return NULL;
	}
	TRY(special_name(vma, buffer, size));
	if (*buffer)
		return NULL;
	TRY(object_u64(vma, "vm_start", &start));
	TRY(object_u64(vma, "vm_end", &end));
	TRY(is_between(mm, "start_brk", "brk", start, end, &is_there));
	if (!is_there)
		TRY(is_between(mm, "start_stack", "start_stack", start, end, &is_there));
	else
		snprintf(buffer, size, "[heap]");
	if (is_there && !*buffer)
		snprintf(buffer, size, "[stack]");
	return *buffer ? NULL : anonymous_name(vma, buffer, size);
}
