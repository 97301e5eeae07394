/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between own_data_words.c, which knows the words, own_data_fit.c, which counts, own_data_judge.c
 * and own_data_search.c, which ask. */
#ifndef DEBUGGER_INFER_EVIDENCE_OWN_DATA_FIT_PRIVATE_H
#define DEBUGGER_INFER_EVIDENCE_OWN_DATA_FIT_PRIVATE_H

#include "debugger/infer/evidence/own_data_fit.h"
#include "debugger/infer/evidence/words.h"
#include "debugger/infer/known/names_family.h"
#include "debugger/infer/layout/layout_outline.h"
#include "debugger/infer/solve/rules.h"

#define FIT_BYTES_MAX 512 /* that are counted; what comes after is like them */
#define FIT_WORDS_MAX (FIT_BYTES_MAX / 8)

/* What own_data_judge() counts on the way. */
#define EVIDENCE_VISITS	  160 /* members of a candidate that are looked at */
#define EVIDENCE_ELEMENTS 8   /* of an array */
struct evidence {
	int points;
	int good; /* points for it so far */
	const char *why;
};

struct fit {
	const struct question *question;
	const struct layout *layout;
	uint32_t size; /* bytes at hand that are counted */
	uint8_t words[FIT_WORDS_MAX];
	uint64_t rooms[FIT_WORDS_MAX];	   /* what one points at the start of, 0: not asked yet */
	uint8_t list_heads[FIT_WORDS_MAX]; /* 1 + the state of one at a word, 0: not asked yet */
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
	struct evidence *evidence; /* NULL: only what it costs is asked */
	bool has_name;		   /* it was read: name, kin */
	uint16_t filled[];	   /* by offset: how many bytes before it are not 0 */
};

#define ZERO_COST    (FIT_BIT / 2)
#define COUNTED_COST (2 * FIT_BIT) /* of a number that counts what the pointer before it has */

/* --- words (own_data_words.c) ------------------------------------------------------------ */

enum word_kind {
	WORD_UNSEEN,
	WORD_ZERO,
	WORD_NUMBER,
	WORD_FUNCTION,
	WORD_TEXT,
	WORD_BYTES,
	WORD_OBJECT
};

/* A -1 beside another integer looks like an address below the image, where nothing lies. */
static inline bool fit_is_address(uint64_t value)
{
	return is_kernel_pointer(value) && value % 0x100000000 >= 0x1000 &&
	       (value >= IMAGE_START || value >> 32 != 0xffffffff);
}

/* What lies at an offset; where no word begins, a number. */
enum word_kind fit_word(struct fit *fit, uint32_t offset);
/* The room of the symbol that the word at an offset points at the start of; 0: it does not. */
uint64_t fit_room_behind(struct fit *fit, uint32_t offset);

static inline int fit_log2(uint64_t value)
{
	return value ? 64 - __builtin_clzll(value) : 0;
}

/* Small numbers are likelier and cost less, also negative ones. */
static inline int fit_number_cost(uint64_t value, uint32_t size)
{
	uint32_t width = (size < 8 ? size : 8) * 8;
	if (!value)
		return ZERO_COST;
	if (size >= 4 && value >> (width - 1) & 1) {
		value = ~value;
		if (width < 64)
			value &= ((uint64_t)1 << width) - 1;
	}
	/* Masks and packed values. */
	if (size == 8 && value >> 32)
		return 2 * FIT_BIT + fit_number_cost(value >> 32, 4) +
		       fit_number_cost(value & 0xffffffff, 4);
	int length = fit_log2(value);
	int bits = 2 + length + fit_log2((uint64_t)length + 1);
	int most = (int)width + 2;
	bits = bits < most ? bits : most;
	/* Flags: where the few bits are. */
	int flags = size == 4 ? 4 + 6 * __builtin_popcountll(value) : bits;
	return (bits < flags ? bits : flags) * FIT_BIT;
}

/* --- costs (own_data_fit.c) --------------------------------------------------------------- */

/* Of the bytes alone, wherever the next symbol is. */
int fit_cost_bytes(struct fit *fit, uint32_t type, uint32_t count, int limit);
/* For fit_cost_outlined(). */
void fit_prepare_leaves(struct fit *fit);
/* As fit_cost(), but only the leaves are counted where these alone are beyond the limit. */
int fit_cost_outlined(struct fit *fit, const struct outline *outline, uint32_t count, int limit);

/* --- evidence (own_data_judge.c) ---------------------------------------------------------- */

/* Something that the rules have a row for; returns what it costs: by that row, or so many bits. */
int fit_found(struct fit *fit, enum rule which);
int fit_found_at(struct fit *fit, enum rule which, int bits);

static inline int fit_bits(enum rule which)
{
	return rule_row(which)->bits * FIT_BIT;
}

#endif
