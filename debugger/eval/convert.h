/* SPDX-License-Identifier: GPL-3.0-or-later */
/* C's promotions, conversions and casts, with the sizes of the target. */
#ifndef DEBUGGER_EVAL_CONVERT_H
#define DEBUGGER_EVAL_CONVERT_H

#include "debugger/eval/value.h"

/* C11 6.3.1.1: of two types of one size, that of the higher rank wins. */
enum rank { RANK_INT, RANK_LONG, RANK_LONG_LONG };

/* What integers are computed in: int, long or long long, or the unsigned one. */
struct arithmetic {
	uint32_t size; /* bytes: 4 or 8 */
	bool is_signed;
	enum rank rank;
};

/* Everything of gcc and clang on Linux has a 4-byte int; longs and pointers are words. */
#define INT_SIZE 4
static const struct arithmetic class_int = { INT_SIZE, true, RANK_INT };
static const struct arithmetic class_unsigned = { INT_SIZE, false, RANK_INT };

/*
 * An operand after C's integer promotions: its class and its bits, extended to 64. A
 * pointer counts as an unsigned long. ERROR_USAGE for what is no number.
 */
struct error *operand_promote(const struct value *value, struct arithmetic *ret_class,
			      uint64_t *ret) MUST_CHECK;
/* C's usual arithmetic conversions. */
struct arithmetic arithmetic_common(struct arithmetic a, struct arithmetic b);
/* Cuts to the class and extends again. */
uint64_t arithmetic_wrap(struct arithmetic class, uint64_t value);
/* A computed integer of the class. */
struct error *value_set_integer(struct target *target, struct arithmetic class, uint64_t number,
				struct value *ret) MUST_CHECK;
/* The class of size_t, pointer differences (when signed) and addresses. */
struct arithmetic arithmetic_word(const struct target *target, bool is_signed);
/* A pointer to `type` ({ NULL, 0 }: void) that holds `address`. */
struct error *value_set_pointer(struct target *target, struct type type, uint64_t address,
				struct value *ret) MUST_CHECK;
/*
 * (type)value. What lies in memory without a known type, or as a struct, union or array, is read
 * as the new type in place.
 */
struct error *value_cast(const struct value *value, struct type type, struct value *ret) MUST_CHECK;
/* The origin of what was computed from both: the weaker one; a cast counts for nothing. */
enum type_origin origin_combine(enum type_origin a, enum type_origin b);

#endif
