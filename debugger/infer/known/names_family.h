/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the names of this kernel's own typed globals teach: where eleven symbols that end in
 * "_policy" are known to be nla_policy, the twelfth likely is. Learned anew in each dump.
 */
#ifndef DEBUGGER_INFER_KNOWN_NAMES_FAMILY_H
#define DEBUGGER_INFER_KNOWN_NAMES_FAMILY_H

#include "debugger/infer/layout/layout_outline.h"

struct families;
struct error *families_create(struct families **ret) MUST_CHECK;
void families_destroy(struct families *families);
/* A global of known type (of the kernel's layout). */
struct error *families_learn(struct families *families, const char *name, uint32_t type) MUST_CHECK;
/* After the last that was learned, before the first question. */
void families_settle(struct families *families);
/* Bits that it takes to tell a type, more for a rarer one. `families` may be NULL. */
int families_rarity(const struct families *families, uint32_t type);
/* A type that kin of a name have, and the bits that it tells: 1 or more. */
struct kinship {
	uint32_t type;
	int points;
};
/* Adds one to `count` of them, of each type the better; returns how many there are then. */
size_t families_keep(struct kinship *kin, size_t count, size_t room, struct kinship found);
/* What the words of a name tell; returns how many types. `families` may be NULL. */
size_t families_kin(const struct families *families, const struct name_word *words, size_t count,
		    struct kinship *ret, size_t room);

#endif
