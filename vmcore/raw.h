/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Raw images of memory, without any header: QEMU's memory-backend-file, pmemsave, a hypervisor's
 * .vmem, LiME's formats padded and raw. Nothing tells but the memory itself: the kernel has to be
 * found in it. A hypervisor's file has no hole below 4 GiB although the machine has; LiME's raw
 * format has only what is RAM. The firmware's memory map, which the kernel keeps, says where what
 * lies (kernel Documentation/arch/x86/zero-page.rst, arch/x86/include/uapi/asm/bootparam.h).
 */
#ifndef VMCORE_RAW_H
#define VMCORE_RAW_H

#include "vmcore/elf_core.h"
#include "vmcore/vmcoreinfo.h"

/*
 * Borrows `file`. `given`: the user's VMCOREINFO, NULL: search one. `certain`: the user says that
 * it is an image. ERROR_NOT_FOUND when there is no kernel in it, and it is not certain. *ret_info
 * is the caller's, NULL when none was found; *ret_has_hole: the file's end is memory from 4 GiB on.
 */
struct error *raw_open(const struct dump_file *file, const struct vmcoreinfo *given, bool certain,
		       struct elf_core **ret, struct vmcoreinfo **ret_info,
		       bool *ret_has_hole) MUST_CHECK;

/* --- raw_map.c ---------------------------------------------------------------- */
#define RAW_LAYOUTS_MAX 16

struct raw_layouts {
	struct elf_runs items[RAW_LAYOUTS_MAX];
	size_t count;
	size_t maps; /* that were seen */
};

/* Adds the layouts that memory maps in [offset, offset + size) of the file make possible. */
struct error *raw_find_layouts(const struct dump_file *file, uint64_t offset, uint64_t size,
			       struct raw_layouts *layouts) MUST_CHECK;
void raw_layouts_deinit(struct raw_layouts *layouts);

#endif
