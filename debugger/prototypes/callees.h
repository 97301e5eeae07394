/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is called, by its address. A prototype counts when it is proved: the name is the only one
 * among the symbols and among the FUNCs of its BTF, or the code bears it out (instance.h); and no
 * clone's (.isra, .constprop, .part, .cold), whose parameters are not the ones written down.
 */
#ifndef DEBUGGER_PROTOTYPES_CALLEES_H
#define DEBUGGER_PROTOTYPES_CALLEES_H

#include "base/address_map.h"
#include "debugger/prototypes/callee.h"
#include "debugger/target/target.h"

struct callee_entry {
	uint64_t address;
	struct callee callee;
	bool is_judged, is_refuted; /* its prototype, by its own code */
};

struct callees {
	struct target *target;
	const struct lowering *lowering;
	const struct levels *levels;
	struct address_map known;  /* struct callee_entry */
	bool complete;		   /* what is not there is unknown: threads may ask at once */
	const struct btf *tags_of; /* instances.c: the last level that was asked... */
	bool has_tags;		   /* ...for tags with addresses */
};

void callees_deinit(struct callees *callees);
/* The function that begins at `address`; asks the symbols unless complete. */
void callees_find(struct callees *callees, uint64_t address, struct callee *ret);
/* What is found already; threads may ask at once. */
void callees_known(const struct callees *callees, uint64_t address, struct callee *ret);
/* The same, but no prototype that its own code refutes. It follows the code: not for all of them.
 */
void callees_find_judged(struct callees *callees, uint64_t address, struct callee *ret);
/*
 * As callees_find() when its name is the only one; nothing is kept. Threads may ask at once when
 * the indexes of symbols and BTF are made.
 */
void callees_find_unique(const struct callees *callees, uint64_t address, struct callee *ret);
/* As callees_find() with what callees_find_unique() said. */
void callees_add_unique(struct callees *callees, uint64_t address, const struct callee *unique);
/* What the kernel's own helper at `address` does, HELPER_NONE for other functions. */
enum helper callees_helper(const struct callees *callees, uint64_t address, uint8_t *ret_register);
/* The level of a module's BTF; false: it has none. */
bool level_of_module(struct target *target, const struct levels *levels, const char *module,
		     uint16_t *ret);

#endif
