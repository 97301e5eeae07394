/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What own_data_fit.c counts and own_data_search.c searches with. */
#ifndef DEBUGGER_INFER_EVIDENCE_OWN_DATA_FIT_PRIVATE_H
#define DEBUGGER_INFER_EVIDENCE_OWN_DATA_FIT_PRIVATE_H

#include "debugger/infer/evidence/own_data_fit.h"
#include "debugger/infer/evidence/words.h"
#include "debugger/infer/known/names_family.h"
#include "debugger/infer/layout/layout_outline.h"

#define FIT_BYTES_MAX 512 /* that are counted; what comes after is like them */
#define FIT_WORDS_MAX (FIT_BYTES_MAX / 8)

struct fit {
	const struct question *question;
	const struct layout *layout;
	uint32_t size; /* bytes at hand that are counted */
	uint8_t words[FIT_WORDS_MAX];
	uint64_t rooms[FIT_WORDS_MAX];	/* what one points at the start of, 0: not asked yet */
	int list_heads[FIT_WORDS_MAX];	/* what one costs at a word, 0: not counted yet */
	int unknown[FIT_WORDS_MAX + 1]; /* what all from a word on costs where nothing is known */
	int least[FIT_WORDS_MAX + 1];	/* and at least, whatever it is */
	uint16_t pointers, numbers;	/* of the first words, as in struct outline */
	uint64_t in_use;		/* bit N: byte N is not 0 */
	uint16_t least_leaves[LEAF_KINDS][FIT_BYTES_MAX]; /* what each costs at least, by offset */
	struct name_word name[NAME_WORDS_MAX];
	size_t name_count;
	uint64_t name_bits; /* as in struct outline */
	struct kinship kin[NAMES_KIN_MAX];
	size_t kin_count;
	uint64_t kin_bits; /* bit N: there is a type whose id ends in N */
	unsigned int visits;
	int limit;
	uint16_t filled[]; /* by offset: how many bytes before it are not 0 */
};

/* For fit_cost_outlined(). */
void fit_prepare_leaves(struct fit *fit);
/* As fit_cost(), but only the leaves are counted where these alone are beyond the limit. */
int fit_cost_outlined(struct fit *fit, const struct outline *outline, uint32_t count, int limit);

#endif
