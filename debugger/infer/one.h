/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One question: what the sources say of a symbol, and the answer of solver and shipped table. */
#ifndef DEBUGGER_INFER_ONE_H
#define DEBUGGER_INFER_ONE_H

#include "debugger/infer/known/knowledge.h"
#include "debugger/infer/known/typing.h"
#include "debugger/infer/solve/agree.h"
#include "debugger/infer/solve/solve.h"

#define SYMBOL_BYTES_MAX 4096 /* of a symbol, looked at */

/* What a thread asks with, one symbol after the other. Large: not for the stack. */
struct one {
	struct knowledge *knowledge;
	struct solver *solver;
	struct clues clues;
	struct question question;
	struct solver_input input;
	bool refines;	 /* asks own_data_refine() too, for what would be a guess */
	bool explains;	 /* all candidates are looked at to the end */
	struct fit *fit; /* of the question's bytes; NULL as fit_create() says */
	uint8_t bytes[SYMBOL_BYTES_MAX];
};

/* Frees what the last question left. */
void one_end(struct one *one);

/* Reads the symbol's bytes; returns how many there are. */
uint32_t one_read(struct one *one, const struct subject *subject);
/* Makes the question, with the symbol's bytes; asks nobody. */
void one_begin(struct one *one, const struct subject *subject, const struct symbol *symbol);
/* Asks all sources, and the solver. `code`: what code says of the symbol; NULL: it is read now. */
struct error *one_ask(struct one *one, const struct subject *subject, const struct symbol *symbol,
		      const struct clues *code) MUST_CHECK;
/* After one_ask(): the solver's answer and the table's. */
struct error *one_conclude(struct one *one, struct answer *ret) MUST_CHECK;
/* Needs no layout: that of a module is gone by then. Makes types, so one thread only. */
struct error *typing_of_answer(const struct answer *answer, struct typing *ret) MUST_CHECK;

#endif
