/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the kernel has of files in memory: a struct address_space maps page numbers to pages (kernel
 * include/linux/fs.h, pagemap.h).
 */
#ifndef DEBUGGER_KERNEL_PAGE_CACHE_H
#define DEBUGGER_KERNEL_PAGE_CACHE_H

#include "debugger/kernel/page_records.h"

enum cached_state {
	CACHED_NOT,    /* the file's own storage has it, or it is a hole */
	CACHED_IN,     /* a page in memory */
	CACHED_SWAPPED /* of tmpfs and shared memory: swapped out */
};

struct cached_page {
	enum cached_state state;
	uint64_t record, physical; /* CACHED_IN: of its struct page; of the page */
	uint32_t swap_type;	   /* CACHED_SWAPPED */
	uint64_t swap_offset;
};

struct page_cache {
	const struct page_records *records;
	struct object mapping; /* struct address_space */
	uint64_t size;	       /* of the file, bytes */
	uint64_t inode;	       /* address of its struct inode */
	bool is_shmem;	       /* what is not in memory is swapped out, or zeros */
};

/* Of the struct address_space there. Borrows `records`. */
struct error *page_cache_init(const struct page_records *records, uint64_t mapping,
			      struct page_cache *ret) MUST_CHECK;
/*
 * ERROR_FORMAT: what is there does not say that it is this page of this file: nothing is shown as
 * a file's that is not.
 */
struct error *page_cache_find(const struct page_cache *cache, uint64_t index,
			      struct cached_page *ret) MUST_CHECK;

#endif
