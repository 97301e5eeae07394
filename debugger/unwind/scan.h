/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Return addresses found by looking at the stack and at the code before them. */
#ifndef DEBUGGER_UNWIND_SCAN_H
#define DEBUGGER_UNWIND_SCAN_H

#include "debugger/target/target.h"

/* Kernel, module or init text. Loads the module list for addresses outside the kernel only. */
bool scan_is_text(struct target *target, uint64_t address);
/* The instruction before `address` is a call, of any kind. */
bool scan_follows_call(struct target *target, uint64_t address);
/*
 * A call is before `address` in any memory; *ret_called: where a direct one leads to, of others 0.
 */
bool scan_finds_call(struct memory *memory, uint64_t address, uint64_t *ret_called);
/* The same; a direct one, and where it leads to. */
bool scan_call_target(struct target *target, uint64_t address, uint64_t *ret);

struct scan_result {
	uint64_t slot; /* address of the word on the stack */
	uint64_t pc;
};
/*
 * The first word of [start, end) that is a return address: of a direct call to `function`, or,
 * `function` being 0, of any call.
 */
bool scan_stack(struct target *target, uint64_t start, uint64_t end, uint64_t function,
		struct scan_result *ret);

#endif
