/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the running kernel says of itself where its memory would change under the reader: BTF by
 * /sys/kernel/btf, BPF programs and maps by bpf(2), both through libbpf (1.0 or later), which is
 * loaded when first asked for. For the helper process (debugger/helper/serve.c): the one that reads
 * memory may neither open files nor call bpf(2), and asks by debugger/target/live.h. Nothing here
 * has to do with a dump.
 *
 * `make LIBBPF=no` and the static program have kdump/no-libbpf.c in the place of this.
 */
#ifndef DEBUGGER_TARGET_RUNNING_KERNEL_H
#define DEBUGGER_TARGET_RUNNING_KERNEL_H

#include "base/error.h"
#include <stdint.h>

#define RUNNING_NAME_SIZE 16 /* BPF_OBJ_NAME_LEN */
#define RUNNING_MAPS_MAX  64 /* the kernel's MAX_USED_MAPS */

/* struct bpf_prog_info (kernel include/uapi/linux/bpf.h), as far as it is shown. */
struct running_program {
	uint32_t id, type, uid;
	uint32_t instruction_bytes, jited_bytes, function_count;
	uint64_t load_time; /* nanoseconds since boot */
	uint8_t tag[8];
	char name[RUNNING_NAME_SIZE];
	uint32_t map_count;
	uint32_t maps[RUNNING_MAPS_MAX]; /* ids */
};

/* struct bpf_map_info. */
struct running_map {
	uint32_t id, type, key_size, value_size, max_entries;
	char name[RUNNING_NAME_SIZE];
};

struct running_kernel;

/* Errors: ERROR_UNSUPPORTED without libbpf. */
struct error *running_kernel_open(struct running_kernel **ret) MUST_CHECK;
/* NULL is allowed. */
void running_kernel_close(struct running_kernel *kernel);
/*
 * These write to a file, from its beginning: the BTF of "vmlinux" or of a module, as the kernel has
 * it; an array of struct running_program or running_map, in the order of their ids. What ends
 * meanwhile is left out. Errors: ERROR_NOT_FOUND, ERROR_SYSTEM (no right to), ERROR_UNSUPPORTED
 * (kinds of types that are newer than libbpf).
 */
struct error *running_kernel_write_btf(struct running_kernel *kernel, const char *name,
				       int file) MUST_CHECK;
struct error *running_kernel_write_programs(struct running_kernel *kernel, int file) MUST_CHECK;
struct error *running_kernel_write_maps(struct running_kernel *kernel, int file) MUST_CHECK;

#endif
