/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which FUNC of BTF belongs to which address, where several functions have one name: static
 * functions of a name are strangers to one another, and encoders leave out some of their FUNCs, so
 * a FUNC is a hypothesis that the function's own code has to bear out.
 */
#ifndef DEBUGGER_PROTOTYPES_INSTANCE_H
#define DEBUGGER_PROTOTYPES_INSTANCE_H

#include "debugger/prototypes/callees.h"

/* FUNCs of one name that are told apart; more are not proved. */
#define INSTANCE_FUNCTIONS_MAX 16

enum instance_proof {
	INSTANCE_UNPROVED,
	/*
	 * One symbol and one prototype of that name, and the code does not refute it. That is no
	 * proof: pahole has FUNCs of inlined functions too, and leaves out others of their names.
	 */
	INSTANCE_ONLY,
	INSTANCE_TAGGED, /* a declaration tag of BTF has the address */
	INSTANCE_CODE,	 /* what the code does with its arguments fits this FUNC and no other */
	INSTANCE_TABLE	 /* a table of certain type points at it (not for callees) */
};
/* "unproved", "only one", "declaration tag", "code", "table". */
const char *instance_proof_name(enum instance_proof proof);

struct function_instance {
	struct symbol symbol;
	/* The FUNC: the proved one, else the only one of the name; { NULL, 0 }: none, several. */
	struct type function;
	enum instance_proof proof;
	uint32_t candidates; /* FUNCs of the name whose prototypes differ */
	uint32_t refuted;    /* of them, by the code */
	/* Why it is not proved, or what proves it; static text, NULL: tagged. */
	const char *why;
	/* .isra, .constprop, .part, .cold, .llvm: parameters may be others than the prototype's. */
	bool is_clone;
};

/* The FUNCs of one name in one level. */
struct functions {
	const struct btf *btf;
	uint32_t ids[INSTANCE_FUNCTIONS_MAX];		/* all of them */
	struct type prototypes[INSTANCE_FUNCTIONS_MAX]; /* of each */
	bool is_repeated[INSTANCE_FUNCTIONS_MAX];	/* its prototype is one of those before */
	uint32_t count, distinct;
	bool is_too_many;
};

void instance_functions(const struct btf *btf, const char *name, struct functions *ret);
/* How many functions of an owner have the name. */
uint32_t instance_addresses(const struct symtab *symbols, const char *module, const char *name);

/*
 * For callees.c: the proved prototype's FUNC in `btf`, the level of the symbol's module; 0: none.
 * Asks only for callees whose names are unique.
 */
uint32_t instance_function(struct callees *callees, const struct btf *btf,
			   const struct symbol *symbol, struct function_instance *ret);

/* What the function's code does with its arguments cannot be what a FUNC_PROTO says. */
bool is_refuted_by_code(struct callees *callees, const struct symbol *symbol,
			struct type prototype);

#endif
