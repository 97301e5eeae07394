// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a name hints at: for ranking only. Endings that are nearly always right make a candidate of
 * their own; others (_lock, _key, _attr) may be several things and only break ties.
 */
#include "base/array.h"
#include "debugger/infer/knowledge.h"

#include <stdio.h>
#include <string.h>

#define ENDS_SO		3 /* points */
#define BEGINS_SO	6 /* a macro makes the name and the variable */
#define NAMED_SO	NAMES_MOST
#define NAMESAKE_MAX	64
#define STRUCT_NAME_MIN 4 /* bytes of a struct's name that a symbol's may end with */

static const struct {
	const char *ending, *type;
	bool is_pointer;
	bool makes_candidate;
} endings[] = {
	{ "_fops", "file_operations", false, true },
	{ "_file_operations", "file_operations", false, true },
	{ "_iops", "inode_operations", false, true },
	{ "_inode_operations", "inode_operations", false, true },
	{ "_dentry_operations", "dentry_operations", false, true },
	{ "_aops", "address_space_operations", false, true },
	{ "_sops", "super_operations", false, true },
	{ "_super_operations", "super_operations", false, true },
	{ "_seq_ops", "seq_operations", false, true },
	{ "_seqops", "seq_operations", false, true },
	{ "_mutex", "mutex", false, true },
	{ "_ida", "ida", false, true },
	{ "_idr", "idr", false, true },
	{ "_nb", "notifier_block", false, true },
	{ "_notifier", "notifier_block", false, true },
	{ "_cachep", "kmem_cache", true, true },
	{ "_cache", "kmem_cache", true, false },
	{ "_proto", "bpf_func_proto", false, true },
	{ "_waitq", "wait_queue_head", false, true },
	{ "_wq", "workqueue_struct", true, false },
	{ "_wq", "wait_queue_head", false, false },
	{ "_wait", "wait_queue_head", false, false },
	{ "_work", "work_struct", false, false },
	{ "_timer", "timer_list", false, false },
	{ "_timer", "hrtimer", false, false },
	{ "_lock", "spinlock", false, false },
	{ "_lock", "mutex", false, false },
	{ "_list", "list_head", false, false },
	{ "_sem", "rw_semaphore", false, false },
	{ "_rwsem", "rw_semaphore", false, true },
	{ "_ktype", "kobj_type", false, true },
	{ "_kset", "kset", true, false },
	{ "_kobj", "kobject", true, false },
	{ "_genl_family", "genl_family", false, true },
	{ "_net_ops", "pernet_operations", false, true },
	{ "_link_ops", "rtnl_link_ops", false, true },
	{ "_fs_type", "file_system_type", false, true },
	{ "_pm_ops", "dev_pm_ops", false, true },
	{ "_shrinker", "shrinker", false, true },
	{ "_group", "attribute_group", false, true },
	{ "_groups", "attribute_group", true, true },
	{ "_attrs", "attribute", true, true },
	{ "_attributes", "attribute", true, true },
	{ "_class", "class", false, false },
	{ "_driver", "pci_driver", false, false },
	{ "_table", "ctl_table", false, false },
};

/* Of DEVICE_ATTR() and its kin. */
static const struct {
	const char *text, *type;
} beginnings[] = {
	{ "dev_attr_", "device_attribute" },	{ "driver_attr_", "driver_attribute" },
	{ "bus_attr_", "bus_attribute" },	{ "class_attr_", "class_attribute" },
	{ "format_attr_", "device_attribute" },
};

/* gcc numbers static variables of functions: "state.3". */
static size_t base_length(const char *name)
{
	const char *dot = strchr(name, '.');
	return dot ? (size_t)(dot - name) : strlen(name);
}

static bool ends_with(const char *name, size_t length, const char *ending)
{
	size_t tail = strlen(ending);
	if (length + 1 < tail || name[length - 1] != ending[tail - 1])
		return false;
	if (length >= tail && !strncmp(name + length - tail, ending, tail))
		return true;
	/* The whole name without the underscore. */
	return length == tail - 1 && !strncmp(name, ending + 1, tail - 1);
}

