/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The shipped table's rows of a name, in terms of this kernel: its types, and the subject's room.
 */
#ifndef DEBUGGER_INFER_SOLVE_PROPOSAL_H
#define DEBUGGER_INFER_SOLVE_PROPOSAL_H

#include "debugger/infer/hints/hints.h"
#include "debugger/infer/known/knowledge.h"
#include "debugger/infer/solve/solve.h"

/* A row of the table in terms of this kernel. */
struct proposal {
	struct type spelled; /* of an array the element, of an array of arrays the row */
	uint32_t type;	     /* resolved; of an array the innermost element */
	uint32_t count;	     /* of these; 0: no array */
	uint32_t row;	     /* of these in `spelled` */
	bool tight;	     /* it fills the room but for alignment */
	uint32_t given;	     /* the count that other kernels have, 0: none that can be here */
	uint32_t filled;     /* as many as there is room for, where more is in use; else 0 */
	bool is_disputed;    /* of different length in other kernels */
	bool is_cut;	     /* there is no room for as many, and no other sign of its end */
	bool count_proved;   /* by the bytes alone at first */
	bool is_family;
	uint32_t rows;	  /* bit N: row N of the name */
	uint32_t kernels; /* that say so */
	bool is_near;	  /* one of these is next to this kernel */
	bool is_outdone;
	struct scored scored;
};

/*
 * The rows of the name that exist here and fit, one for each type, in at most HINTS_A_NAME places;
 * where some end with the room, these only. Returns how many.
 */
size_t proposals_collect(const struct question *question, struct proposal *ret);
/*
 * A type that has changed is what the kernels next to this one have: those before the one before,
 * or after the one after, know an older or a newer one. Near ones first; returns how many.
 */
size_t proposals_put_near_first(struct proposal *proposals, size_t count);
/* Whether a row exists here and fits, whatever others there are. */
bool proposal_is_possible(const struct question *question, const struct hint *hint);

#endif
