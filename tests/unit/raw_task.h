/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every task_struct has and few tests look at: a task without it is not whole. */
#ifndef TESTS_UNIT_RAW_TASK_H
#define TESTS_UNIT_RAW_TASK_H

#include "tests/unit/libbpf.h"
#include <stddef.h>
#include <stdint.h>

struct raw_rest {
	uint64_t real_parent, stack;
	uint32_t cpu, state, exit_state, on_rq;
};

/* A task that sleeps. */
static inline struct raw_rest sleeping_rest(uint64_t parent)
{
	return (struct raw_rest){ .real_parent = parent, .stack = 0x1000, .state = 1 };
}

/* Adds its members to the struct that was added last. */
static inline void add_rest(struct libbpf_btf *btf, int to_task, int u64, int u32, size_t offset)
{
	add_member(btf, "real_parent", to_task, offset + offsetof(struct raw_rest, real_parent));
	add_member(btf, "stack", u64, offset + offsetof(struct raw_rest, stack));
	add_member(btf, "cpu", u32, offset + offsetof(struct raw_rest, cpu));
	add_member(btf, "__state", u32, offset + offsetof(struct raw_rest, state));
	add_member(btf, "exit_state", u32, offset + offsetof(struct raw_rest, exit_state));
	add_member(btf, "on_rq", u32, offset + offsetof(struct raw_rest, on_rq));
}

#endif
