/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The array of struct page, and where physical memory is mapped (kernel mm/sparse-vmemmap.c). */
#ifndef DEBUGGER_KERNEL_PAGE_ARRAY_H
#define DEBUGGER_KERNEL_PAGE_ARRAY_H

#include "debugger/kernel/page_records.h"

struct page_array {
	struct page_records records;
	uint64_t count;	       /* page frames that there may be */
	uint64_t direct_map;   /* where physical address 0 is */
	struct object page;    /* the type of a struct page; the address is 0 */
	uint64_t flags_offset; /* of an unsigned long in it */
};

/* Errors: what the dump or its kernel lacks. */
struct error *page_array_read(struct target *target, struct page_array *ret) MUST_CHECK;
/* The struct page of a frame; false: there is none. */
bool page_array_at(const struct page_array *pages, uint64_t frame, uint64_t *ret);
/* The frame whose struct page holds the address; false: it is none's. */
bool page_array_frame(const struct page_array *pages, uint64_t address, uint64_t *ret);
struct error *page_array_flags(const struct page_array *pages, uint64_t frame,
			       uint64_t *ret) MUST_CHECK;

#endif
