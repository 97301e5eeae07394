/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process's own memory: through its page tables, and, where those have nothing yet, what the
 * process would have found had it looked: a page of the mapped file that is in memory, or zeros.
 */
#ifndef DEBUGGER_KERNEL_USER_SPACE_H
#define DEBUGGER_KERNEL_USER_SPACE_H

#include "debugger/kernel/page_cache.h"
#include "debugger/kernel/task.h"
#include "debugger/target/page_walk.h"

enum user_page_kind {
	USER_PAGE_UNMAPPED,  /* no mapping is there */
	USER_PAGE_PRESENT,   /* in memory, by the process's tables */
	USER_PAGE_ZERO,	     /* the same, the page of zeros that all share */
	USER_PAGE_MIGRATING, /* being moved when the machine died: where it was before */
	USER_PAGE_CACHED,    /* not in the tables, but in memory: a page of the mapped file */
	USER_PAGE_FRESH,     /* never touched: zeros */
	USER_PAGE_IN_FILE,   /* in the mapped file alone */
	USER_PAGE_BEYOND,    /* behind the end of the mapped file */
	USER_PAGE_SWAPPED,   /* swapped out */
	USER_PAGE_SPECIAL,   /* memory of a device, poisoned, a marker */
	USER_PAGE_NOTHING    /* mapped, but not by pages: what is there the kernel would not say */
};

struct user_page {
	enum user_page_kind kind;
	uint64_t start, size; /* what is said holds for: virtual, bytes */
	uint64_t physical;    /* of `start`, for the kinds that are in memory; else 0 */
	uint32_t swap_type;   /* SWAPPED, SPECIAL */
	uint64_t swap_offset;
	uint64_t vma; /* address of its struct vm_area_struct; 0: not looked up, or none */
	struct page_walk walk;
};

struct user_mapping {
	uint64_t start, end, vma;
	uint64_t flags, page_offset; /* VM_*; in the file, pages */
	uint64_t file;		     /* address of its struct file; 0: none */
	bool is_special;	     /* no file, but the kernel's own pages */
};

/* "present", "swapped", ... */
const char *user_page_kind_name(enum user_page_kind kind);
/* It has bytes: they may still not be in the dump. */
bool user_page_has_bytes(const struct user_page *page);

struct user_space;

/* Of a struct mm_struct. The caller closes *ret. */
struct error *user_space_open(struct target *target, uint64_t mm,
			      struct user_space **ret) MUST_CHECK;
/* Of a task's; ERROR_NOT_FOUND: a kernel thread, which has none, or one that has exited. */
struct error *user_space_open_task(struct target *target, const struct task *task,
				   struct user_space **ret) MUST_CHECK;
void user_space_close(struct user_space *space);
/*
 * What is at an address. Errors: tables or structs that the dump does not have, or that contradict
 * themselves; *ret has the run that nothing is known of then.
 */
struct error *user_space_page(struct user_space *space, uint64_t address,
			      struct user_page *ret) MUST_CHECK;
/*
 * Its memory, until it is closed. ERROR_ELSEWHERE: swapped out, or in a file alone; ERROR_FAULT:
 * the process has nothing there.
 */
struct memory *user_space_memory(struct user_space *space);
/* Its mappings by address. *ret_problem: what is wrong with some, NULL; borrowed. */
struct error *user_space_mappings(struct user_space *space, const struct user_mapping **ret,
				  size_t *ret_count, const struct error **ret_problem) MUST_CHECK;
struct target *user_space_target(const struct user_space *space);
/* The address of its struct mm_struct. */
uint64_t user_space_mm(const struct user_space *space);
/* Of the struct page records. */
const struct page_records *user_space_records(const struct user_space *space);

#endif
