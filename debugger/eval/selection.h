/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chosen members: "comm, pid, mm{map_count, pgd}, se.load.weight". Each path is for
 * expression_member(): through structs, pointers and arrays. What is no path is for
 * expression_about(): "mm->total_vm * 4".
 */
#ifndef DEBUGGER_EVAL_SELECTION_H
#define DEBUGGER_EVAL_SELECTION_H

#include "debugger/eval/member_plan.h"
#include <stddef.h>

/* As many as a table has columns, and some to spare for its own. */
#define SELECTION_MAX 24

struct selection {
	char *paths[SELECTION_MAX];
	size_t count;
	struct member_plan *plans; /* of each path; NULL: none was asked for yet */
};

/*
 * Paths with commas between them, with or without braces around all of it; those in braces behind
 * a path continue it. Commas within brackets separate nothing; what comes twice is taken once.
 * "task_struct.comm" is "comm" where `type_name` ("struct task_struct", NULL: none) is so called.
 */
struct error *selection_parse(const char *text, const char *type_name,
			      struct selection *ret) MUST_CHECK;
/* Whether each path can be followed from an object of the type: the error of the first that cannot.
 * Those with $_, which are expressions of their own, are taken as they are. */
struct error *selection_check(struct scope *scope, const struct selection *selection,
			      struct type type) MUST_CHECK;
/* What a chosen path or expression is of an object. */
struct error *selection_value(struct selection *selection, size_t index, struct scope *scope,
			      const struct value *object, struct value *ret) MUST_CHECK;
/* "mm->pgd", "rcu_node[0].lock": a path; else it is an expression about the object. */
bool selection_is_path(const char *text);
void selection_deinit(struct selection *selection);
/*
 * Where the braces open that end "EXPRESSION{a, b}"; NULL: it does not end in braces. Braces may
 * be all there is.
 */
const char *selection_find(const char *text);

#endif
