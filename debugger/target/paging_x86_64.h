/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page tables of x86-64 (Intel SDM volume 3, chapter 4; kernel arch/x86/include/asm/pgtable*).
 */
#ifndef DEBUGGER_TARGET_PAGING_X86_64_H
#define DEBUGGER_TARGET_PAGING_X86_64_H

#include "base/memory.h"
#include "debugger/target/page_walk.h"
#include "vmcore/virtual.h"
#include "vmcore/vmcoreinfo.h"

/*
 * A translator over the kernel's own tables, of 4 or 5 levels. Borrows `physical`; caller frees
 * *ret with free(). ERROR_NOT_FOUND names the VMCOREINFO key that is missing.
 */
struct error *paging_x86_64_create(struct memory *physical, const struct vmcoreinfo *info,
				   struct translator **ret) MUST_CHECK;
/* arch.page_walk, and the names of an entry's bits. */
struct error *paging_x86_64_walk(const struct translator *translator, uint64_t root,
				 uint64_t address, struct page_walk *ret) MUST_CHECK;
#define PAGING_X86_64_FLAGS 64
extern const char *const paging_x86_64_flags[PAGING_X86_64_FLAGS];

#endif
