/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether the call before a return address can have led to a function. */
#ifndef DEBUGGER_UNWIND_LINK_H
#define DEBUGGER_UNWIND_LINK_H

#include "debugger/target/target.h"

enum link {
	LINK_IMPOSSIBLE, /* or there is no call before the address */
	LINK_DOUBTFUL,	 /* what was called jumps to where a register says */
	LINK_POSSIBLE
};

/*
 * A direct call has to lead to `function` (the start of one), or to code that jumps there: a part
 * of it that was moved away, a trampoline, a tail call. An indirect call can have led anywhere.
 * `*budget`: functions that may be looked through, each is counted off.
 */
enum link link_check(struct target *target, uint64_t address, uint64_t function, uint32_t *budget);

#endif
