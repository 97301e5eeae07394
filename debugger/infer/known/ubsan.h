/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What compilers put behind a variable without a name for it: where an undefined-behaviour
 * sanitizer was at work (UBSAN; CONFIG_UBSAN_BOUNDS of 7.x), the places it checks and the types it
 * names.
 */
#ifndef DEBUGGER_INFER_KNOWN_UBSAN_H
#define DEBUGGER_INFER_KNOWN_UBSAN_H

#include "debugger/target/target.h"

/* Whether there is any such thing in the kernel. */
bool ubsan_exists(const struct target *target);
/* The bytes up to the first of these, at most `room`. */
uint64_t ubsan_start(struct target *target, uint64_t address, uint64_t room);

#endif
