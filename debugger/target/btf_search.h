/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernel's BTF by its looks, for dumps whose kallsyms are gone and with them __start_BTF. */
#ifndef DEBUGGER_TARGET_BTF_SEARCH_H
#define DEBUGGER_TARGET_BTF_SEARCH_H

#include "base/memory.h"

/*
 * Searches the kernel image from `stext` on for a BTF header with the types of a kernel behind it.
 * ERROR_NOT_FOUND. `*ret_size` in bytes.
 */
struct error *btf_search(struct memory *memory, uint64_t stext, uint64_t *ret_address,
			 uint64_t *ret_size) MUST_CHECK;

#endif
