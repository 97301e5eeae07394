// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/known/per_cpu.h"

#include "base/array.h"
#include "debugger/declare/declare.h"
#include "debugger/target/object.h"
#include <stdlib.h>
#include <string.h>

#define SECTION ".data..percpu"
/* A unit of the allocator is smaller: what a damaged module says to be behind it is nothing. */
#define AREA_MAX (64u << 20)

static int compare_offsets(const void *a, const void *b)
{
	const struct per_cpu_variable *left = a, *right = b;
	return left->offset < right->offset ? -1 : left->offset > right->offset;
}

struct error *per_cpu_add(struct per_cpu *per_cpu, const struct levels *levels, uint16_t level,
			  uint64_t start)
{
	const struct btf *btf = levels->items[level];
	struct btf_type section, variable;
	struct btf_section_entry entry;
	uint64_t cursor = 0;
	uint32_t id = btf_find(btf, BTF_DATASEC, SECTION, &cursor);
	if (!id || id < btf_start_id(btf) || !btf_get(btf, id, &section))
		return NULL;
	for (uint32_t i = 0; btf_section_entry(&section, i, &entry); i++) {
		if (!btf_get(btf, entry.type, &variable) || variable.kind != BTF_VAR)
			continue;
		if (!array_reserve(&per_cpu->items, &per_cpu->capacity, per_cpu->count + 1))
			return error_no_memory();
		per_cpu->items[per_cpu->count++] = (struct per_cpu_variable){
			.offset = start + entry.offset,
			.size = entry.size,
			.type = kind_of(levels, level, variable.type),
		};
	}
	array_sort(per_cpu->items, per_cpu->count, sizeof(*per_cpu->items), compare_offsets);
	return NULL;
}

void per_cpu_deinit(struct per_cpu *per_cpu)
{
	free(per_cpu->items);
	*per_cpu = (struct per_cpu){ .items = NULL };
}

bool per_cpu_find(const struct per_cpu *per_cpu, uint64_t offset, struct kind *ret,
		  int64_t *ret_offset)
{
	size_t above = array_bound(per_cpu->count, i, per_cpu->items[i].offset <= offset);
	if (!above || offset - per_cpu->items[above - 1].offset >= per_cpu->items[above - 1].size)
		return false;
	*ret = per_cpu->items[above - 1].type;
	*ret_offset = (int64_t)(offset - per_cpu->items[above - 1].offset);
	return true;
}

uint64_t per_cpu_offset(const struct levels *levels, const char *name, uint64_t start)
{
	const struct btf *btf = levels->items[0];
	struct btf_type section, variable;
	struct btf_section_entry entry;
	uint64_t cursor = 0;
	uint32_t id = btf_find(btf, BTF_DATASEC, SECTION, &cursor);
	if (!id || !btf_get(btf, id, &section))
		return UINT64_MAX;
	for (uint32_t i = 0; btf_section_entry(&section, i, &entry); i++)
		if (btf_get(btf, entry.type, &variable) && !strcmp(variable.name, name))
			return start + entry.offset;
	return UINT64_MAX;
}

bool per_cpu_untyped(struct target *target, struct per_cpu_copies *ret)
{
	const struct cpu *cpus;
	uint64_t cursor = 0, start, end;
	*ret = (struct per_cpu_copies){ .base = 0 };
	if (!target->btf || btf_find(target->btf, BTF_DATASEC, SECTION, &cursor) ||
	    !symtab_address(target->symbols, "__per_cpu_start", &start) ||
	    !symtab_address(target->symbols, "__per_cpu_end", &end) ||
	    !target_cpus(target, &cpus) || !cpus->per_cpu_offset || end - start > AREA_MAX)
		return false;
	for (size_t i = 0; target->modules_loaded && i < target->module_count; i++) {
		uint64_t last = target->modules[i].percpu + target->modules[i].percpu_size;
		if (last > end && last - start <= AREA_MAX)
			end = last;
	}
	*ret = (struct per_cpu_copies){ .base = cpus->per_cpu_offset,
					.first = start + cpus->per_cpu_offset,
					.last = end + cpus->per_cpu_offset };
	return true;
}

struct error *per_cpu_visit(struct target *target, per_cpu_visitor visit, void *context)
{
	struct per_cpu_copies untyped;
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	struct type type;
	enum type_origin origin;
	if (per_cpu_untyped(target, &untyped))
		return NULL;
	uint32_t count = symtab_count(target->symbols);
	for (uint32_t i = 0; i < count; i++) {
		symtab_peek(target->symbols, i, &symbol);
		if (!symbol.per_cpu)
			continue;
		symtab_get_into(target->symbols, i, name, &symbol);
		TRY(declared_symbol_type(target, &symbol, &type, &origin));
		TRY(visit(context, &symbol, type, origin));
	}
	return NULL;
}
