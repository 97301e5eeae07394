// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Loaded modules: the list `modules`, both layouts of struct module (core_layout up to 6.3,
 * mem[] since ac3b43283923, 6.4), their symbols and their BTF. What is broken costs one module.
 */
#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/target/list.h"
#include "debugger/target/live.h"
#include "debugger/target/module_index.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* enum module_state: LIVE, COMING, GOING, UNFORMED (being set up: members are not valid). */
#define MODULE_STATE_UNFORMED 3
/* The BTF of all modules together. The largest one seen is below 4 MiB. */
#define MODULE_BTF_LIMIT (64u << 20)
#define ORC_LIMIT	 (1u << 24)

/* Keeps the first problem of a module. */
static void add_problem(struct module *module, struct error *error)
{
	if (module->problem)
		error_free(error);
	else
		module->problem = error;
}

/* A member that a kernel may be built without; 0 then. */
static struct error *optional_u64(const struct object *object, const char *path, uint64_t *ret)
{
	*ret = 0;
	return object_has(object, path) ? object_u64(object, path, ret) : NULL;
}

/* --- regions -------------------------------------------------------------------- */

static struct error *add_region(struct module *module, const struct object *object,
				const char *prefix)
{
	char path[64];
	uint64_t start, size;
	snprintf(path, sizeof(path), "%s.base", prefix);
	TRY(object_u64(object, path, &start));
	snprintf(path, sizeof(path), "%s.size", prefix);
	TRY(object_u64(object, path, &size));
	size = (uint32_t)size;
	/* /proc/modules counts init memory too; it is gone (size 0) once the module is live. */
	module->size += size;
	if (start && size && module->region_count < ARRAY_COUNT(module->regions)) {
		module->regions[module->region_count].start = start;
		module->regions[module->region_count++].size = size;
	}
	return NULL;
}

static struct error *read_layouts(struct module *module, const struct object *object)
{
	static const char *const layouts[] = { "core_layout", "data_layout", "init_layout" };
	if (object_has(object, "mem")) {
		char path[32];
		TRY(object_u64(object, "mem[0].base", &module->base));
		for (unsigned int i = 0; i < ARRAY_COUNT(module->regions); i++) {
			snprintf(path, sizeof(path), "mem[%u]", i);
			if (!object_has(object, path))
				break;
			TRY(add_region(module, object, path));
		}
		return NULL;
	}
	TRY(object_u64(object, "core_layout.base", &module->base));
	for (size_t i = 0; i < ARRAY_COUNT(layouts); i++)
		if (object_has(object, layouts[i]))
			TRY(add_region(module, object, layouts[i]));
	return NULL;
}

/* --- the module list ------------------------------------------------------------- */

static struct error *read_orc(struct module *module, const struct object *object)
{
	uint64_t count;
	TRY(optional_u64(object, "arch.orc_unwind_ip", &module->orc_ip));
	TRY(optional_u64(object, "arch.orc_unwind", &module->orc));
	TRY(optional_u64(object, "arch.num_orcs", &count));
	if (count > ORC_LIMIT)
		return error_create(ERROR_FORMAT, "arch.num_orcs is %" PRIu64, count);
	module->orc_count = (uint32_t)count;
	return NULL;
}

static struct error *read_module(struct target *target, uint64_t address, struct module *module)
{
	struct object object;
	uint64_t state;
	module->address = address;
	TRY(object_at(target, "struct module", address, &object));
	TRY(object_u64(&object, "state", &state));
	module->state = (uint32_t)state;
	TRY(object_string(&object, "name", module->name, sizeof(module->name)));
	if (module->state == MODULE_STATE_UNFORMED)
		return NULL;
	TRY(read_layouts(module, &object));
	TRY(optional_u64(&object, "percpu", &module->percpu));
	TRY(optional_u64(&object, "percpu_size", &module->percpu_size));
	return read_orc(module, &object);
}

/* The exports that /proc/kallsyms shows in upper case; a kernel may lack the type. */
static struct error *add_exports(const struct object *module, struct module_symbols *symbols)
{
	struct object entry;
	uint64_t count, size;
	if (!object_has(module, "syms") || !object_has(module, "num_syms"))
		return NULL;
	TRY(object_u64(module, "syms", &symbols->exports));
	TRY(object_u64(module, "num_syms", &count));
	TRY(object_follow(module, "syms", &entry));
	if (type_size(entry.type, &size))
		symbols->exports_size = (uint32_t)count * size;
	return NULL;
}

