// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/export/quirks.h"

#include "base/array.h"
#include "debugger/declare/declare.h"
#include "debugger/export/dwarf_codes.h"
#include "debugger/infer/known/declared_length.h"
#include "debugger/infer/symbol_type.h"
#include "debugger/kernel/clock.h"
#include "debugger/target/object.h"
#include <stdlib.h>
#include <string.h>

#define ELEMENTS_MAX 4096 /* of arrays that are looked into; there are some 500 system calls */

static const struct {
	const char *variable;
	const char *sibling; /* an array of the same length */
} lengths[] = {
	{ "nr_swapper_spaces", "swap_info" }, /* [MAX_SWAPFILES] both */
	{ "swapper_spaces", "swap_info" },
	/* The last element of these is not zero. */
	{ "sys_call_table", NULL },
	{ "taint_flags", NULL },
	{ "task_state_array", NULL },
	/* By type of node; crash walks a process's memory by them. */
	{ "mt_pivots", NULL },
	{ "mt_slots", NULL },
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

/* 0: nothing says it. */
static uint32_t length_of(struct target *target, const struct symbol *symbol, struct type element,
			  uint32_t count)
{
	size_t i = 0;
	while (i < ARRAY_COUNT(lengths) && strcmp(lengths[i].variable, symbol->name) != 0)
		i++;
	if (i == ARRAY_COUNT(lengths))
		return 0;
	return lengths[i].sibling ? length_of_sibling(target, lengths[i].sibling)
				  : length_of_filled(target, symbol, element, count);
}

struct error *quirk_array_type(struct target *target, const struct symbol *symbol, struct type type,
			       struct type *ret)
{
	struct btf_type record;
	struct type element;
	*ret = type;
	if (symbol->module || !type_get_resolved(type, &record) || record.kind != BTF_ARRAY ||
	    !type_target(type, &element))
		return NULL;
	TRY(declared_length_shorten(target->btf, symbol, ret));
	uint32_t count = length_of(target, symbol, element, record.array_count);
	/* There is no room for more. */
	if (!count || count >= record.array_count)
		return NULL;
	return type_array_of(element, count, ret);
}

/* `[]`: as many elements as there is room for, unless `lengths` has a word on them. */
static const struct {
	const char *variable, *type;
	bool is_open;
} asked[] = {
	{ "__cpu_active_mask", "struct cpumask", false },
	{ "__cpu_online_mask", "struct cpumask", false },
	{ "__cpu_possible_mask", "struct cpumask", false },
	{ "__cpu_present_mask", "struct cpumask", false },
	{ "__highest_present_section_nr", "unsigned long", false },
	{ "__log_buf", "char", true },
	{ "__pgtable_l5_enabled", "unsigned int", false },
	{ "_totalram_pages", "atomic_long_t", false },
	{ "audit_hold_queue", "struct sk_buff_head", false },
	{ "audit_queue", "struct sk_buff_head", false },
	{ "audit_retry_queue", "struct sk_buff_head", false },
	{ "avenrun", "unsigned long [3]", false },
	{ "bus_kset", "struct kset *", false },
	{ "class_kset", "struct kset *", false },
	{ "console_drivers", "struct console *", false },
	{ "console_printk", "int [4]", false },
	{ "crashing_cpu", "int", false },
	{ "dev_base_lock", "rwlock_t", false },
	{ "dmi_ident", "const char *", true },
	{ "e820_table", "struct e820_table *", false },
	{ "empty_zero_page", "unsigned long [512]", false },
	{ "func_id_str", "const char *", true },
	{ "gfpflag_names", "struct trace_print_flags", true },
	{ "hstates", "struct hstate", true },
	{ "huge_zero_pfn", "unsigned long", false },
	{ "idt_table", "gate_desc [256]", false },
	{ "init_ipc_ns", "struct ipc_namespace", false },
	{ "ipc_mni_shift", "int", false },
	{ "irq_desc_tree", "struct xarray", false },
	{ "jiffies", "volatile unsigned long", false },
	{ "key_serial_tree", "struct rb_root", false },
	{ "key_user_tree", "struct rb_root", false },
	{ "l1tf_mitigation", "enum l1tf_mitigations", false },
	{ "linux_banner", "const char", true }, /* crash compares it with the dump's */
	{ "log_buf", "char *", false },
	{ "log_buf_len", "u32", false },
	{ "log_wait", "wait_queue_head_t", false },
	{ "lookup_num_blocks", "unsigned int", false },
	{ "loops_per_jiffy", "unsigned long", false },
	{ "major_names", "struct blk_major_name *[255]", false },
	{ "max_low_pfn", "unsigned long", false },
	{ "max_pfn", "unsigned long", false },
	{ "mem_map", "struct page *", false },
	{ "mem_section", "struct mem_section **", false },
	{ "memory_block_size_probed", "unsigned long", false },
	{ "min_low_pfn", "unsigned long", false },
	{ "module_load_offset", "unsigned long", false },
	{ "mount_hashtable", "struct hlist_head *", false },
	{ "mt_pivots", "const unsigned char", true },
	{ "mt_slots", "const unsigned char", true },
	{ "node_states", "nodemask_t", true },
	{ "nr_cpu_ids", "unsigned int", false },
	{ "nr_node_ids", "unsigned int", false },
	{ "nr_swap_pages", "atomic_long_t", false },
	{ "nr_swapfiles", "unsigned int", false },
	{ "nr_swapper_spaces", "unsigned int", true },
	{ "p2m_missing", "unsigned long *", false },
	{ "page_offset_base", "unsigned long", false },
	{ "pageflag_names", "struct trace_print_flags", true },
	{ "pgdir_shift", "unsigned int", false },
	{ "phys_base", "unsigned long", false },
	{ "prb", "struct printk_ringbuffer *", false },
	{ "printk_rb_static", "struct printk_ringbuffer", false },
	{ "ptrs_per_p4d", "unsigned int", false },
	{ "ptype_base", "struct list_head [16]", false },
	{ "pv_info", "struct pv_info", false },
	{ "rcu_state", "struct rcu_state", false },
	{ "slab_state", "enum slab_state", false },
	{ "softirq_vec", "struct softirq_action", true },
	{ "sparse_irqs", "struct maple_tree", false }, /* 6.5 (721255b9826b) */
	{ "stack_pools", "void *", true },
	{ "stack_slabs", "void *", true },
	{ "swapper_spaces", "struct address_space *", true },
	{ "sys_call_table", "const sys_call_ptr_t", true },
	{ "sysctl_overcommit_kbytes", "unsigned long", false },
	{ "sysctl_overcommit_memory", "int", false },
	{ "sysctl_overcommit_ratio", "int", false },
	{ "sysctl_timer_migration", "unsigned int", false },
	{ "sysfs_root_kn", "struct kernfs_node *", false },
	{ "sysrq_pressed", "int", false },
	{ "system_state", "enum system_states", false },
	{ "taint_flags", "struct taint_flag", true },
	{ "tainted_mask", "unsigned long", false },
	{ "task_state_array", "const char *", true },
	{ "timekeeper_data", "struct tk_data", true },
	{ "tk_core", "struct tk_data", false }, /* 6.13 */
	{ "total_forks", "unsigned long", false },
	{ "total_swap_pages", "long", false },
	{ "uidhash_table", "struct hlist_head", true },
	{ "vm_committed_as", "struct percpu_counter", false },
	{ "vm_node_stat", "atomic_long_t", true },
	{ "vm_numa_event", "atomic_long_t", true },
	{ "vm_zone_stat", "atomic_long_t", true },
	{ "vmalloc_base", "unsigned long", false },
	{ "vmap_area_root", "struct rb_root", false },
	{ "vmap_nodes", "struct vmap_node *", false },
	{ "vmap_zone_size", "unsigned int", false },
	{ "vmcoreinfo_data", "unsigned char *", false },
	{ "vmcoreinfo_size", "size_t", false },
	{ "vmemmap_base", "unsigned long", false },
	{ "xen_p2m_addr", "unsigned long *", false },
	{ "xen_start_info", "struct start_info *", false },
	{ "zero_pfn", "unsigned long", false },
};

static struct error *type_constant_strings(struct type *type)
{
	struct type text;
	if (!type_target(*type, &text))
		return NULL;
	TRY(type_qualified(text, BTF_CONST, &text));
	return type_pointer_to(text, type);
}

/* Parsing drops qualifiers, which mean nothing to inference: gdb shows them. */
static struct error *type_with_qualifier(const char *text, struct type *type)
{
	if (!strcmp(text, "const char *"))
		return type_constant_strings(type);
	if (strchr(text, '*'))
		return NULL;
	if (!strncmp(text, "const ", strlen("const ")))
		return type_qualified(*type, BTF_CONST, type);
	if (!strncmp(text, "volatile ", strlen("volatile ")))
		return type_qualified(*type, BTF_VOLATILE, type);
	return NULL;
}

static struct error *type_of_asked(struct target *target, const struct symbol *symbol, size_t i,
				   bool with_qualifier, struct type *ret)
{
	uint64_t size;
	TRY(declare_parse_type(target, NULL, asked[i].type, NULL, ret));
	if (with_qualifier)
		TRY(type_with_qualifier(asked[i].type, ret));
	if (!type_size(*ret, &size) || !size || size > symbol->size)
		return error_create(ERROR_NOT_FOUND, "%s has no room for it", symbol->name);
	if (!asked[i].is_open)
		return NULL;
	/* Room for one pointer: to a table that has been allocated (stack_pools of 7.3). */
	if (strchr(asked[i].type, '*') && symbol->size / size < 2)
		return error_create(ERROR_NOT_FOUND, "%s is no array", symbol->name);
	return type_array_of(*ret, (uint32_t)(symbol->size / size), ret);
}

/* The type that was asked for, as long as what was found. */
static struct error *type_as_long(struct type declared, struct type found, struct type *ret)
{
	struct btf_type record;
	struct type element;
	*ret = declared;
	if (!type_get_resolved(found, &record) || record.kind != BTF_ARRAY ||
	    !type_target(declared, &element))
		return NULL;
	return type_array_of(element, record.array_count, ret);
}

void quirk_asked_type(struct target *target, const struct symbol *symbol, struct type *type,
		      enum type_origin *origin)
{
	struct type declared;
	size_t i = 0;
	if (symbol->module)
		return;
	while (i < ARRAY_COUNT(asked) && strcmp(asked[i].variable, symbol->name) != 0)
		i++;
	if (i == ARRAY_COUNT(asked))
		return;
	enum confidence confidence = origin_confidence(*origin);
	struct error *error = type_of_asked(target, symbol, i, false, &declared);
	/*
	 * Of what was found to be the same the length is at least as good, and nothing but the
	 * names of types and qualifiers differ: volatile, sys_call_ptr_t.
	 */
	bool is_known = !error && type->btf && confidence >= CONFIDENCE_INFERRED &&
			verdict_is_same_type(*type, declared);
	if (!error)
		error = type_of_asked(target, symbol, i, true, &declared);
	if (!error && is_known)
		error = type_as_long(declared, *type, &declared);
	if (!error && (is_known || confidence != CONFIDENCE_CERTAIN))
		*type = declared;
	if (!error && !is_known && confidence != CONFIDENCE_CERTAIN)
		*origin = ORIGIN_DECLARED;
	error_free(error);
}

void quirk_module_location(struct dwarf *dwarf, uint64_t address)
{
	dwarf_location(dwarf, DW_OP_const8u, address);
}

bool quirk_is_label(const char *name)
{
	/* include/asm-generic/vmlinux.lds.h: INIT_TASK_DATA, and begin and end of all tables. */
	static const char *const names[] = { "init_thread_union", "init_stack", "_sdata" };
	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return !strncmp(name, "__start_", 8) || !strncmp(name, "__stop_", 7) ||
	       !strncmp(name, "__end_", 6);
}

static bool has_end(const char *name, const char *end)
{
	size_t length = strlen(name), size = strlen(end);
	return length > size && !strcmp(name + length - size, end);
}

bool quirk_is_label_of_code(const char *name)
{
	static const char *const names[] = { "_text", "_stext", "_etext", "_sinittext",
					     "_einittext" };
	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return !strncmp(name, "__", 2) &&
	       (has_end(name, "_text_start") || has_end(name, "_text_end"));
}

const char quirk_folder[] = ".";
const char quirk_asked_function[] = "vmemmap_populate";
const char quirk_write_expire_scope[] = "dd_init_sched";

bool quirk_write_expire(struct target *target, int64_t *ret)
{
	uint64_t nanoseconds;
	struct error *error = clock_tick(target, &nanoseconds);
	bool found = !error;
	error_free(error);
	/* A tick is a whole number of nanoseconds: 3333333 at 300 Hz. */
	if (found)
		*ret = 5 * (int64_t)((1000000000 + nanoseconds / 2) / nanoseconds);
	return found;
}
