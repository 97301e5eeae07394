/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What an address is that nothing can be read from, or a pointer that should not be one. The values
 * are the kernel's: include/linux/{poison,err}.h, arch/x86/include/asm/page_64_types.h.
 */
#ifndef DEBUGGER_ANALYSIS_BAD_ADDRESS_H
#define DEBUGGER_ANALYSIS_BAD_ADDRESS_H

#include "debugger/kernel/task.h"

enum bad_kind {
	BAD_NOTHING,	   /* it may be good */
	BAD_NULL,	   /* NULL, and what was added to it */
	BAD_SMALL,	   /* a number that lay where the pointer was read from */
	BAD_ERROR,	   /* an error number that was taken for a pointer */
	BAD_LIST_POISON,   /* what list_del() leaves in the entry */
	BAD_FREE_POISON,   /* what slab debugging leaves in a freed object */
	BAD_NON_CANONICAL, /* no address of any half */
	BAD_USER,	   /* user space's half; where the task's mappings were looked at: mapped */
	BAD_LOW,	   /* user space's half, and nothing of the task's */
	BAD_GUARD,	   /* the page below a task's stack */
	BAD_MISALIGNED	   /* a good address, for another instruction than this one */
};

struct bad_address {
	enum bad_kind kind;
	uint64_t offset; /* from NULL or the poison, bytes */
	int number;	 /* of an error, positive */
	char text[128];	 /* "NULL + 0x8", "LIST_POISON1 + 0x10", "-ENOMEM as a pointer" */
};

/* `task`: whose stack's guard page counts; NULL: none. */
void bad_address_find(const struct target *target, const struct task *task, uint64_t address,
		      struct bad_address *ret);

/*
 * The same, after a look at what the task has mapped, and at the value's bytes: BAD_USER and
 * BAD_NON_CANONICAL may be text that was written over the pointer. Errors are fatal ones only.
 */
struct error *bad_address_look_up(struct target *target, const struct task *task, uint64_t address,
				  struct bad_address *ret) MUST_CHECK;

#endif
