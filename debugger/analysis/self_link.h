/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A node of a list that leads to itself: who walks over it goes round for ever. */
#ifndef DEBUGGER_ANALYSIS_SELF_LINK_H
#define DEBUGGER_ANALYSIS_SELF_LINK_H

#include "debugger/analysis/object_note.h"
#include "debugger/target/arch.h"

struct self_link {
	uint64_t node; /* 0: none */
	unsigned int reg;
	struct object_note note;
};

/*
 * The node that a register has, in an object of a slab, whose first word is its own address. The
 * head of an empty list has that twice, and is none. Errors are fatal ones.
 */
struct error *self_link_find(struct target *target, const struct registers *registers,
			     struct self_link *ret) MUST_CHECK;

#endif
