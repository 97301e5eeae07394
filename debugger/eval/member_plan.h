/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A member's path, resolved once for objects of one type: which pointers are read at which offsets,
 * and what lies at the end. For thousands of objects names need not be looked up again.
 */
#ifndef DEBUGGER_EVAL_MEMBER_PLAN_H
#define DEBUGGER_EVAL_MEMBER_PLAN_H

#include "debugger/eval/expression.h"

#define MEMBER_PLAN_POINTERS 8

struct member_plan {
	bool is_made;	   /* for objects such as `base` */
	bool is_usable;	   /* false: the path has to be evaluated each time */
	struct value base; /* at address 0, as those below: */
	struct value last; /* from the pointer that was read last, or the object */
	struct value pointers[MEMBER_PLAN_POINTERS];
	size_t pointer_count;
};

/*
 * What expression_member() gives for the path of this object. `plan` is of this path, zeroed at
 * first, and made anew for an object of another type.
 */
struct error *member_plan_value(struct member_plan *plan, struct scope *scope,
				const struct value *object, const char *path,
				struct value *ret) MUST_CHECK;

#endif
