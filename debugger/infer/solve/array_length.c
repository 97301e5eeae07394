// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/solve/array_length.h"

#include "base/array.h"
#include "base/bytes.h"
#include "debugger/infer/known/declared_length.h"
#include "debugger/target/object.h"
#include <string.h>

/* What GCC leaves between two large objects at most. */
#define PADDING_MAX 31

/* Macros make lists of texts for system calls: types and names of their arguments. */
#define SYSCALL_ARGUMENTS_MAX 6

enum ending {
	ENDING_UNKNOWN,
	ENDING_ZEROS,  /* one element of zeros ends it */
	ENDING_MOSTLY, /* the same, but in some kernels */
	ENDING_FULL,   /* it ends with an element that is never all zero */
};

/* By the element, or of pointers by what they point at. */
static const struct {
	const char *name;
	bool is_pointer;
	enum ending ending;
} endings[] = {
	{ "attribute", true, ENDING_ZEROS },
	{ "attribute_group", true, ENDING_ZEROS },
	{ "bin_attribute", true, ENDING_ZEROS },
	{ "xattr_handler", true, ENDING_ZEROS },
	{ "aa_sfs_entry", false, ENDING_ZEROS },
	{ "blk_mq_debugfs_attr", false, ENDING_ZEROS },
	{ "cftype", false, ENDING_ZEROS },
	{ "dmi_system_id", false, ENDING_ZEROS },
	{ "event_constraint", false, ENDING_FULL },
	{ "fs_parameter_spec", false, ENDING_ZEROS },
	{ "genl_ops", false, ENDING_FULL },
	{ "genl_small_ops", false, ENDING_FULL },
	{ "genl_split_ops", false, ENDING_FULL },
	{ "pid_entry", false, ENDING_FULL },
	{ "security_hook_list", false, ENDING_FULL },
	{ "snmp_mib", false, ENDING_MOSTLY }, /* until 6.12 at least, no more in 7.3 */
	{ "trace_event_fields", false, ENDING_ZEROS },
	{ "tracer_opt", false, ENDING_ZEROS },
	{ "x86_cpu_desc", false, ENDING_ZEROS },
	{ "cpuid_bit", false, ENDING_ZEROS },
	{ "cpuid_dep", false, ENDING_ZEROS },
	{ "cpuid_dependent_feature", false, ENDING_ZEROS },
	{ "constant_table", false, ENDING_ZEROS },
	{ "property_entry", false, ENDING_ZEROS },
	{ "sched_domain_topology_level", false, ENDING_ZEROS },
	{ "pci_dev_reset_methods", false, ENDING_ZEROS },
	{ "pci_dev_acs_enabled", false, ENDING_ZEROS },
	{ "acpi_predefined_names", false, ENDING_ZEROS },
	{ "acpi_repair_info", false, ENDING_ZEROS },
	{ "acpi_simple_repair_info", false, ENDING_ZEROS },
	{ "proc_fs_opts", false, ENDING_ZEROS },
	{ "fixed_range_block", false, ENDING_ZEROS },
	{ "seccomp_log_name", false, ENDING_ZEROS },
	{ "pnp_fixup", false, ENDING_ZEROS },
	{ "x86_cpu_id", false, ENDING_ZEROS },
};

/* Tables that drivers are matched by: acpi_device_id, pci_device_id... */
#define IDS "_device_id"

/*
 * Up to 6.10 an element of zeros ends a table, from 6.11 on its size is told; which of the two it
 * is, types say up to 6.4 (tables had children) and since their registered form is const.
 */
static enum ending ending_of_sysctl(const struct layout *layout)
{
	struct type table = { layout->btf, layout_find(layout, BTF_STRUCT, "ctl_table") };
	struct type header = { layout->btf, layout_find(layout, BTF_STRUCT, "ctl_table_header") };
	struct type_place place;
	struct type target;
	struct btf_type record;
	if (type_find_member(table, "child", &place))
		return ENDING_ZEROS;
	return type_find_member(header, "ctl_table_arg", &place) &&
			       type_target(place.type, &target) && type_get(target, &record) &&
			       record.kind == BTF_CONST
		       ? ENDING_FULL
		       : ENDING_UNKNOWN;
}

