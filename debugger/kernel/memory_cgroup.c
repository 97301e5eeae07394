// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/memory_cgroup.h"

#include "debugger/kernel/cgroup.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdio.h>

#define DEPTH_MAX  256
#define INDEX_NONE 255

enum unit { UNIT_PAGE, UNIT_KIB, UNIT_BYTE };

static const struct {
	const char *name, *counter;
	enum unit unit;
} kinds[] = {
	[CGROUP_ANONYMOUS] = { "anonymous memory", "NR_ANON_MAPPED", UNIT_PAGE },
	[CGROUP_FILE] = { "files", "NR_FILE_PAGES", UNIT_PAGE },
	[CGROUP_SHARED] = { "tmpfs and shared memory", "NR_SHMEM", UNIT_PAGE },
	[CGROUP_RECLAIMABLE] = { "reclaimable slabs", "NR_SLAB_RECLAIMABLE_B", UNIT_BYTE },
	[CGROUP_SLAB] = { "unreclaimable slabs", "NR_SLAB_UNRECLAIMABLE_B", UNIT_BYTE },
	[CGROUP_TABLES] = { "page tables", "NR_PAGETABLE", UNIT_PAGE },
	[CGROUP_STACKS] = { "kernel stacks", "NR_KERNEL_STACK_KB", UNIT_KIB },
	[CGROUP_VMALLOC] = { "vmalloc", "MEMCG_VMALLOC", UNIT_PAGE },
	[CGROUP_PER_CPU] = { "per-CPU memory", "MEMCG_PERCPU_B", UNIT_BYTE },
	[CGROUP_SOCKETS] = { "sockets", "MEMCG_SOCK", UNIT_PAGE },
};

const char *memory_cgroup_kind_name(enum memory_cgroup_kind kind)
{
	return kinds[kind].name;
}

/*
 * Where in the array a counter is. Since 6.10 (ff48c71c26aa) a table leaves out what is not
 * counted: with 255 for that, or, at first, with 0, and numbers from 1 on.
 */
static struct error *find_index(struct target *target, uint64_t number, uint64_t *ret,
				bool *ret_found)
{
	struct object table;
	uint8_t index, first;
	*ret = number;
	*ret_found = true;
	struct error *error =
		object_variable(target, "mem_cgroup_stats_index", "unsigned char", &table);
	if (error && error->kind == ERROR_NOT_FOUND) {
		error_free(error);
		return NULL;
	}
	TRY(error);
	/* The first counter of all is one of those that are counted. */
	TRY(memory_read_u8(target->memory, table.address, &first));
	TRY(memory_read_u8(target->memory, table.address + number, &index));
	*ret_found = first ? index : index != INDEX_NONE;
	*ret = first ? (uint64_t)index - 1 : index;
	return NULL;
}

static struct error *read_kind(const struct object *stats, enum memory_cgroup_kind kind,
			       uint64_t *ret)
{
	struct target *target = stats->target;
	uint32_t id;
	uint64_t index, value;
	bool found;
	char path[40];
	struct btf_enumerator counter;
	*ret = 0;
	bool is_known = btf_find_enumerator(target->btf, kinds[kind].counter, &id, &counter);
	/* Since 7.0 it is a counter of nodes. */
	if (!is_known && kind == CGROUP_VMALLOC)
		is_known = btf_find_enumerator(target->btf, "NR_VMALLOC", &id, &counter);
	if (!is_known || counter.value < 0)
		return NULL;
	TRY(find_index(target, (uint64_t)counter.value, &index, &found));
	if (!found)
		return NULL;
	snprintf(path, sizeof(path), "state[%u]", (unsigned int)index);
	if (!object_has(stats, path))
		return NULL;
	TRY(object_u64(stats, path, &value));
	if ((int64_t)value < 0)
		return NULL;
	static const uint32_t kib = 1024;
	uint64_t unit = kinds[kind].unit == UNIT_PAGE  ? target->facts->page_size
			: kinds[kind].unit == UNIT_KIB ? kib
						       : 1;
	if (__builtin_mul_overflow(value, unit, ret))
		return error_create(ERROR_FORMAT, "the cgroup's counters are not sane");
	return NULL;
}

