/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The types of globals that BTF leaves untyped: evidence is collected as clues, candidates are the
 * BTF types that fit the room, contradictions reject, what remains is ranked and given a tier.
 */
#ifndef DEBUGGER_INFER_INFER_H
#define DEBUGGER_INFER_INFER_H

#include "debugger/infer/known/typing.h"

/*
 * The type of one symbol, lazily: BTF, declarations, then the shipped table and inference together.
 * `explain`: keep clues and candidates.
 */
struct error *infer_symbol(struct target *target, const struct infer_options *options,
			   const struct symbol *symbol, bool explain,
			   struct typing *ret) MUST_CHECK;
/*
 * The candidates alone, of a symbol whose type is a guess: they are there at once where
 * infer_symbol() has just made that guess.
 */
struct error *infer_candidates(struct target *target, const struct symbol *symbol,
			       struct typing *ret) MUST_CHECK;
/* All data symbols of the kernel and its modules, in parallel; results by subject, for `globals`
 * and the score. */
typedef struct error *typing_visitor(void *context, const struct subject *subject,
				     const struct symbol *symbol, const struct typing *typing);
struct error *infer_all(struct target *target, const struct infer_options *options,
			typing_visitor *visit, void *context) MUST_CHECK;

#endif
