/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which FUNC of BTF belongs to which address, where several functions have one name: static
 * functions of a name are strangers to one another, and encoders leave out some of their FUNCs, so
 * a FUNC is a hypothesis that the function's own code has to bear out.
 */
#ifndef DEBUGGER_INFER_INSTANCES_H
#define DEBUGGER_INFER_INSTANCES_H

#include "debugger/infer/callees.h"

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

/* What the function at a symbol's address is; a prototype is proved only when `proof` says so. */
struct error *function_instance_of(struct target *target, const struct symbol *symbol,
				   struct function_instance *ret) MUST_CHECK;

typedef struct error *function_instance_visitor(void *context,
						const struct function_instance *instance);
/*
 * All functions of a name, clones too, in the order of the symbols. A name may be a pattern (*, ?,
 * []). NULL: of all names that have several addresses or prototypes in the kernel or in one module.
 */
struct error *function_instances(struct target *target, const char *name,
				 function_instance_visitor *visit, void *context) MUST_CHECK;

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
