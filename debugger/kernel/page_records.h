/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which struct page is of which page: they lie one behind the other in vmemmap (kernel
 * include/asm-generic/memory_model.h).
 */
#ifndef DEBUGGER_KERNEL_PAGE_RECORDS_H
#define DEBUGGER_KERNEL_PAGE_RECORDS_H

#include "debugger/target/object.h"

struct page_records {
	struct target *target;
	uint64_t base, record_size; /* of vmemmap; bytes of a struct page */
	uint64_t page_size;	    /* bytes */
};

/* Errors: the kernel has no vmemmap_base. */
struct error *page_records_init(struct target *target, struct page_records *ret) MUST_CHECK;
/* The address of a page's struct page; no more than that: the page need not be memory. */
uint64_t page_record_of(const struct page_records *records, uint64_t physical);
/* The physical address of a struct page's page. ERROR_FORMAT: there can be no such page. */
struct error *page_record_physical(const struct page_records *records, uint64_t record,
				   uint64_t *ret) MUST_CHECK;

/* Where a struct page has its flags: within memdesc_flags_t since 6.18 (53fbef56e07d). A literal.
 */
const char *page_flags_path(const struct object *page);
/* The bit of a flag, "PG_reserved"; false: the kernel has no such flag. */
bool page_flag_bit(const struct target *target, const char *name, unsigned int *ret);

#endif
