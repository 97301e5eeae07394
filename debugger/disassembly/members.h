/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the instructions of a function access, where types that are written down say it: "struct
 * file.f_op", and of which of its arguments, as long as a register holds one.
 */
#ifndef DEBUGGER_DISASSEMBLY_MEMBERS_H
#define DEBUGGER_DISASSEMBLY_MEMBERS_H

#include "debugger/target/target.h"

struct member_access {
	uint32_t at;	 /* offset of the instruction in the function */
	bool is_address; /* it takes the member's address, and accesses nothing */
	struct type type;
	uint64_t offset;      /* in it, bytes */
	const char *argument; /* the pointer is this one, NULL: not known. Borrowed of the BTF */
};

struct function_members {
	struct member_access *items; /* by `at` */
	size_t count, capacity;
	struct type prototype; /* { NULL, 0 }: not proved */
};

/* Errors: nothing can be said of the function. Deinit in any case. */
struct error *function_members_find(struct target *target, const struct symbol *function,
				    struct function_members *ret) MUST_CHECK;
void function_members_deinit(struct function_members *members);
/* The first access of the instruction there; NULL: none that is known. */
const struct member_access *function_members_at(const struct function_members *members,
						uint64_t at);

#endif
