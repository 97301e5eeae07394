/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between code.c and code_all.c. */
#ifndef DEBUGGER_INFER_EVIDENCE_CODE_PRIVATE_H
#define DEBUGGER_INFER_EVIDENCE_CODE_PRIVATE_H

#include "debugger/infer/evidence/code.h"
#include "debugger/infer/flow/flow.h"

/* The world of the flow as the target is; the caller sets its functions and their context. */
void code_world_init(struct inference *inference, struct flow_world *ret);
/*
 * Findings that count for one symbol, those of the lowest addresses: the pass over all code takes
 * no more than a lone question has time for, so both know the same.
 */
#define CODE_FINDINGS_MAX 1000
/*
 * String literals have no symbols, so they lie in the room of whatever is in front of them: tens of
 * thousands of chars passed to functions, which say nothing of that symbol.
 */
#define LITERALS_ROOM (64u << 10)
static inline bool code_is_literal(const struct finding *finding, const struct subject *subject)
{
	return finding->kind == CLUE_OBJECT && finding->size == 1 &&
	       subject->room > LITERALS_ROOM && finding->address != subject->address;
}
/* What a finding says about a subject it lies in. */
struct error *code_finding_clue(const struct inference *inference, const struct finding *finding,
				const struct subject *subject, struct clue *ret) MUST_CHECK;
/* The static branches in a function. */
void code_function_edges(const struct inference *inference, struct flow_function *function);

#endif