static struct error *read_kinds(const struct object *group, struct memory_cgroup *ret)
{
	struct object stats;
	TRY(object_follow(group, "vmstats", &stats));
	for (unsigned int i = 0; i < CGROUP_KINDS; i++)
		TRY(read_kind(&stats, i, &ret->kinds[i]));
	uint64_t *file = &ret->kinds[CGROUP_FILE];
	*file -= ret->kinds[CGROUP_SHARED] < *file ? ret->kinds[CGROUP_SHARED] : *file;
	ret->has_kinds = true;
	return NULL;
}

struct error *memory_cgroup_failures(struct target *target, const struct object *group,
				     uint64_t *ret)
{
	struct btf_enumerator event;
	uint64_t is_tracked = 1;
	uint32_t id;
	char path[64];
	/* 7.x counts them for hierarchies of the first version alone: else they stay 0. */
	if (object_has(group, "memory.track_failcnt"))
		TRY(object_u64(group, "memory.track_failcnt", &is_tracked));
	if (is_tracked)
		return object_u64(group, "memory.failcnt", ret);
	if (!btf_find_enumerator(target->btf, "MEMCG_MAX", &id, &event))
		return error_create(ERROR_NOT_FOUND, "the types have no MEMCG_MAX");
	snprintf(path, sizeof(path), "memory_events_local[%" PRId64 "].counter",
		 (int64_t)event.value);
	return object_u64(group, path, ret);
}

struct error *memory_cgroup_read(struct target *target, uint64_t address, struct memory_cgroup *ret)
{
	struct object group;
	uint64_t cgroup, page = target->facts->page_size;
	*ret = (struct memory_cgroup){ .address = address };
	TRY(object_at(target, "struct mem_cgroup", address, &group));
	TRY(object_u64(&group, "memory.usage.counter", &ret->usage));
	TRY(object_u64(&group, "memory.max", &ret->limit));
	if (object_has(&group, "memory.failcnt"))
		TRY(error_only_fatal(memory_cgroup_failures(target, &group, &ret->failures)));
	if (__builtin_mul_overflow(ret->usage, page, &ret->usage))
		return error_create(ERROR_FORMAT, "the cgroup's usage is not sane");
	/* PAGE_COUNTER_MAX is LONG_MAX in pages. */
	if (ret->limit >= INT64_MAX / page)
		ret->limit = UINT64_MAX;
	else
		ret->limit *= page;
	struct error *error = object_u64(&group, "css.cgroup", &cgroup);
	if (!error)
		error = cgroup_path(target, cgroup, ret->path, sizeof(ret->path));
	if (error)
		*ret->path = 0;
	TRY(error_only_fatal(error));
	return error_only_fatal(read_kinds(&group, ret));
}

struct error *task_memory_cgroup(struct target *target, uint64_t task, uint64_t *ret)
{
	struct object object, set, group;
	uint32_t id;
	uint64_t state;
	struct btf_enumerator number;
	char path[40];
	*ret = 0;
	TRY(target_need_btf(target));
	if (!btf_find_enumerator(target->btf, "memory_cgrp_id", &id, &number))
		return NULL;
	TRY(object_at(target, "struct task_struct", task, &object));
	TRY(object_follow(&object, "cgroups", &set));
	snprintf(path, sizeof(path), "subsys[%u]", (unsigned int)number.value);
	TRY(object_u64(&set, path, &state));
	if (!state)
		return NULL;
	TRY(object_container(target, "struct mem_cgroup", "css", state, &group));
	*ret = group.address;
	return NULL;
}

struct error *memory_cgroup_is_below(struct target *target, uint64_t address, uint64_t above,
				     bool *ret)
{
	struct object group;
	*ret = false;
	for (unsigned int depth = 0; depth < DEPTH_MAX && address; depth++) {
		uint64_t state;
		*ret = address == above;
		if (*ret)
			return NULL;
		TRY(object_at(target, "struct mem_cgroup", address, &group));
		TRY(object_u64(&group, "css.parent", &state));
		if (!state)
			return NULL;
		TRY(object_container(target, "struct mem_cgroup", "css", state, &group));
		address = group.address;
	}
	return NULL;
}
