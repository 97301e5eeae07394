/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which integers a part of the kernel uses. One subsystem writes u8 where another writes bool, u64
 * for unsigned long, u32 for int: the prototypes of the functions around those that use a variable
 * tell.
 */
#ifndef DEBUGGER_INFER_KNOWN_HABITS_H
#define DEBUGGER_INFER_KNOWN_HABITS_H

#include "base/address_map.h"
#include "debugger/infer/layout/layout.h"
#include "debugger/target/target.h"

#define HABITS_MAX 6 /* kinds of integers */

/* How often each is the type of a parameter or a result, or of what one points at. */
struct habits {
	const struct layout *layout;
	uint32_t types[HABITS_MAX];
	uint32_t counts[HABITS_MAX];
};

/* Those of all prototypes of the kernel. */
void habits_of_all(const struct layout *layout, struct habits *ret);
/*
 * Adds those of the functions around an address. `all`: of the kernel's layout, by which functions
 * of modules are counted, too. `blocks`: what is counted by now.
 */
void habits_around(struct address_map *blocks, struct target *target, const struct habits *all,
		   uint64_t address, struct habits *habits);
/*
 * By how many bits an integer is likelier there than anywhere, against the one that is usual for
 * its size; of the usual one, 0.
 */
int habits_bits(const struct habits *here, const struct habits *all, uint32_t type);

#endif
