/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Clues: what the dump says about the type of one global. A clue is a constraint on a part of the
 * symbol ("at offset 8 lies a struct mutex"), never "the type": a clue about offset 0 is as true of
 * the first member of a larger struct, and of the first element of an array.
 */
#ifndef DEBUGGER_INFER_FLOW_CLUE_H
#define DEBUGGER_INFER_FLOW_CLUE_H

#include "debugger/target/target.h"

enum clue_kind {
	/* The bytes from `offset` are used as an object of `type`: their address went where a `type
	 *` belongs. */
	CLUE_OBJECT,
	/* The `size` bytes at `offset` hold a value of `type` (a pointer type, an enum, an
	   integer): loaded into or stored from a place of that type. */
	CLUE_VALUE,
	/* `size` bytes at `offset` are read or written at once; nothing is known of their type. */
	CLUE_ACCESS,
	/* The bytes at `offset` are indexed in steps of `size`. */
	CLUE_STRIDE,
	/* `size` bytes at `offset` look like `type` in the dump: linked list head, function pointer
	   of that prototype... */
	CLUE_SHAPE,
	/* The symbol as a whole is declared `type` by a table of the kernel (kernel_param,
	   ctl_table...). */
	CLUE_WHOLE
};

enum clue_source {
	SOURCE_CODE,	/* `where`: the instruction */
	SOURCE_TABLE,	/* `where`: the record */
	SOURCE_DATA,	/* the symbol's own bytes */
	SOURCE_POINTER, /* `where`: the typed object that points at it */
	SOURCE_SLAB,	/* `where`: the slab object it points at */
	SOURCE_NAME,
	SOURCE_HINTS /* the shipped table */
};

struct clue {
	enum clue_kind kind;
	enum clue_source source;
	uint32_t offset;  /* bytes from the symbol's start */
	uint32_t size;	  /* bytes; 0 where the kind has none */
	uint32_t count;	  /* of OBJECT, elements that lie there; 0: not known */
	struct type type; /* { NULL, 0 } for ACCESS and STRIDE */
	uint64_t where;	  /* address of what says so, 0: none */
	/* Of VALUE: nothing without a sign is used so. Of WHOLE: the type is right to the sign. */
	bool shows_sign;
	const char *how; /* static text: "argument of a call", "kernel_param.arg", ... */
};

struct clues {
	struct clue *items;
	size_t count, capacity;
};

/* Copies the clue; equal ones (kind, source, offset, size, type) are kept up to a handful. False:
 * no memory. */
bool clues_add(struct clues *clues, const struct clue *clue);
void clues_deinit(struct clues *clues);

#endif
