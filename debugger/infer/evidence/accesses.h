/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which members of typed objects the instructions of a function access. */
#ifndef DEBUGGER_INFER_EVIDENCE_ACCESSES_H
#define DEBUGGER_INFER_EVIDENCE_ACCESSES_H

#include "debugger/infer/flow/flow.h"
#include "debugger/infer/known/inference.h"

/*
 * Follows the types that are written down (prototypes, members, BTF and declarations of globals)
 * through one function, whose code is given; `visit` gets each access through a typed pointer, in
 * the order of the instructions.
 */
struct error *function_accesses(struct inference *inference, const struct code *code,
				void (*visit)(void *context, const struct flow_access *access),
				void *context) MUST_CHECK;

#endif
