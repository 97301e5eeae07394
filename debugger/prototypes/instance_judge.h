/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether what code does with its arguments bears a prototype out. */
#ifndef DEBUGGER_PROTOTYPES_INSTANCE_JUDGE_H
#define DEBUGGER_PROTOTYPES_INSTANCE_JUDGE_H

#include "debugger/prototypes/instance_code.h"

#define JUDGED_ARGUMENTS 8

/* What speaks for one argument, and what was loaded through it, being of its type. */
struct support {
	unsigned int
		strong;	    /* handed to a function that takes this very type, called as a member */
	unsigned int fits;  /* accesses that are members, exactly */
	unsigned int parts; /* those of parts of members, or across them */
	bool is_compound;   /* it points at a struct or union */
	bool is_used;
};

struct judgement {
	struct support arguments[JUDGED_ARGUMENTS];
	unsigned int odd;    /* uses that this prototype does not explain */
	const char *refuted; /* why it cannot be; NULL: it can */
};

/* `prototype`: a FUNC_PROTO. */
void judge_prototype(const struct use_world *world, const struct uses *uses, struct type prototype,
		     struct judgement *ret);
bool is_borne_out(const struct judgement *judgement);
/* Every pointer to a struct or union is used. */
bool is_whole(const struct judgement *judgement);
/* The integer, enum or pointer of `size` bytes at an offset; false: none, or several. */
bool type_scalar_at(struct type type, uint64_t offset, uint32_t size, struct type *ret);
/*
 * Two FUNC_PROTOs; names of parameters do not count. Unlike type_equal(), what the parameters point
 * at is compared too: structs of one name may differ.
 */
bool is_same_prototype(struct type a, struct type b);

#endif
