// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/task_memory.h"

#include "debugger/target/object.h"
#include <stdio.h>

/* The exact value of a struct percpu_counter: what it has and what each CPU has yet to add. */
static struct error *read_counter(const struct object *counter, int64_t *ret)
{
	const struct cpu *cpus;
	struct target *target = counter->target;
	size_t count = target_cpus(target, &cpus);
	uint64_t base, sum;
	TRY(object_u64(counter, "count", &sum));
	TRY(object_u64(counter, "counters", &base));
	for (size_t i = 0; i < count && base; i++) {
		uint32_t part;
		TRY(memory_read_u32(target->memory, base + cpus[i].per_cpu_offset, &part));
		sum += (uint64_t)(int64_t)(int32_t)part;
	}
	*ret = (int64_t)sum;
	return NULL;
}

static struct error *read_kind(const struct object *mm, const char *name, uint64_t *ret)
{
	uint32_t id;
	struct btf_enumerator kind;
	char path[40];
	int64_t pages;
	*ret = 0;
	if (!btf_find_enumerator(mm->target->btf, name, &id, &kind))
		return NULL;
	/* Of percpu_counters since 6.2, before of atomic_long_t in a struct. */
	snprintf(path, sizeof(path), "rss_stat[%d]", (int)kind.value);
	if (object_has(mm, path)) {
		struct object counter;
		TRY(object_member(mm, path, &counter));
		TRY(read_counter(&counter, &pages));
	} else {
		uint64_t value;
		snprintf(path, sizeof(path), "rss_stat.count[%d].counter", (int)kind.value);
		TRY(object_u64(mm, path, &value));
		pages = (int64_t)value;
	}
	*ret = pages < 0 ? 0 : (uint64_t)pages;
	return NULL;
}

struct error *task_memory_read(struct target *target, uint64_t task, struct task_memory *ret)
{
	struct object object, mm;
	*ret = (struct task_memory){ .mm = 0 };
	TRY(object_at(target, "struct task_struct", task, &object));
	TRY(object_u64(&object, "mm", &ret->mm));
	if (!ret->mm)
		return NULL;
	TRY(object_at(target, "struct mm_struct", ret->mm, &mm));
	TRY(read_kind(&mm, "MM_FILEPAGES", &ret->file));
	TRY(read_kind(&mm, "MM_ANONPAGES", &ret->anonymous));
	TRY(read_kind(&mm, "MM_SHMEMPAGES", &ret->shared));
	return read_kind(&mm, "MM_SWAPENTS", &ret->swap);
}
