/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What speaks for a type and against it, in points: a row for each rule. The score can do without
 * any one of them (`globals --less RULE`), so each says by itself what it is worth; the table of
 * that is in docs/inference-rules.md, and tests/truth/ablation measures it anew.
 */
#ifndef DEBUGGER_INFER_SOLVE_RULES_H
#define DEBUGGER_INFER_SOLVE_RULES_H

#include <stdbool.h>
#include <stdint.h>

enum rule {
	RULE_WHOLE,
	RULE_STRIDE,
	RULE_ACCESS,
	RULE_SHAPE_NAME,
	RULE_SHAPE,
	RULE_OBJECT,
	RULE_OBJECT_POINTER,
	RULE_OBJECT_BYTE,
	RULE_OBJECT_NUMBER,
	RULE_VALUE_POINTER,
	RULE_VALUE_SEEN,
	RULE_VALUE_OTHER_POINTER,
	RULE_VALUE_ENUM,
	RULE_VALUE_NUMBER,
	RULE_VALUE_SIGN,
	RULE_AGAIN,
	RULE_COUNTED,
	RULE_LOCK,
	RULE_LONE_FUNCTION,
	RULE_TOO_SMALL,
	RULE_MISFIT,
	RULE_GAP_EXACT,
	RULE_GAP_INEXACT,
	RULE_GAP_NONE,
	RULE_GAP_WORDS,
	RULE_GAP_UNEXPLAINED,
	RULE_CONTAINER,
	RULE_DEEPER,
	RULE_INSIDE,
	RULE_CROWD,
	RULE_ARRAY,
	RULE_ARRAY_PARTS,
	RULE_ARRAY_NUMBERS,
	RULE_ARRAY_POINTERS,
	RULE_SEARCHED,
	RULE_USED,
	RULE_CPUMASK,
	RULE_BUCKETS,
	RULE_DEFAULT,
	RULE_DEFAULT_INT,
	RULE_DEFAULT_BOOL,
	RULE_DEFAULT_LONG,
	RULE_NAME_SAME,
	RULE_NAME_PART,
	RULE_NAME_USED,
	RULE_NAME_USED_NUMBER,
	RULE_HABIT,
	RULE_FUNCTION_RIGHT,
	RULE_FUNCTION_OTHER,
	RULE_FUNCTION_NONE,
	RULE_POINTER_RIGHT,
	RULE_POINTER_OTHER,
	RULE_POINTER_TEXT,
	RULE_POINTER_THERE,
	RULE_POINTER_NUMBER,
	RULE_BOOL,
	RULE_HALF_IMAGE,
	RULE_INTEGER_POINTER,
	RULE_LIST_LINKED,
	RULE_LIST_NOT,
	RULE_PADDING,
	RULE_STATIC_KEY,
	RULE_CONSTANT,
	RULE_COUNT
};

struct rule_row {
	const char *name; /* as the option spells it: "gap-none" */
	int16_t points;
	int16_t bits; /* that it takes to say so in own_data_fit.c; 0: no bytes say it, or it varies
		       */
	const char *says;
};

/* The rules that hold, by enum rule; what is switched off has 0 points. */
struct rules {
	int16_t points[RULE_COUNT];
};

const struct rule_row *rule_row(enum rule which);
/* All of them; and one less. False: no rule is called so. */
void rules_all(struct rules *ret);
bool rules_less(struct rules *rules, const char *name);

/* The points of a rule; `rules` NULL: all rules hold. */
static inline int rule(const struct rules *rules, enum rule which)
{
	return rules ? rules->points[which] : rule_row(which)->points;
}

#endif
