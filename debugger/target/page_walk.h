/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The way of one address through page tables, entry by entry; what they say of it, not more. */
#ifndef DEBUGGER_TARGET_PAGE_WALK_H
#define DEBUGGER_TARGET_PAGE_WALK_H

#include <stddef.h>
#include <stdint.h>

#define PAGE_WALK_STEPS_MAX 5
/* In the place of the root's address: the kernel's own tables. */
#define PAGE_ROOT_KERNEL UINT64_MAX

enum page_state {
	PAGE_ABSENT,	/* nothing was ever there, or nothing is left */
	PAGE_PRESENT,	/* the processor reaches it */
	PAGE_PROTECTED, /* in memory, but no access is allowed: PROT_NONE, NUMA hints */
	PAGE_SWAPPED	/* the entry has a number instead: of a swap file, or of a special kind */
};

struct page_step {
	uint64_t physical; /* of the entry itself */
	uint64_t entry;
	const char *name; /* the kernel's word for its level: "PGD" */
};

struct page_walk {
	struct page_step steps[PAGE_WALK_STEPS_MAX]; /* from the top down */
	size_t count;
	enum page_state state; /* of the last of them */
	uint64_t start, size;  /* what that entry stands for: virtual, bytes */
	uint64_t physical;     /* of the address: where it is in memory */
	uint32_t swap_type;    /* PAGE_SWAPPED */
	uint64_t swap_offset;
};

#endif
