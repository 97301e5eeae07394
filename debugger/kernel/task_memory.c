// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/task_memory.h"

#include "base/array.h"
#include "debugger/kernel/task.h"
#include "debugger/target/attached.h"
#include "debugger/target/object.h"
#include <stdio.h>
#include <stdlib.h>

enum { KIND_FILE, KIND_ANONYMOUS, KIND_SHARED, KIND_SWAP, KINDS };

static const char *const kind_names[KINDS] = { "MM_FILEPAGES", "MM_ANONPAGES", "MM_SHMEMPAGES",
					       "MM_SWAPENTS" };

/* False: this kernel does not count them. */
static bool kind_index(const struct target *target, unsigned int kind, int *ret)
{
	uint32_t id;
	struct btf_enumerator found;
	if (!btf_find_enumerator(target->btf, kind_names[kind], &id, &found))
		return false;
	*ret = (int)found.value;
	return true;
}

/* --- what threads have yet to add (up to 6.1: SPLIT_RSS_COUNTING) ---------------------------- */

struct pending {
	uint64_t mm;
	int64_t pages[KINDS];
};

/* By address space, each once. */
struct pending_list {
	struct target *target;
	struct pending *items;
	size_t count, capacity;
};

static void pending_destroy(void *data)
{
	struct pending_list *list = data;
	free(list->items);
	free(list);
}

static struct error *read_pending(const struct object *task, struct pending *ret)
{
	for (unsigned int kind = 0; kind < KINDS; kind++) {
		char path[40];
		int index;
		uint64_t pages;
		if (!kind_index(task->target, kind, &index))
			continue;
		snprintf(path, sizeof(path), "rss_stat.count[%d]", index);
		TRY(object_u64(task, path, &pages));
		ret->pages[kind] = (int64_t)pages;
	}
	return object_u64(task, "mm", &ret->mm);
}

/* A thread that cannot be read adds nothing. */
static struct error *add_thread(void *context, const struct task *task)
{
	struct pending_list *list = context;
	struct object object;
	struct pending pending = { .mm = 0 };
	TRY(object_at(list->target, "struct task_struct", task->address, &object));
	struct error *error = read_pending(&object, &pending);
	if (error || !pending.mm)
		return error_only_fatal(error);
	if (!array_reserve(&list->items, &list->capacity, list->count + 1))
		return error_no_memory();
	list->items[list->count++] = pending;
	return NULL;
}

static int compare_mm(const void *a, const void *b)
{
	uint64_t x = ((const struct pending *)a)->mm, y = ((const struct pending *)b)->mm;
	return x < y ? -1 : x > y;
}

/* As the kernel's counters are added, which may be anything here: it wraps. */
static int64_t sum_of(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static void add_up(struct pending_list *list)
{
	size_t used = 0;
	if (list->count)
		array_sort(list->items, list->count, sizeof(*list->items), compare_mm);
	for (size_t i = 0; i < list->count; i++) {
		if (!used || list->items[used - 1].mm != list->items[i].mm) {
			list->items[used++] = list->items[i];
			continue;
		}
		for (unsigned int kind = 0; kind < KINDS; kind++)
			list->items[used - 1].pages[kind] = sum_of(
				list->items[used - 1].pages[kind], list->items[i].pages[kind]);
	}
	list->count = used;
}

static const char pending_key;

/* Borrowed. Errors: fatal ones, no memory. */
static struct error *find_list(struct target *target, const struct pending_list **ret)
{
	struct error *problem = NULL;
	*ret = target_attached(target, &pending_key);
	if (*ret)
		return NULL;
	struct pending_list *list = calloc(1, sizeof(*list));
	if (!list)
		return error_no_memory();
	list->target = target;
	struct error *error = task_for_each(target, add_thread, list, &problem);
	/* What of the tasks cannot be read is said where they are listed. */
	error_free(problem);
	if (error) {
		pending_destroy(list);
		return error;
	}
	add_up(list);
	TRY(target_attach(target, &pending_key, list, pending_destroy));
	*ret = list;
	return NULL;
}

/* Pages of each kind that threads have counted, and not yet added to their address space. */
static struct error *add_pending(const struct object *task, uint64_t mm, int64_t pages[KINDS])
{
	const struct pending_list *list;
	const struct pending wanted = { .mm = mm };
	/* A machine that runs has other threads by then. */
	if (!object_has(task, "rss_stat.count") || target_is_live(task->target))
		return NULL;
	TRY(find_list(task->target, &list));
	const struct pending *found = list->count ? array_search(&wanted, list->items, list->count,
								 sizeof(*list->items), compare_mm)
						  : NULL;
	for (unsigned int kind = 0; found && kind < KINDS; kind++)
		pages[kind] = sum_of(pages[kind], found->pages[kind]);
	return NULL;
}

/* --- an address space ------------------------------------------------------------------------ */

/* The exact value of a struct percpu_counter: what it has and what each CPU has yet to add. */
static struct error *read_counter(const struct object *counter, int64_t *ret)
{
	const struct cpu *cpus;
	struct target *target = counter->target;
	TRY(target_need_cpus(target));
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

static struct error *read_kind(const struct object *mm, unsigned int kind, int64_t *ret)
{
	char path[40];
	int index;
	*ret = 0;
	if (!kind_index(mm->target, kind, &index))
		return NULL;
	/* Of percpu_counters since 6.2, before of atomic_long_t in a struct. */
	snprintf(path, sizeof(path), "rss_stat[%d]", index);
	if (object_has(mm, path)) {
		struct object counter;
		TRY(object_member(mm, path, &counter));
		return read_counter(&counter, ret);
	}
	uint64_t value;
	snprintf(path, sizeof(path), "rss_stat.count[%d].counter", index);
	TRY(object_u64(mm, path, &value));
	*ret = (int64_t)value;
	return NULL;
}

struct error *task_memory_read(struct target *target, uint64_t task, struct task_memory *ret)
{
	struct object object, mm;
	int64_t pages[KINDS];
	*ret = (struct task_memory){ .mm = 0 };
	TRY(object_at(target, "struct task_struct", task, &object));
	TRY(object_u64(&object, "mm", &ret->mm));
	if (!ret->mm)
		return NULL;
	TRY(object_at(target, "struct mm_struct", ret->mm, &mm));
	for (unsigned int kind = 0; kind < KINDS; kind++)
		TRY(read_kind(&mm, kind, &pages[kind]));
	TRY(add_pending(&object, ret->mm, pages));
	for (unsigned int kind = 0; kind < KINDS; kind++)
		pages[kind] = pages[kind] < 0 ? 0 : pages[kind];
	ret->file = (uint64_t)pages[KIND_FILE];
	ret->anonymous = (uint64_t)pages[KIND_ANONYMOUS];
	ret->shared = (uint64_t)pages[KIND_SHARED];
	ret->swap = (uint64_t)pages[KIND_SWAP];
	return NULL;
}
