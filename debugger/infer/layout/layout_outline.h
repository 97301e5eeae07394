/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The outlines of all structs: enough to tell at a glance, for thousands of types, that the bytes
 * at hand cannot be one. And the words that names of structs are made of.
 */
#ifndef DEBUGGER_INFER_LAYOUT_LAYOUT_OUTLINE_H
#define DEBUGGER_INFER_LAYOUT_LAYOUT_OUTLINE_H

#include "debugger/infer/layout/layout.h"

#define OUTLINE_WORDS	   16 /* of 8 bytes, from the start */
#define OUTLINE_NAME_WORDS 5
#define OUTLINE_BYTES	   64  /* that are watched for holes */
#define OUTLINE_LEAVES_END 512 /* bytes from the start that have leaves */

/* Bit N of the masks: word or byte N. */
struct outline {
	uint32_t type, size;
	uint16_t pointers; /* words that hold a pointer, nothing else */
	uint16_t numbers;  /* words that cannot hold one */
	bool is_union;
	bool is_written; /* holds a lock or a list */
	uint64_t holes;	 /* bytes that belong to no member */
	uint32_t first_leaf, leaf_count;
};

/* What lies at an offset and is no part of a union. */
enum leaf_kind {
	LEAF_INT8, /* or a byte of a bit-field */
	LEAF_INT16,
	LEAF_INT32,
	LEAF_INT64,
	LEAF_POINTER,  /* to a type that is known */
	LEAF_FUNCTION, /* a pointer to one */
	LEAF_BOOL,
	LEAF_HOLE, /* a byte between members */
	LEAF_LIST, /* a list_head */
	LEAF_KINDS
};
struct leaf {
	uint16_t kind : 4; /* enum leaf_kind */
	uint16_t offset : 12;
};

/* Apart, as few of the outlines that are looked at get as far as their names. */
struct outline_name {
	uint64_t bits;			    /* name_bits() of the words */
	uint32_t words[OUTLINE_NAME_WORDS]; /* hashes of the words of its name, 0: no more */
};

#define WORD_COUNTS 16384 /* a power of two */

struct outlines {
	struct outline *items;	    /* in the order of type ids */
	struct outline_name *names; /* of those */
	struct leaf *leaves;	    /* of one after the other */
	size_t count, capacity, name_capacity, leaf_count, leaf_capacity;
	uint16_t counts[WORD_COUNTS]; /* by hash: in how many names of structs */
	uint8_t rarity[WORD_COUNTS];  /* by hash: bits that a word tells */
};

/*
 * `base`: of the level below, copied; NULL: none at hand. *ret is NULL, or of another level on that
 * base, which is taken over; it is the caller's after errors, too.
 */
struct error *outlines_create(const struct layout *layout, const struct outlines *base,
			      struct outlines **ret) MUST_CHECK;
void outlines_destroy(struct outlines *outlines);

/* A word of a name. */
struct name_word {
	const char *start;
	uint32_t length, hash;
	bool is_plural;
};
#define NAME_WORDS_MAX 8
/*
 * Splits "amd_l3_event_constraints.3" at what is no letter or digit; the plural's s and gcc's
 * numbers are left out.
 */
size_t name_words(const char *name, struct name_word *ret);
/*
 * Puts "ch" before a "ch9", in place, and returns how many words there are then, NAME_WORDS_MAX at
 * most: of what several numbered variables are, the type's name has no number.
 */
size_t name_words_numbered(struct name_word *words, size_t count);
/* Bit N: there is a word whose hash ends in N. Names without a common bit have no common word. */
uint64_t name_bits(const struct name_word *words, size_t count);
/* The outline of a struct or union, NULL: it has none. */
const struct outline *outlines_find(const struct outlines *outlines, uint32_t type);
/*
 * The bits that a struct's name tells if a variable's name has these words and name_bits(): half a
 * match tells less than half.
 */
int outlines_name_points(const struct outlines *outlines, const struct outline *outline,
			 const struct name_word *words, size_t count, uint64_t bits);

#endif
