/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A loop over a list that ran into a bad pointer has lost the entry that it came from, but mostly
 * not the head: from there the list leads to the entry again (kernel include/linux/list.h: next
 * comes first).
 */
#ifndef DEBUGGER_ANALYSIS_BROKEN_LIST_H
#define DEBUGGER_ANALYSIS_BROKEN_LIST_H

#include "debugger/analysis/object_note.h"

struct broken_list {
	bool is_found;
	unsigned int reg;  /* of struct registers: where the walk began */
	uint64_t head;	   /* its value */
	uint64_t position; /* how many entries are good: the last of them has the bad pointer */
	uint64_t entry;	   /* that one's list_head */
	struct object_note note; /* of that */
};

/* `bad`: the pointer that was followed, to an entry or to the object that it is part of. Errors are
 * fatal ones only. */
struct error *broken_list_find(struct target *target, const struct registers *registers,
			       uint64_t bad, struct broken_list *ret) MUST_CHECK;

#endif
