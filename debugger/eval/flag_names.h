/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Flag words: integers whose bits have names. Those of page flags, VMAs and allocations are macros
 * or numbered otherwise from release to release, but the kernel has tables of them for its own
 * messages (struct trace_print_flags, mm/debug.c), which are read out of the dump. Of PF_*, which
 * it has no table of, those are declared here that have been the same bits since 5.10.
 */
#ifndef DEBUGGER_EVAL_FLAG_NAMES_H
#define DEBUGGER_EVAL_FLAG_NAMES_H

#include "debugger/target/target.h"

#define FLAG_NAMES_MAX 64

struct flag_names;

/* How the bits of a member are called; NULL: that is not known. */
const struct flag_names *flag_names_of_member(struct type whole, const char *member);
/* The same of whatever has a type: gfp_t. */
const struct flag_names *flag_names_of_type(struct type type);
/* True: by this program's word, not the dump's. */
bool flag_names_are_declared(const struct flag_names *names);
/*
 * The names of the bits of `value`, in the kernel's order, as long as the target is open. *ret_rest
 * has the bits that have none. Returns how many there are; 0 where the dump has no table.
 */
size_t flag_names_split(struct target *target, const struct flag_names *names, uint64_t value,
			const char *ret[FLAG_NAMES_MAX], uint64_t *ret_rest);

#endif
