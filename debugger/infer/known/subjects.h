/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The data symbols and the room each has. One is found through the symbol table at little cost;
 * the table of all of them is made when all are asked about.
 */
#ifndef DEBUGGER_INFER_KNOWN_SUBJECTS_H
#define DEBUGGER_INFER_KNOWN_SUBJECTS_H

#include "debugger/infer/known/typing.h"

/* By address; of several names of one address, the one that symtab_by_address() prefers. */
struct subjects {
	struct subject *items;
	size_t count, capacity;
};

/* A symbol as a subject; false: not a data symbol, per-CPU where BTF types these, or without room.
 */
bool subject_of_symbol(struct target *target, const struct symbol *symbol, struct subject *ret);
/* The one around an address, asked of the symbol table. */
bool subject_find(struct target *target, uint64_t address, struct subject *ret,
		  uint64_t *ret_offset);

/*
 * All data symbols of the kernel and of its modules, per-CPU ones where BTF leaves them untyped;
 * without those of the kernel's init sections, whose memory is in other hands by now.
 */
struct error *subjects_init(struct subjects *subjects, struct target *target) MUST_CHECK;
void subjects_deinit(struct subjects *subjects);
/* The one around an address; NULL: none. Threads may ask at once. */
const struct subject *subject_at(const struct subjects *subjects, uint64_t address,
				 uint64_t *ret_offset);

#endif