static struct error *add_symbols(struct target *target, const struct module *module)
{
	struct module_symbols symbols = { .name = module->name,
					  .percpu = module->percpu,
					  .percpu_size = module->percpu_size,
					  .region_count = module->region_count };
	struct object object, table;
	uint64_t count;
	TRY(object_at(target, "struct module", module->address, &object));
	TRY(object_follow(&object, "kallsyms", &table));
	if (!table.address)
		return NULL;
	TRY(object_u64(&table, "symtab", &symbols.symtab));
	TRY(object_u64(&table, "strtab", &symbols.strtab));
	TRY(object_u64(&table, "num_symtab", &count));
	TRY(optional_u64(&table, "typetab", &symbols.typetab));
	symbols.count = (uint32_t)count;
	TRY(add_exports(&object, &symbols));
	for (size_t i = 0; i < module->region_count; i++) {
		symbols.regions[i].start = module->regions[i].start;
		symbols.regions[i].size = module->regions[i].size;
	}
	return symtab_add_module(target->symbols, target->memory, &symbols);
}

static struct error *add_module(struct target *target, uint64_t address, size_t *capacity)
{
	struct module module = { .name = "" };
	struct error *error = read_module(target, address, &module);
	if (!error && module.state == MODULE_STATE_UNFORMED)
		return NULL;
	add_problem(&module, error);
	if (!error)
		add_problem(&module, error_prefix(add_symbols(target, &module), "symbols"));
	if (module.problem)
		target_add_problem(target, error_create(module.problem->kind, "module %s: %s",
							module.name, module.problem->message));
	if (!array_reserve(&target->modules, capacity, target->module_count + 1)) {
		error_free(module.problem);
		return error_no_memory();
	}
	target->modules[target->module_count++] = module;
	return NULL;
}

static bool is_listed(const struct target *target, uint64_t address)
{
	for (size_t i = 0; i < target->module_count; i++)
		if (target->modules[i].address == address)
			return true;
	return false;
}

/* Adds what a walk finds, up to a module that is there already. */
static struct error *walk_modules(struct target *target, struct list_walk *walk, uint64_t link,
				  size_t *capacity)
{
	uint64_t node;
	for (;;) {
		TRY(list_walk_next(walk, &node));
		if (!node || (walk->backward && is_listed(target, node - link)))
			return NULL;
		if (target->module_count == MODULES_MAX)
			return error_create(ERROR_FORMAT, "more than %d", MODULES_MAX);
		TRY(add_module(target, node - link, capacity));
	}
}

/* Into the order of the list, which is that of /proc/modules. */
static void reverse(struct module *modules, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		struct module module = modules[i];
		modules[i] = modules[count - 1 - i];
		modules[count - 1 - i] = module;
	}
}

/* What finds the module of an address knows them, too: a tree, if the kernel is made so. */
static struct error *check_has_none(struct target *target)
{
	struct object tree;
	uint64_t node;
	struct error *error = object_variable(target, "mod_tree", "struct mod_tree_root", &tree);
	if (!error)
		error = object_u64(&tree, "root.tree[0].rb_node", &node);
	error_free(error);
	return !error && node ? error_create(ERROR_FORMAT, "the list is empty, but mod_tree is not")
			      : NULL;
}

/* Behind a break, the list goes on from its other end. */
static struct error *load_modules(struct target *target)
{
	uint64_t head, link;
	size_t capacity = 0;
	struct list_walk walk;
	TRY(target_need_memory(target));
	TRY(target_need_symbols(target));
	TRY(target_need_btf(target));
	if (!symtab_address(target->symbols, "modules", &head))
		return error_create(ERROR_NOT_FOUND, "the kernel has no symbol modules");
	TRY(object_offset(target, "struct module", "list", &link));
	list_walk_init(&walk, target, head);
	struct error *error = walk_modules(target, &walk, link, &capacity);
	if (!error && !target->module_count)
		return check_has_none(target);
	if (!error || error->kind == ERROR_NO_MEMORY)
		return error;
	size_t first = target->module_count;
	list_walk_init_backward(&walk, target, head);
	error_free(walk_modules(target, &walk, link, &capacity));
	if (target->module_count > first)
		reverse(target->modules + first, target->module_count - first);
	return error;
}

