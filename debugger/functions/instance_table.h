/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Function pointers in the kernel's own tables (file_operations, attributes) that point at a
 * function: the type of the member is that of the function.
 */
#ifndef DEBUGGER_FUNCTIONS_INSTANCE_TABLE_H
#define DEBUGGER_FUNCTIONS_INSTANCE_TABLE_H

#include "debugger/target/target.h"

struct table_question {
	uint64_t address; /* of a function */
	struct type
		prototype; /* the answer; { NULL, 0 }: no table of a certain type points at it */
	bool is_contradictory; /* tables disagree; no answer then */
};
/*
 * Answers all questions, which it sorts by address, with one pass over the kernel's data. Only
 * tables whose types are certain count: BTF's, or those that independent sources agree on.
 */
struct error *table_prototypes(struct target *target, struct table_question *questions,
			       size_t count) MUST_CHECK;

#endif