static bool is_id(const char *name)
{
	size_t length = strlen(name), end = strlen(IDS);
	return length > end && !strcmp(name + length - end, IDS);
}

static enum ending ending_of(const struct layout *layout, uint32_t type)
{
	bool is_pointer = layout_kind(layout, type) == BTF_PTR;
	struct btf_type record;
	if (is_pointer)
		type = layout_target(layout, type);
	if (layout_kind(layout, type) != BTF_STRUCT || !btf_get(layout->btf, type, &record))
		return ENDING_UNKNOWN;
	for (size_t i = 0; i < ARRAY_COUNT(endings); i++)
		if (endings[i].is_pointer == is_pointer && !strcmp(endings[i].name, record.name))
			return endings[i].ending;
	if (is_pointer)
		return ENDING_UNKNOWN;
	if (is_id(record.name))
		return ENDING_ZEROS;
	return strcmp(record.name, "ctl_table") ? ENDING_UNKNOWN : ending_of_sysctl(layout);
}

bool array_ends_with_empty(const struct layout *layout, uint32_t type)
{
	return ending_of(layout, type) == ENDING_ZEROS;
}

bool array_is_list(const struct question *question, uint32_t type)
{
	const struct layout *layout = question->layout;
	const char *name = question->symbol->name;
	size_t length = strlen(name);
	struct btf_type record;
	if (layout_kind(layout, type) == BTF_PTR)
		return length && name[length - 1] == 's' &&
		       ending_of(layout, type) != ENDING_UNKNOWN;
	if (layout_kind(layout, type) != BTF_STRUCT || !btf_get(layout->btf, type, &record))
		return false;
	return is_id(record.name) || !strcmp(record.name, "ctl_table");
}

bool array_is_filled(const struct question *question, uint32_t type, uint32_t count)
{
	uint64_t size = layout_size(question->layout, type), room = question->subject->room;
	return !question->has_literals && question->size == room && (count + 1ull) * size > room &&
	       array_in_use(question, type) == count;
}

uint32_t bytes_in_use(const struct question *question)
{
	uint32_t used = question->size;
	while (used && !question->bytes[used - 1])
		used--;
	return used;
}

uint32_t array_in_use(const struct question *question, uint32_t type)
{
	uint32_t used = bytes_in_use(question), size = layout_size(question->layout, type);
	return size ? used / size + (used % size != 0) : 0;
}

/* Whether what `used` bytes leave of the room is no more than alignment explains. */
static bool is_tight(const struct subject *subject, uint64_t used)
{
	return room_is_taken(subject->address, subject->room, used);
}

static const uint8_t *element_at(const struct question *question, uint32_t size, uint32_t number)
{
	return question->bytes + (uint64_t)number * size;
}

static bool is_zero(const uint8_t *bytes, uint32_t size)
{
	uint32_t used = 0;
	while (used < size && !bytes[used])
		used++;
	return used == size;
}

/* The elements before the first that is all zero. */
static uint32_t count_to_zeros(const struct question *question, uint32_t size)
{
	uint32_t count = 0;
	while ((count + 1ull) * size <= question->size &&
	       !is_zero(element_at(question, size, count), size))
		count++;
	return count;
}

/* { mask, name } ends with { -1, NULL }; how many up to that, 0: it is none. */
static uint32_t count_to_ones(const struct question *question, uint32_t type, uint32_t most)
{
	static const uint8_t last[16] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	const struct layout *layout = question->layout;
	if (layout_size(layout, type) != sizeof(last) ||
	    type != layout_find(layout, BTF_STRUCT, "trace_print_flags"))
		return 0;
	for (uint32_t i = most; i > 0; i--)
		if (!memcmp(element_at(question, sizeof(last), i - 1), last, sizeof(last)))
			return i;
	return 0;
}

