// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/export/quirks.h"

#include "base/array.h"
#include "debugger/export/dwarf_codes.h"
#include "debugger/infer/symbol_type.h"
#include "debugger/target/object.h"
#include <stdlib.h>
#include <string.h>

#define ELEMENTS_MAX 4096 /* of arrays that are looked into; there are some 500 system calls */

static const struct {
	const char *variable;
	const char *enumerator; /* has the length */
	const char *sibling;	/* an array of the same length */
} lengths[] = {
	{ "vm_zone_stat", "NR_VM_ZONE_STAT_ITEMS", NULL },
	{ "vm_node_stat", "NR_VM_NODE_STAT_ITEMS", NULL },
	{ "vm_numa_event", "NR_VM_NUMA_EVENT_ITEMS", NULL }, /* 5.14 (f19298b9516c) */
	{ "nr_swapper_spaces", NULL, "swap_info" },	     /* [MAX_SWAPFILES] both */
	/* No element of these is zero. */
	{ "sys_call_table", NULL, NULL },
	{ "taint_flags", NULL, NULL },
	{ "task_state_array", NULL, NULL },
};

static uint32_t length_of_sibling(struct target *target, const char *name)
{
	struct symbol symbol;
	struct verdict verdict;
	struct btf_type record;
	uint64_t cursor = 0;
	if (!symtab_find_own(target->symbols, NULL, name, &cursor, &symbol))
		return 0;
	struct error *error = symbol_verdict(target, &symbol, &verdict);
	bool found = !error && verdict.type.btf && type_get_resolved(verdict.type, &record) &&
		     record.kind == BTF_ARRAY;
	error_free(error);
	return found ? record.array_count : 0;
}

/* Without the elements at the end that are zero; 0: they cannot be read, or all are. */
static uint32_t length_of_filled(struct target *target, const struct symbol *symbol,
				 struct type element, uint32_t count)
{
	void *data;
	uint64_t size;
	uint32_t length = 0;
	if (!type_size(element, &size) || !size || count > ELEMENTS_MAX || size > ELEMENTS_MAX)
		return 0;
	struct error *error = memory_read_alloc(target->memory, symbol->address, count * size,
						ELEMENTS_MAX * ELEMENTS_MAX, &data);
	if (error) {
		error_free(error);
		return 0;
	}
	for (uint64_t i = 0; i < count * size; i++)
		if (((const uint8_t *)data)[i])
			length = (uint32_t)(i / size) + 1;
	free(data);
	return length;
}

static uint32_t length_of(struct target *target, const struct symbol *symbol, size_t rule,
			  struct type element, uint32_t count)
{
	struct btf_enumerator enumerator;
	uint32_t id;
	if (lengths[rule].sibling)
		return length_of_sibling(target, lengths[rule].sibling);
	if (!lengths[rule].enumerator)
		return length_of_filled(target, symbol, element, count);
	if (!btf_find_enumerator(target->btf, lengths[rule].enumerator, &id, &enumerator) ||
	    enumerator.value < 0 || enumerator.value > UINT32_MAX)
		return 0;
	return (uint32_t)enumerator.value;
}

struct error *quirk_array_type(struct target *target, const struct symbol *symbol, struct type type,
			       struct type *ret)
{
	struct btf_type record;
	struct type element;
	size_t i = 0;
	*ret = type;
	while (i < ARRAY_COUNT(lengths) && strcmp(lengths[i].variable, symbol->name) != 0)
		i++;
	if (i == ARRAY_COUNT(lengths) || symbol->module || !type_get_resolved(type, &record) ||
	    record.kind != BTF_ARRAY || !type_target(type, &element))
		return NULL;
	uint32_t count = length_of(target, symbol, i, element, record.array_count);
	/* There is no room for more. */
	if (!count || count >= record.array_count)
		return NULL;
	return type_array_of(element, count, ret);
}

void quirk_module_location(struct dwarf *dwarf, uint64_t address)
{
	dwarf_location(dwarf, DW_OP_const8u, address);
}

const char quirk_write_expire_scope[] = "dd_init_sched";

bool quirk_write_expire(struct target *target, int64_t *ret)
{
	struct object object;
	uint64_t nanoseconds;
	struct error *error = object_variable(target, "tick_nsec", "unsigned long", &object);
	if (!error)
		error = object_u64(&object, NULL, &nanoseconds);
	bool found = !error && nanoseconds >= 100000 && nanoseconds <= 1000000000;
	error_free(error);
	/* A tick is a whole number of nanoseconds: 3333333 at 300 Hz. */
	if (found)
		*ret = 5 * (int64_t)((1000000000 + nanoseconds / 2) / nanoseconds);
	return found;
}
