/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The memory that BPF maps have from vmalloc, which is that of all big ones (kernel
 * kernel/bpf/arraymap.c, hashtab.c). Maps of other types count with what lies beside their struct
 * bpf_map; what they have for each CPU, or take entry by entry, is in other accounts.
 */
#ifndef DEBUGGER_KERNEL_BPF_MEMORY_H
#define DEBUGGER_KERNEL_BPF_MEMORY_H

#include "debugger/kernel/bpf_objects.h"

#define BPF_TOP 3

struct bpf_memory {
	uint64_t maps;	/* that there are */
	uint64_t pages; /* of all of them */
	struct {
		struct bpf_map map;
		uint64_t pages;
	} items[BPF_TOP]; /* those that have most, the largest first */
	size_t count;
};

/* Maps that cannot be read are left out. */
struct error *bpf_memory_read(struct target *target, struct bpf_memory *ret) MUST_CHECK;

#endif