static bool is_pointer_to_text(const struct layout *layout, uint32_t type)
{
	return layout_kind(layout, type) == BTF_PTR &&
	       layout_target(layout, type) == layout->character;
}

/* Up to its NUL; what a macro made may have been rewritten in place, into something shorter. */
static uint32_t end_of_text(const struct question *question, bool is_made)
{
	uint32_t text = own_data_text(question);
	if (text)
		return is_made || question->is_constant ? text + 1 : 0;
	return is_made && !question->has_literals && own_data_string(question)
		       ? bytes_in_use(question) + 1
		       : 0;
}

/* By what elements of its type end with; 0: with nothing. */
static uint32_t end_of_list(const struct question *question, uint32_t type, bool is_made)
{
	const struct layout *layout = question->layout;
	uint32_t size = layout_size(layout, type), count = count_to_zeros(question, size);
	uint32_t most = question->size / size;
	switch (ending_of(layout, type)) {
	case ENDING_ZEROS:
	case ENDING_MOSTLY:
		return count && count < most ? count + 1 : 0;
	case ENDING_FULL:
		return count;
	default:
		if (is_made && is_pointer_to_text(layout, type))
			return count <= SYSCALL_ARGUMENTS_MAX ? count : 0;
		return count_to_ones(question, type, most);
	}
}

/* Nothing may be added to it: to lists of pointers it may, at run time, before the NULL. */
static bool is_closed(const struct question *question, uint32_t type, uint32_t count)
{
	const struct layout *layout = question->layout;
	enum ending ending = ending_of(layout, type);
	uint64_t more = (count + 1ull) * layout_size(layout, type);
	return ending != ENDING_MOSTLY &&
	       (ending != ENDING_ZEROS || layout_kind(layout, type) != BTF_PTR ||
		more > question->subject->room);
}

uint32_t array_declared(const struct question *question, uint32_t type, bool *ret_sure)
{
	const struct subject *subject = question->subject;
	uint32_t count = subject->room_is_exact ? 0
						: declared_length(question->layout->btf,
								  question->symbol->name, NULL);
	uint64_t size = (uint64_t)count * layout_size(question->layout, type);
	uint32_t used = array_in_use(question, type);
	bool is_all = is_tight(subject, size) && used <= count;
	/* Constants without a symbol may follow a constant. */
	bool is_some = question->has_literals && size <= subject->room;
	*ret_sure = is_all && used == count;
	return size && (is_all || is_some) ? count : 0;
}

uint32_t array_end(const struct question *question, uint32_t type, bool is_made, bool *ret_sure)
{
	const struct layout *layout = question->layout;
	const struct subject *subject = question->subject;
	uint32_t size = layout_size(layout, type);
	bool is_text = type == layout->character;
	*ret_sure = false;
	if (!size || subject->room_is_exact || question->size < subject->room)
		return 0;
	uint32_t count = is_text ? end_of_text(question, is_made)
				 : end_of_list(question, type, is_made);
	if (!count)
		return 0;
	bool is_all = array_in_use(question, type) <= count &&
		      is_tight(subject, (uint64_t)count * size);
	*ret_sure = is_all && is_closed(question, type, count);
	/* Something else follows: what ends it may lie further on. */
	return is_all || !is_text ? count : 0;
}

uint32_t array_estimate(const struct question *question, uint32_t type, uint32_t most)
{
	const struct layout *layout = question->layout;
	uint64_t size = layout_size(layout, type), room = question->subject->room;
	uint64_t count = array_in_use(question, type);
	/* Of zeros only, or of what is not read to the end, nothing is known. */
	if (!count || question->size < room || question->subject->room_is_exact)
		return most;
	uint64_t least = room > PADDING_MAX ? (room - PADDING_MAX + size - 1) / size : 1;
	bool is_text = size == 1 && layout->character == type;
	if (is_text || array_ends_with_empty(layout, type))
		count++;
	return count >= least && count < most ? (uint32_t)count : most;
}
