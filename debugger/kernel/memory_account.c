// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/memory_account.h"

#include "debugger/kernel/page_counters.h"
#include "debugger/kernel/zones.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define HUGE_SIZES_MAX 16
#define KIB	       1024u

const char *memory_kind_name(enum memory_kind kind)
{
	static const char *const names[] = {
		[MEMORY_FREE] = "free",
		[MEMORY_FREE_OF_CPU] = "free, kept by CPUs",
		[MEMORY_ANONYMOUS] = "anonymous memory",
		[MEMORY_FILE] = "files",
		[MEMORY_SHARED] = "tmpfs and shared memory",
		[MEMORY_SWAP_CACHE] = "swap cache",
		[MEMORY_RECLAIMABLE] = "reclaimable slabs",
		[MEMORY_SLAB] = "unreclaimable slabs",
		[MEMORY_MISCELLANEOUS] = "other reclaimable memory",
		[MEMORY_TABLES] = "page tables",
		[MEMORY_STACKS] = "kernel stacks",
		[MEMORY_VMALLOC] = "vmalloc",
		[MEMORY_PER_CPU] = "per-CPU memory",
		[MEMORY_HUGE] = "huge pages",
		[MEMORY_ZSMALLOC] = "compressed memory",
	};
	return names[kind];
}

static uint64_t counter(const struct page_counters *counters, const char *name)
{
	uint64_t value;
	return page_counter(counters, name, &value) ? value : 0;
}

static uint64_t less(uint64_t from, uint64_t part)
{
	return from > part ? from - part : 0;
}

/* Pages in an unsigned long or an atomic_long_t, 0 where this kernel has no such variable. */
static struct error *read_pages(struct target *target, const char *name, uint64_t *ret)
{
	struct object variable;
	struct error *error = object_variable(target, name, "unsigned long", &variable);
	*ret = 0;
	if (error && error->kind == ERROR_NOT_FOUND) {
		error_free(error);
		return NULL;
	}
	TRY(error);
	TRY(object_u64(&variable, NULL, ret));
	if (*ret > PAGES_LIMIT)
		return error_create(ERROR_FORMAT, "%s: too many pages", name);
	return NULL;
}

/* The kernel keeps both alike (mm/page_alloc.c: adjust_managed_page_count()). */
static struct error *check_total(const struct memory_account *account, uint64_t managed)
{
	uint64_t more = less(managed, account->total) + less(account->total, managed);
	return more > account->total / 16
		       ? error_create(ERROR_FORMAT,
				      "_totalram_pages is %" PRIu64 ", and the zones have %" PRIu64,
				      account->total, managed)
		       : NULL;
}

static struct error *read_free(struct target *target, struct memory_account *ret)
{
	uint64_t managed = 0;
	struct zones *zones = malloc(sizeof(*zones));
	if (!zones)
		return error_no_memory();
	struct error *error = zones_read(target, zones);
	for (size_t i = 0; i < zones->count && !error; i++) {
		ret->pages[MEMORY_FREE] += zones->items[i].free;
		ret->pages[MEMORY_FREE_OF_CPU] += zones->items[i].per_cpu;
		managed += zones->items[i].managed;
	}
	free(zones);
	return error ? error : check_total(ret, managed);
}

/* Stacks are of vmalloc where the kernel was built so (CONFIG_VMAP_STACK). */
static struct error *read_vmalloc(struct target *target, const struct page_counters *counters,
				  struct memory_account *ret)
{
	struct object task;
	uint64_t pages;
	TRY(object_at(target, "struct task_struct", 0, &task));
	/* A counter of nodes since 7.0. */
	if (!page_counter(counters, "NR_VMALLOC", &pages))
		TRY(read_pages(target, "nr_vmalloc_pages", &pages));
	ret->pages[MEMORY_STACKS] = counter(counters, "NR_KERNEL_STACK_KB") * KIB / ret->page_size;
	ret->pages[MEMORY_VMALLOC] =
		object_has(&task, "stack_vm_area") ? less(pages, ret->pages[MEMORY_STACKS]) : pages;
	return NULL;
}

