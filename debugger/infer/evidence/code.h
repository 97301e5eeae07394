/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Clues from code. Of one symbol: the places that refer to it are found without decoding, and the
 * flow of types is followed through the functions around them. Of all: through every function, by
 * as many threads as there are processors.
 */
#ifndef DEBUGGER_INFER_EVIDENCE_CODE_H
#define DEBUGGER_INFER_EVIDENCE_CODE_H

#include "debugger/infer/known/inference.h"

/* Adds what code says of one symbol. */
struct error *code_clues(struct inference *inference, const struct subject *subject,
			 struct clues *clues) MUST_CHECK;

/* Clues of all subjects: items[i] are those of inference->subjects.items[i]. */
struct code_clues {
	struct clues *items;
	size_t count;
};
/*
 * Fills inference->subjects too. The result does not depend on the number of threads (0: as
 * many as processors). Ctrl-C: ERROR_INTERRUPTED.
 */
struct error *code_clues_all(struct inference *inference, unsigned int threads,
			     struct code_clues *ret) MUST_CHECK;
void code_clues_deinit(struct code_clues *clues);

#endif
