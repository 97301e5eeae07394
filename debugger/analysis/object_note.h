/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an address in the kernel's memory belongs to, in a few words. */
#ifndef DEBUGGER_ANALYSIS_OBJECT_NOTE_H
#define DEBUGGER_ANALYSIS_OBJECT_NOTE_H

#include "debugger/kernel/slabs.h"

struct object_note {
	bool is_slab;
	enum slab_state state; /* of a slab's object */
	uint64_t object, size; /* its start, and bytes; 0: none */
	char text[192];	       /* "a free object of the slab cache lab_node"; "" nothing is known */
};

/* Errors are fatal ones only. */
struct error *object_note_find(struct target *target, uint64_t address,
			       struct object_note *ret) MUST_CHECK;

#endif