/* Without the first chunk, which was there before the page allocator was. */
static struct error *read_per_cpu(struct target *target, struct memory_account *ret)
{
	uint64_t populated, chunk, first;
	const struct cpu *cpus;
	struct object object;
	TRY(target_need_cpus(target));
	size_t count = target_cpus(target, &cpus);
	TRY(read_pages(target, "pcpu_nr_populated", &populated));
	if (!populated)
		return NULL;
	TRY(object_variable(target, "pcpu_first_chunk", "unsigned long", &object));
	TRY(object_u64(&object, NULL, &chunk));
	TRY(object_at(target, "struct pcpu_chunk", chunk, &object));
	TRY(object_u64(&object, "nr_populated", &first));
	if (__builtin_mul_overflow(less(populated, first), count, &ret->pages[MEMORY_PER_CPU]))
		return error_create(ERROR_FORMAT, "per-CPU memory is not sane");
	return NULL;
}

static struct error *read_huge(struct target *target, struct memory_account *ret)
{
	struct object state, count;
	uint64_t sizes, size, order, pages;
	struct error *error = object_variable(target, "hugetlb_max_hstate", "int", &count);
	if (error && error->kind == ERROR_NOT_FOUND) {
		error_free(error);
		return NULL;
	}
	TRY(error);
	TRY(object_u64(&count, NULL, &sizes));
	TRY(object_variable(target, "hstates", "struct hstate", &state));
	if (!type_size(state.type, &size))
		return error_create(ERROR_FORMAT, "struct hstate has no size");
	for (uint64_t i = 0; i < sizes && i < HUGE_SIZES_MAX; i++, state.address += size) {
		TRY(object_u64(&state, "order", &order));
		TRY(object_u64(&state, "nr_huge_pages", &pages));
		if (order < ORDERS_MAX && pages <= ret->total >> order)
			ret->pages[MEMORY_HUGE] += pages << order;
	}
	return NULL;
}

static void take_counters(const struct page_counters *counters, struct memory_account *ret)
{
	uint64_t swap = counter(counters, "NR_SWAPCACHE");
	uint64_t shared = counter(counters, "NR_SHMEM");
	ret->pages[MEMORY_ANONYMOUS] = counter(counters, "NR_ANON_MAPPED");
	ret->pages[MEMORY_SHARED] = shared;
	ret->pages[MEMORY_FILE] = less(counter(counters, "NR_FILE_PAGES"), shared + swap);
	ret->pages[MEMORY_RECLAIMABLE] = counter(counters, "NR_SLAB_RECLAIMABLE_B");
	ret->pages[MEMORY_SLAB] = counter(counters, "NR_SLAB_UNRECLAIMABLE_B");
	ret->pages[MEMORY_MISCELLANEOUS] = counter(counters, "NR_KERNEL_MISC_RECLAIMABLE");
	/* A counter of zones in 5.10, of nodes from 5.12 on. */
	ret->pages[MEMORY_TABLES] =
		counter(counters, "NR_PAGETABLE") + counter(counters, "NR_SECONDARY_PAGETABLE");
	ret->pages[MEMORY_ZSMALLOC] = counter(counters, "NR_ZSPAGES");
	/* Pages that are mapped have been counted: of the swap cache the least is what is left. */
	uint64_t lru = counter(counters, "NR_INACTIVE_ANON") + counter(counters, "NR_ACTIVE_ANON");
	uint64_t alone = less(lru, ret->pages[MEMORY_ANONYMOUS] + shared);
	ret->pages[MEMORY_SWAP_CACHE] = alone < swap ? alone : swap;
}

struct error *memory_account_read(struct target *target, struct memory_account *ret)
{
	struct page_counters counters;
	*ret = (struct memory_account){ .page_size = target->facts->page_size };
	TRY(read_pages(target, "_totalram_pages", &ret->total));
	TRY(page_counters_read(target, &counters));
	take_counters(&counters, ret);
	TRY(read_free(target, ret));
	TRY(read_vmalloc(target, &counters, ret));
	TRY(read_per_cpu(target, ret));
	TRY(read_huge(target, ret));
	ret->unaccounted = ret->total;
	for (size_t i = 0; i < MEMORY_KINDS; i++)
		ret->unaccounted = less(ret->unaccounted, ret->pages[i]);
	return NULL;
}
