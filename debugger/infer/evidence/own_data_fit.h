/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How well a type explains the bytes of a symbol, as the length of a message: if both sides know
 * the type, how many bits does it take to tell the bytes? The right type needs few: its padding
 * is zero, its pointers point at what they should, its enums have one of their values. With
 * that, all types of BTF can be tried on a symbol that no clue names a type for.
 */
#ifndef DEBUGGER_INFER_EVIDENCE_OWN_DATA_FIT_H
#define DEBUGGER_INFER_EVIDENCE_OWN_DATA_FIT_H

#include "debugger/infer/known/knowledge.h"

/* In quarters of a bit; more than any limit: it cannot be. */
#define FIT_BIT	       4
#define FIT_IMPOSSIBLE (1 << 28)

/* `count` elements of `type`, 0: no array. */
struct fitted {
	uint32_t type, count;
	int cost;
};

/* What the symbol's words are, found once. */
struct fit;
/* NULL: no memory, or all bytes that are counted are zero, which fits anything. Borrows the
 * question. */
struct fit *fit_create(const struct question *question);
void fit_destroy(struct fit *fit);
/* The question's own, or one made now; and back, before the question is gone. */
struct fit *fit_borrow(const struct question *question);
void fit_return(const struct question *question, struct fit *fit);
/* Reads what the symbol's name tells; what asks for that does so by itself, once. */
void fit_read_name(struct fit *fit);
/* Stops counting beyond `limit`. */
int fit_cost(struct fit *fit, uint32_t type, uint32_t count, int limit);
/* What it takes to believe in a type; less where a clue names it. */
int fit_prior(const struct fit *fit, uint32_t type, bool is_named);
/* The types that fit best, the best first, no matter what clues say; at most `room`. */
size_t fit_search(struct fit *fit, struct fitted *ret, size_t room);

/* Quarters of a bit that the symbol's name tells of a struct or union. */
int fit_name(struct fit *fit, uint32_t type);

#endif
