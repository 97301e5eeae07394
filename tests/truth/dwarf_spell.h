/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Types of DWARF in the words that type_spell() of btf/btf.h has for those of BTF. */
#ifndef TESTS_TRUTH_DWARF_SPELL_H
#define TESTS_TRUTH_DWARF_SPELL_H

#include <elfutils/libdw.h>
#include <stdbool.h>

/* The type that an entry refers to, itself or through its origin; false: void. */
bool dwarf_type_of(Dwarf_Die *die, Dwarf_Die *ret);
/*
 * The abstract declarator of the type of an entry: "struct list_head *[4]". Unlike BTF, where
 * pahole multiplies them, arrays keep all their dimensions. An unnamed struct is "struct {...}".
 * Caller frees; NULL without memory.
 */
char *dwarf_spell_type_of(Dwarf_Die *die);
/* Bytes of the type of an entry, 0 when it is incomplete. */
uint64_t dwarf_size_of(Dwarf_Die *die);
/*
 * "name@BIT,..." of the members when the type, below arrays, is an unnamed struct or union: what
 * else tells such types apart. Caller frees; NULL: it is none.
 */
char *dwarf_members_of(Dwarf_Die *die);

#endif
