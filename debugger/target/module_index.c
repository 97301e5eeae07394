// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/target/module_index.h"

#include "base/array.h"
#include "debugger/target/list.h"
#include <stdlib.h>
#include <string.h>

/* Those of modules that are gone stay in the list for a moment. */
#define BTFS_MAX (4 * MODULES_MAX)

/* --- names and addresses --------------------------------------------------------------------- */

static int compare_regions(const void *a, const void *b)
{
	const struct module_region *left = a, *right = b;
	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	/* The first module comes last, where it is found. */
	return left->module > right->module ? -1 : left->module < right->module;
}

static struct error *add_regions(struct module_index *index, const struct module *module,
				 size_t number)
{
	for (size_t i = 0; i < module->region_count; i++) {
		uint64_t start = module->regions[i].start, size = module->regions[i].size;
		if (!array_reserve(&index->regions, &index->region_capacity,
				   index->region_count + 1))
			return error_no_memory();
		uint64_t end = size > UINT64_MAX - start ? UINT64_MAX : start + size;
		index->regions[index->region_count++] =
			(struct module_region){ start, end, number };
	}
	return NULL;
}

static struct error *fill(struct module_index *index, const struct target *target)
{
	if (!hash_index_init(&index->names, target->module_count))
		return error_no_memory();
	for (size_t i = 0; i < target->module_count; i++) {
		const struct module *module = &target->modules[i];
		if (!hash_index_add(&index->names, hash_string(module->name), (uint32_t)i))
			return error_no_memory();
		TRY(add_regions(index, module, i));
	}
	if (index->region_count)
		array_sort(index->regions, index->region_count, sizeof(*index->regions),
			   compare_regions);
	return NULL;
}

struct error *module_index_create(const struct target *target, struct module_index **ret)
{
	struct module_index *index = calloc(1, sizeof(*index));
	if (!index)
		return error_no_memory();
	struct error *error = fill(index, target);
	if (error)
		module_index_destroy(index);
	else
		*ret = index;
	return error;
}

static void forget_btfs(struct module_index *index)
{
	address_map_deinit(&index->btfs);
	error_free(index->btfs_end);
	index->btfs_end = NULL;
	index->btfs_read = false;
}

void module_index_destroy(struct module_index *index)
{
	if (!index)
		return;
	hash_index_deinit(&index->names);
	free(index->regions);
	forget_btfs(index);
	free(index);
}

const struct module *module_index_find(const struct target *target, const char *name)
{
	uint32_t hash = hash_string(name), number;
	if (!target->module_index)
		return NULL;
	const struct hash_index *names = &target->module_index->names;
	size_t position = hash_index_first(names, hash);
	while ((number = hash_index_next(names, hash, &position)) != HASH_NONE)
		if (!strcmp(target->modules[number].name, name))
			return &target->modules[number];
	return NULL;
}

const struct module *module_index_at(const struct target *target, uint64_t address)
{
	const struct module_index *index = target->module_index;
	if (!index)
		return NULL;
	size_t behind = array_bound(index->region_count, i, index->regions[i].start <= address);
	if (!behind || address >= index->regions[behind - 1].end)
		return NULL;
	return &target->modules[index->regions[behind - 1].module];
}

/* --- BTF ------------------------------------------------------------------------------------- */

/* Up to what cannot be read, or to the end. */
static struct error *walk_btfs(struct module_index *index, struct list_walk *walk)
{
	for (;;) {
		struct object entry;
		uint64_t node, module, btf;
		TRY(list_walk_next(walk, &node));
		if (!node)
			return NULL;
		if (walk->count > BTFS_MAX)
			return error_create(ERROR_FORMAT, "btf_modules has more than %d", BTFS_MAX);
		TRY(object_container(walk->target, "struct btf_module", "list", node, &entry));
		TRY(object_u64(&entry, "module", &module));
		TRY(object_u64(&entry, "btf", &btf));
		struct module_btf *known = address_map_find(&index->btfs, sizeof(*known), module);
		if (known || !module)
			continue;
		known = address_map_add(&index->btfs, sizeof(*known), module);
		if (!known)
			return error_no_memory();
		known->btf = btf;
	}
}

static struct error *read_btfs(struct target *target, struct module_index *index)
{
	uint64_t head;
	struct list_walk walk;
	if (!symtab_address(target->symbols, "btf_modules", &head))
		return error_create(ERROR_NOT_FOUND, "this kernel keeps no BTF of modules");
	list_walk_init(&walk, target, head);
	struct error *error = walk_btfs(index, &walk);
	if (error && !error_is_fatal(error)) {
		list_walk_init_backward(&walk, target, head);
		struct error *backward = walk_btfs(index, &walk);
		if (backward && error_is_fatal(backward)) {
			error_free(error);
			error = backward;
		} else {
			error_free(backward);
		}
	}
	if (error && error_is_fatal(error))
		return error;
	index->btfs_end = error;
	index->btfs_read = true;
	return NULL;
}

struct error *module_index_btf(struct target *target, uint64_t module, struct object *ret)
{
	struct module_index *index = target->module_index;
	if (!index)
		return error_no_memory();
	if (target_is_live(target))
		forget_btfs(index);
	if (!index->btfs_read) {
		struct error *error = read_btfs(target, index);
		if (error) {
			forget_btfs(index);
			return error;
		}
	}
	const struct module_btf *found = address_map_find(&index->btfs, sizeof(*found), module);
	if (found)
		return object_at(target, "struct btf", found->btf, ret);
	return index->btfs_end ? error_copy(index->btfs_end)
			       : error_create(ERROR_NOT_FOUND, "it has none");
}
