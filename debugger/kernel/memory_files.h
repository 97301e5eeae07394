/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files that are nowhere but in memory: of tmpfs, memfd, SysV and shared anonymous mappings (kernel
 * mm/shmem.c).
 */
#ifndef DEBUGGER_KERNEL_MEMORY_FILES_H
#define DEBUGGER_KERNEL_MEMORY_FILES_H

#include "debugger/target/target.h"

#define MEMORY_FILES_TOP 3

struct memory_file {
	uint64_t inode; /* address */
	uint64_t pages; /* in memory */
	char name[512]; /* with the folder that its filesystem is mounted on; raw bytes, "": none */
};

struct memory_files {
	struct memory_file items[MEMORY_FILES_TOP]; /* with most pages, the largest first */
	size_t count;
	uint64_t files, pages; /* of all */
};

/* What can be reached. Errors: no superblock can be. */
struct error *memory_files_read(struct target *target, struct memory_files *ret) MUST_CHECK;

#endif
