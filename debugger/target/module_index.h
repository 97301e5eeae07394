/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Modules by their names and addresses, and where each has its BTF: what is asked for every symbol,
 * every frame, every module takes no walk through all of them.
 */
#ifndef DEBUGGER_TARGET_MODULE_INDEX_H
#define DEBUGGER_TARGET_MODULE_INDEX_H

#include "base/address_map.h"
#include "base/hash.h"
#include "debugger/target/object.h"

struct module_region {
	uint64_t start, end;
	size_t module; /* number in target->modules */
};

/* Of the list btf_modules. */
struct module_btf {
	uint64_t module; /* address of its struct module */
	uint64_t btf;	 /* of its struct btf */
};

struct module_index {
	struct hash_index names;
	struct module_region *regions; /* by address */
	size_t region_count, region_capacity;
	struct address_map btfs; /* struct module_btf */
	bool btfs_read;
	struct error *btfs_end; /* where their list ended early; NULL: it is whole */
};

/* Of target->modules, which stay as they are from now on. Errors: no memory. */
struct error *module_index_create(const struct target *target,
				  struct module_index **ret) MUST_CHECK;
void module_index_destroy(struct module_index *index);
/* NULL: there is none, or no index. Of several of one name the first. */
const struct module *module_index_find(const struct target *target, const char *name);
const struct module *module_index_at(const struct target *target, uint64_t address);
/*
 * The struct btf of a module, from the list btf_modules; mod->btf_data is gone by now. A hole in
 * the list may have it on its other side. The list is read once, of a running machine each time.
 * Errors: ERROR_NOT_FOUND, why the list has it not, ERROR_INTERRUPTED.
 */
struct error *module_index_btf(struct target *target, uint64_t module,
			       struct object *ret) MUST_CHECK;

#endif