static uint32_t type_of_ending(const struct layout *layout, size_t index)
{
	uint32_t type = layout_find(layout, BTF_STRUCT, endings[index].type);
	return type && endings[index].is_pointer ? layout->records[type].pointer : type;
}

static uint32_t type_of_beginning(const struct question *question)
{
	const char *name = question->symbol->name;
	for (size_t i = 0; i < ARRAY_COUNT(beginnings); i++)
		if (!strncmp(name, beginnings[i].text, strlen(beginnings[i].text)))
			return layout_find(question->layout, BTF_STRUCT, beginnings[i].type);
	return 0;
}

/* The struct that is called as the symbol, or so with a _t; a pointer where it does not fit. */
static uint32_t find_namesake(const struct question *question, size_t length)
{
	static const char *const tails[] = { "", "_t" };
	const struct layout *layout = question->layout;
	char name[NAMESAKE_MAX + 3];
	if (length < STRUCT_NAME_MIN || length > NAMESAKE_MAX)
		return 0;
	for (size_t i = 0; i < ARRAY_COUNT(tails); i++) {
		snprintf(name, sizeof(name), "%.*s%s", (int)length, question->symbol->name,
			 tails[i]);
		uint32_t type = layout_find(layout, BTF_STRUCT, name);
		if (!type)
			type = layout_find(layout, BTF_UNION, name);
		if (type)
			return layout_size(layout, type) <= question->subject->room
				       ? type
				       : layout->records[type].pointer;
	}
	return 0;
}

void names_prepare(struct question *question)
{
	const char *name = question->symbol->name;
	size_t length = base_length(name);
	question->ending_count = 0;
	question->namesake = find_namesake(question, length);
	question->beginning = type_of_beginning(question);
	question->suffix_hashes = 0;
	for (size_t i = 0; i + STRUCT_NAME_MIN <= length; i++)
		question->suffix_hashes |= (uint64_t)1 << (layout_hash(name + i, length - i) >> 26);
	for (size_t i = 0; i < ARRAY_COUNT(endings); i++) {
		uint32_t count = question->ending_count;
		if (count == ARRAY_COUNT(question->endings) || !length ||
		    !ends_with(name, length, endings[i].ending))
			continue;
		uint32_t type = type_of_ending(question->layout, i);
		if (!type)
			continue;
		question->endings[count].type = type;
		question->endings[count].makes_candidate = endings[i].makes_candidate;
		question->ending_count++;
	}
}

struct error *names_collect(const struct question *question, struct clues *clues)
{
	for (uint32_t i = 0; i < question->ending_count; i++) {
		struct clue clue = { .kind = CLUE_SHAPE,
				     .source = SOURCE_NAME,
				     .type = { question->layout->btf, question->endings[i].type },
				     .how = "ends like one" };
		if (question->endings[i].makes_candidate && !clues_add(clues, &clue))
			return error_no_memory();
	}
	struct clue clue = { .kind = CLUE_SHAPE,
			     .source = SOURCE_NAME,
			     .type = { question->layout->btf, question->namesake },
			     .how = "is called so" };
	if (question->namesake && !clues_add(clues, &clue))
		return error_no_memory();
	return NULL;
}

int names_judge(void *context, uint32_t type)
{
	const struct question *question = context;
	const struct layout *layout = question->layout;
	const char *name = question->symbol->name;
	struct btf_type record;
	for (uint32_t i = 0; i < question->ending_count; i++)
		if (question->endings[i].type == type)
			return ENDS_SO;
	if (type && type == question->namesake)
		return NAMED_SO;
	if (type && type == question->beginning)
		return BEGINS_SO;
	bool is_pointer = layout_kind(layout, type) == BTF_PTR;
	uint32_t named = is_pointer ? layout_target(layout, type) : type;
	if (!layout_is_compound(layout, named) ||
	    !(question->suffix_hashes >> (layout->records[named].name >> 26) & 1) ||
	    !btf_get(layout->btf, named, &record))
		return 0;
	size_t length = base_length(name), other = strlen(record.name);
	if (other < STRUCT_NAME_MIN || length < other ||
	    strncmp(name + length - other, record.name, other))
		return 0;
	return length == other ? ENDS_SO : 2;
}
