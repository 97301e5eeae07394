/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Kernel virtual memory over physical reads: a translation cache and a hashed page cache on top of
 * a page-table walk that the architecture brings.
 */
#ifndef VMCORE_VIRTUAL_H
#define VMCORE_VIRTUAL_H

#include "base/memory.h"

/* A run of virtual memory that is contiguous in physical memory. */
struct translation {
	uint64_t address;  /* virtual start, aligned to size */
	uint64_t physical; /* physical start */
	uint64_t size;	   /* bytes: 4 KiB, 2 MiB, 1 GiB, ... */
};

struct translator {
	/*
	 * Walks the tables for one address. Errors: ERROR_FAULT when it is not mapped, or the error
	 * of reading a table, whose `address` must then be the virtual address asked for.
	 */
	struct error *(*translate)(const struct translator *translator, uint64_t address,
				   struct translation *ret);
};

/* Borrows both. Word size and byte order are taken from `physical`. */
struct error *virtual_memory_create(struct memory *physical, const struct translator *translator,
				    struct memory **ret) MUST_CHECK;
void virtual_memory_destroy(struct memory *memory);
struct vmcore;
/*
 * From now on the running kernel is read, by vmcore_read_live() where that serves, and nothing of
 * its tables is remembered. Borrows `vmcore`.
 */
void virtual_memory_set_live(struct memory *memory, struct vmcore *vmcore);
/* The physical address of a virtual one. */
struct error *virtual_memory_translate(struct memory *memory, uint64_t address,
				       uint64_t *ret) MUST_CHECK;

#endif
