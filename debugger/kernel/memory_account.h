/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who has the machine's memory, by kind, from the kernel's own counters (kernel fs/proc/meminfo.c).
 * No page is in two of the kinds; those in none are what somebody took from the page allocator
 * itself and counts nowhere.
 */
#ifndef DEBUGGER_KERNEL_MEMORY_ACCOUNT_H
#define DEBUGGER_KERNEL_MEMORY_ACCOUNT_H

#include "debugger/target/target.h"

enum memory_kind {
	MEMORY_FREE,	    /* in the buddy allocator: MemFree of /proc/meminfo */
	MEMORY_FREE_OF_CPU, /* in the lists of CPUs, which take from there first */
	MEMORY_ANONYMOUS,
	MEMORY_FILE,	      /* page cache of files on disks */
	MEMORY_SHARED,	      /* tmpfs, shared memory */
	MEMORY_SWAP_CACHE,    /* of anonymous pages that nobody maps */
	MEMORY_RECLAIMABLE,   /* slabs */
	MEMORY_SLAB,	      /* that are not, and what is too big for one */
	MEMORY_MISCELLANEOUS, /* the kernel's own, which it can give back */
	MEMORY_TABLES,
	MEMORY_STACKS,
	MEMORY_VMALLOC, /* without stacks that lie there */
	MEMORY_PER_CPU,
	MEMORY_HUGE,
	MEMORY_ZSMALLOC, /* zram, zswap */
	MEMORY_KINDS
};

struct memory_account {
	uint64_t page_size;
	uint64_t total;		      /* pages, MemTotal of /proc/meminfo */
	uint64_t pages[MEMORY_KINDS]; /* 0, too, where the kernel has no such counter */
	uint64_t unaccounted;	      /* pages that are in none of these */
};

/* Errors: what the dump lacks. */
struct error *memory_account_read(struct target *target, struct memory_account *ret) MUST_CHECK;
/* "anonymous memory", "page tables". */
const char *memory_kind_name(enum memory_kind kind);

#endif
