// SPDX-License-Identifier: GPL-3.0-or-later
/* Memory that is lost, or in pieces. */
#include "faults.h"

#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#define LAB_LEAKED	 100000
#define LAB_LEAKED_BYTES (24 << 20)
#define LAB_HIGH_ORDER	 10
#define LAB_LOW_ORDER	 6
#define LAB_KEPT	 16 /* of so many pages of a block one is kept */

struct lab_record {
	u64 number;
	struct list_head list;
	struct lab_device *device;
	u8 data[24];
};

static struct kmem_cache *lab_leak_cache;
static LIST_HEAD(lab_records);

/* Of each big block that there is a few pages are kept: the rest is free, and of no use. */
static noinline int lab_fragment_memory(struct lab_device *device)
{
	LIST_HEAD(blocks);
	struct page *page, *next;
	unsigned int order, i;

	for (order = LAB_HIGH_ORDER; order >= LAB_LOW_ORDER; order--)
		while ((page = alloc_pages(GFP_KERNEL, order))) {
			set_page_private(page, order);
			list_add(&page->lru, &blocks);
		}
	list_for_each_entry_safe(page, next, &blocks, lru)
	{
		order = page_private(page);
		list_del(&page->lru);
		set_page_private(page, 0);
		split_page(page, order);
		for (i = 0; i < 1u << order; i++)
			if (i % LAB_KEPT)
				__free_page(page + i);
	}
	return 0;
}

static noinline int lab_leak_records(struct lab_device *device)
{
	struct lab_record *record;
	u64 number;

	for (number = 0; number < LAB_LEAKED; number++) {
		record = kmem_cache_zalloc(lab_leak_cache, GFP_KERNEL);
		if (!record)
			return -ENOMEM;
		record->number = number;
		record->device = device;
		list_add_tail(&record->list, &lab_records);
	}
	return 0;
}

/* The same in a cache that everybody uses. */
static noinline int lab_leak_buffers(struct lab_device *device)
{
	struct lab_record *record;
	u64 number;

	for (number = 0; number < LAB_LEAKED; number++) {
		record = kzalloc(sizeof(*record) + 16, GFP_KERNEL);
		if (!record)
			return -ENOMEM;
		record->number = number;
		record->device = device;
		list_add(&record->list, &lab_records);
	}
	return 0;
}

static noinline int lab_leak_pages(struct lab_device *device)
{
	size_t size;

	for (size = 0; size < LAB_LEAKED_BYTES; size += PAGE_SIZE)
		if (!__get_free_page(GFP_KERNEL))
			return -ENOMEM;
	return 0;
}

static noinline int lab_leak_vmalloc(struct lab_device *device)
{
	size_t size;

	for (size = 0; size < LAB_LEAKED_BYTES; size += 16 * PAGE_SIZE)
		if (!vmalloc(16 * PAGE_SIZE))
			return -ENOMEM;
	return 0;
}

/* Until there is none: what is left, the kernel keeps for those who may take more. */
static noinline void lab_fill(struct list_head *pages, gfp_t flags)
{
	struct page *page;

	while ((page = alloc_page(flags)))
		list_add(&page->lru, pages);
}

static noinline void lab_empty(struct list_head *pages)
{
	struct page *page, *next;

	list_for_each_entry_safe(page, next, pages, lru)
	{
		list_del(&page->lru);
		__free_page(page);
	}
}

/* As a driver that must not wait for memory. */
static noinline int lab_fault_watermark(struct lab_device *device)
{
	LIST_HEAD(pages);

	lab_fill(&pages, GFP_ATOMIC);
	lab_empty(&pages);
	return 0;
}

/* On behalf of a task that may have memory of one node only. */
static noinline int lab_fault_cpuset(struct lab_device *device)
{
	LIST_HEAD(pages);

	lab_fill(&pages, GFP_USER | __GFP_NORETRY);
	lab_empty(&pages);
	return 0;
}

/* All that there is, of one kind */

static noinline int lab_fault_oomslab(struct lab_device *device)
{
	struct lab_record *record;

	while ((record = kmem_cache_zalloc(lab_leak_cache, GFP_KERNEL))) {
		record->device = device;
		list_add_tail(&record->list, &lab_records);
	}
	return -ENOMEM;
}

static noinline int lab_fault_oomvm(struct lab_device *device)
{
	while (vmalloc(16 * PAGE_SIZE))
		device->users++;
	return -ENOMEM;
}

int lab_memory_init(void)
{
	lab_leak_cache = lab_cache("lab_leak", sizeof(struct lab_record));
	return lab_leak_cache ? 0 : -ENOMEM;
}

const struct fault lab_memory_faults[] = {
	{ "order", lab_fragment_memory },    { "leak", lab_leak_records },
	{ "leakpages", lab_leak_pages },     { "leakvm", lab_leak_vmalloc },
	{ "leakbuffers", lab_leak_buffers }, { "watermark", lab_fault_watermark },
	{ "cpuset", lab_fault_cpuset },	     { "oomslab", lab_fault_oomslab },
	{ "oomvm", lab_fault_oomvm },	     { NULL, NULL },
};
