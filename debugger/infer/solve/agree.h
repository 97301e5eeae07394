/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The shipped table and inference, put together: they agree, one is alone, or they differ. */
#ifndef DEBUGGER_INFER_SOLVE_AGREE_H
#define DEBUGGER_INFER_SOLVE_AGREE_H

#include "debugger/infer/known/knowledge.h"
#include "debugger/infer/solve/solve.h"

/* What is known of a subject in the end; small, there are tens of thousands. */
struct answer {
	uint32_t type, count; /* of the layout; count 0: no array */
	int16_t score, margin;
	uint8_t confidence, sources;
	bool count_is_proved;
	bool is_family; /* the table says so of all names that begin so */
	/*
	 * Of a constant string, bytes with its NUL: macros make families of them (__func__). Then
	 * `count`, all the room, is too much: there may be padding, or strings without a name.
	 */
	uint32_t string_size;
	bool may_point; /* its bytes can hold an address of the kernel */
	/* Only the table says so, and nothing speaks against it: bytes that fit make it certain. */
	bool is_open;
	uint32_t row;	     /* elements in `spelled`: 1, or more of an array of arrays */
	struct type spelled; /* as the table spells the type or element, else as BTF does */
};

/* Of what the solver found alone. */
struct answer answer_of(const struct solver *solver);
/* Changes the answer by what the table says; the solver is as solve() left it. */
struct error *agree_with_hints(const struct question *question, struct solver *solver,
			       struct answer *answer) MUST_CHECK;

/* The rows of the name, at most HINTS_A_NAME, and what became of each; returns how many. */
size_t agree_rows(const struct question *question, struct solver *solver,
		  const struct answer *answer, struct listed_row *ret);

/*
 * Makes an open answer certain where the symbol's bytes bear the type out: functions of its
 * prototypes, objects of the types that its pointers name, text.
 */
void agree_with_bytes(const struct question *question, struct answer *answer);
/* Types what the symbol's pointers point at by the table's word, for this question alone. */
struct error *agree_on_pointees(const struct question *question) MUST_CHECK;

#endif
