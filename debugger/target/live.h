/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Asks the helper process for what the running kernel says of itself (running_kernel.h). Of a live
 * target only: a dump is of another kernel, and the helper says no. Whatever cannot be had is read
 * from memory instead, as in a dump; the errors say why, in words for `sys`.
 */
#ifndef DEBUGGER_TARGET_LIVE_H
#define DEBUGGER_TARGET_LIVE_H

#include "debugger/target/running_kernel.h"
#include "debugger/target/target.h"

/* BTF of "vmlinux" or of the module that has this name now; at most `limit` bytes. Caller frees
 * *ret. */
struct error *live_btf(struct target *target, const char *name, uint64_t limit, void **ret,
		       size_t *ret_size) MUST_CHECK;
/* In the order of their ids. Caller frees *ret. */
struct error *live_programs(struct target *target, struct running_program **ret,
			    size_t *ret_count) MUST_CHECK;
struct error *live_maps(struct target *target, struct running_map **ret,
			size_t *ret_count) MUST_CHECK;

#endif