size_t target_modules(struct target *target, const struct module **ret)
{
	if (!target->modules_loaded) {
		/* Before the walk: reading a module asks for types, never for modules. */
		target->modules_loaded = true;
		struct error *error = load_modules(target);
		struct error *no_index = module_index_create(target, &target->module_index);
		if (error)
			target_add_missing(target, PART_MODULES, error_prefix(error, "modules"));
		if (no_index)
			target_add_missing(target, PART_MODULES, error_prefix(no_index, "modules"));
		if (target->memory && target->btf)
			generated_load(target);
	}
	*ret = target->modules;
	return target->module_count;
}

const struct module *target_module(struct target *target, const char *name)
{
	const struct module *modules;
	target_modules(target, &modules);
	return module_index_find(target, name);
}

const struct module *target_module_at(struct target *target, uint64_t address)
{
	const struct module *modules;
	target_modules(target, &modules);
	return module_index_at(target, address);
}

/* --- BTF ---------------------------------------------------------------------------- */

static struct error *read_btf(struct target *target, const struct object *btf,
			      struct module *module)
{
	uint64_t data, size;
	TRY(object_u64(btf, "data", &data));
	TRY(object_u64(btf, "data_size", &size));
	TRY(memory_read_alloc(target->memory, data, size,
			      MODULE_BTF_LIMIT - target->module_btf_size, &module->btf_data));
	module->btf_size = (size_t)size;
	target->module_btf_size += (size_t)size;
	return NULL;
}

/*
 * The kernel goes by names, and a module may have been unloaded and another one loaded under its
 * name. Ids are given once: where the module has the same one before and after, the bytes between
 * are its own.
 */
static struct error *read_live_btf(struct target *target, const struct object *btf,
				   struct module *module)
{
	uint64_t id, id_after = 0;
	struct object after;
	void *data;
	size_t size;
	TRY(object_u64(btf, "id", &id));
	TRY(live_btf(target, module->name, MODULE_BTF_LIMIT, &data, &size));
	struct error *error = module_index_btf(target, module->address, &after);
	if (!error)
		error = object_u64(&after, "id", &id_after);
	if (!error && id != id_after)
		error = error_create(ERROR_NOT_FOUND, "it is another one now");
	if (error) {
		free(data);
		return error;
	}
	module->btf_data = data;
	module->btf_size = size;
	return NULL;
}

static struct error *load_btf(struct target *target, struct module *module)
{
	struct object btf;
	TRY(target_need_btf(target));
	TRY(module_index_btf(target, module->address, &btf));
	if (target_is_live(target))
		error_free(read_live_btf(target, &btf, module));
	if (!module->btf_data)
		TRY(read_btf(target, &btf, module));
	struct error *error = btf_open(module->btf_data, module->btf_size, target->btf,
				       module->name, &module->btf);
	if (error) {
		free(module->btf_data);
		module->btf_data = NULL;
		return error;
	}
	/* Damaged types are left out and noted; the rest is used. */
	if (btf_warning(module->btf))
		add_problem(module,
			    error_create(ERROR_FORMAT, "BTF: %s", btf_warning(module->btf)));
	return NULL;
}

const struct btf *target_module_btf(struct target *target, const struct module *module)
{
	struct module *own = &target->modules[module - target->modules];
	/* Ctrl-C ends a question about all modules, and not what is known of them. */
	if (!own->btf_asked && !interrupt_flag) {
		struct error *error = load_btf(target, own);
		own->btf_asked = !error || error->kind != ERROR_INTERRUPTED;
		if (own->btf_asked)
			add_problem(own, error_prefix(error, "BTF"));
		else
			error_free(error);
	}
	return own->btf;
}

const struct btf *target_symbol_btf(struct target *target, const struct symbol *symbol)
{
	if (!symbol->module)
		return target->btf;
	const struct module *module = target_module(target, symbol->module);
	return module ? target_module_btf(target, module) : NULL;
}
