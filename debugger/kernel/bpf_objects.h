/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The BPF programs and maps that are loaded: prog_idr and map_idr (kernel kernel/bpf/syscall.c),
 * struct bpf_prog and bpf_map (include/linux/bpf.h). KERNEL-FORMATS section 8. Of a running kernel
 * what it says itself (debugger/target/live.h), to which memory adds where they are and what they
 * are attached to.
 */
#ifndef DEBUGGER_KERNEL_BPF_OBJECTS_H
#define DEBUGGER_KERNEL_BPF_OBJECTS_H

#include "debugger/target/target.h"

#define BPF_NAME_SIZE	64
#define BPF_TARGET_SIZE 128
#define BPF_MAPS_MAX	64 /* a program may use no more (MAX_USED_MAPS) */

struct bpf_program {
	uint64_t address, aux; /* struct bpf_prog, bpf_prog_aux; 0: not found in memory */
	uint32_t id, uid;
	char type[BPF_NAME_SIZE];	 /* "tracing", "" unknown; as bpftool says it */
	char attach_type[BPF_NAME_SIZE]; /* "trace_fentry"; "": its type has one only */
	char name[BPF_NAME_SIZE];	 /* of 15 bytes at most */
	char tag[17];
	uint64_t load_time;	      /* nanoseconds since boot */
	char target[BPF_TARGET_SIZE]; /* the function it is attached to, "" none known */
	uint32_t target_id;	      /* the program whose function that is, 0: the kernel's */
	uint64_t instruction_bytes;   /* of BPF */
	uint64_t jited_bytes;	      /* of all functions */
	uint32_t function_count;      /* 1 without subprograms */
	size_t map_count;
	uint32_t maps[BPF_MAPS_MAX]; /* ids */
};

struct bpf_map {
	uint64_t address; /* struct bpf_map, 0: not found in memory */
	uint32_t id, key_size, value_size, max_entries;
	char type[BPF_NAME_SIZE], name[BPF_NAME_SIZE];
};

/* One that cannot be read is given to `broken` (taken), and the others follow. */
struct bpf_visitor {
	struct error *(*program)(void *context, const struct bpf_program *program);
	struct error *(*map)(void *context, const struct bpf_map *map);
	struct error *(*broken)(void *context, struct error *problem);
	void *context;
};

/* In the order of their ids. */
struct error *bpf_for_each_program(struct target *target,
				   const struct bpf_visitor *visitor) MUST_CHECK;
struct error *bpf_for_each_map(struct target *target, const struct bpf_visitor *visitor) MUST_CHECK;

/* A function of a program as it was JITed: code at `start`; `aux` is its own. */
struct bpf_code {
	uint64_t aux, start;
	uint32_t size;
};
/* `index` below program->function_count. */
struct error *bpf_program_code(struct target *target, const struct bpf_program *program,
			       uint32_t index, struct bpf_code *ret) MUST_CHECK;

#endif
