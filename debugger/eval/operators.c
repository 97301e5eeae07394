// SPDX-License-Identifier: GPL-3.0-or-later
/* Unary and binary operators on values. */
#include "debugger/eval/convert.h"
#include "debugger/eval/tree.h"
#include "debugger/target/object.h"

/* --- pointers ------------------------------------------------------------------------------- */

/* Pointers and arrays: what they point to and how big it is (1 for void and functions). */
static bool is_pointer(const struct value *value, struct type *ret_target, uint64_t *ret_size)
{
	struct btf_type record;
	if (!value_record(value, &record) || (record.kind != BTF_PTR && record.kind != BTF_ARRAY) ||
	    !type_target(value->type, ret_target))
		return false;
	if (!type_size(type_completed(value->target, *ret_target), ret_size))
		*ret_size = 1;
	return true;
}

static struct error *pointer_plus(const struct value *pointer, const struct value *index,
				  bool minus, struct value *ret)
{
	struct arithmetic class;
	struct type target;
	uint64_t size, address, steps;
	if (!is_pointer(pointer, &target, &size) || is_pointer(index, &target, &size))
		return error_create(ERROR_USAGE, "two pointers cannot be added");
	is_pointer(pointer, &target, &size);
	TRY(value_u64(pointer, &address));
	TRY(operand_promote(index, &class, &steps));
	TRY(value_set_pointer(pointer->target, target,
			      minus ? address - steps * size : address + steps * size, ret));
	ret->origin = pointer->origin;
	return NULL;
}

static struct error *pointer_difference(const struct value *left, const struct value *right,
					struct value *ret)
{
	struct type target;
	uint64_t size, right_size, a, b;
	is_pointer(left, &target, &size);
	is_pointer(right, &target, &right_size);
	if (size != right_size)
		return error_create(ERROR_USAGE, "the pointers are to things of different sizes");
	if (!size)
		return error_create(ERROR_USAGE, "the pointers are to things without a size");
	TRY(value_u64(left, &a));
	TRY(value_u64(right, &b));
	return value_set_integer(left->target, arithmetic_word(left->target, true),
				 (uint64_t)((int64_t)(a - b) / (int64_t)size), ret);
}

/* --- numbers -------------------------------------------------------------------------------- */

static struct error *shift(int operation, const struct value *left, const struct value *right,
			   struct value *ret)
{
	struct arithmetic class, by_class;
	uint64_t number, by;
	TRY(operand_promote(left, &class, &number));
	TRY(operand_promote(right, &by_class, &by));
	if (by >= class.size * 8)
		return error_create(ERROR_USAGE, "a shift of a %u-bit number by %lld",
				    class.size * 8, (long long)by);
	if (operation == TOKEN_SHIFT_LEFT)
		number <<= by;
	else if (class.is_signed)
		number = (uint64_t)((int64_t)number >> by);
	else
		number >>= by;
	return value_set_integer(left->target, class, number, ret);
}

static struct error *divide(int operation, struct arithmetic class, uint64_t a, uint64_t b,
			    uint64_t *ret)
{
	if (!b)
		return error_create(ERROR_USAGE, "division by zero");
	if (!class.is_signed)
		*ret = operation == '/' ? a / b : a % b;
	else if (b == (uint64_t)-1) /* the least number has no positive */
		*ret = operation == '/' ? -a : 0;
	else
		*ret = (uint64_t)(operation == '/' ? (int64_t)a / (int64_t)b
						   : (int64_t)a % (int64_t)b);
	return NULL;
}

static struct error *compute(int operation, struct arithmetic class, uint64_t a, uint64_t b,
			     uint64_t *ret)
{
	switch (operation) {
	case '*':
		*ret = a * b;
		return NULL;
	case '+':
		*ret = a + b;
		return NULL;
	case '-':
		*ret = a - b;
		return NULL;
	case '&':
		*ret = a & b;
		return NULL;
	case '|':
		*ret = a | b;
		return NULL;
	case '^':
		*ret = a ^ b;
		return NULL;
	case '/':
	case '%':
		return divide(operation, class, a, b, ret);
	}
	return error_create(ERROR_OTHER, "unknown operation %d", operation);
}

static bool compare(int operation, bool is_signed, uint64_t a, uint64_t b)
{
	bool less = is_signed ? (int64_t)a < (int64_t)b : a < b;
	switch (operation) {
	case '<':
		return less;
	case '>':
		return !less && a != b;
	case TOKEN_LESS_EQUAL:
		return less || a == b;
	case TOKEN_GREATER_EQUAL:
		return !less;
	case TOKEN_EQUAL:
		return a == b;
	}
	return a != b;
}

static bool is_comparison(int operation)
{
	return operation == '<' || operation == '>' || operation == TOKEN_LESS_EQUAL ||
	       operation == TOKEN_GREATER_EQUAL || operation == TOKEN_EQUAL ||
	       operation == TOKEN_NOT_EQUAL;
}

static struct error *arithmetic(int operation, const struct value *left, const struct value *right,
				struct value *ret)
{
	struct arithmetic left_class, right_class;
	uint64_t a, b, result = 0;
	TRY(operand_promote(left, &left_class, &a));
	TRY(operand_promote(right, &right_class, &b));
	struct arithmetic class = arithmetic_common(left_class, right_class);
	a = arithmetic_wrap(class, a);
	b = arithmetic_wrap(class, b);
	if (is_comparison(operation))
		return value_set_integer(left->target, class_int,
					 compare(operation, class.is_signed, a, b), ret);
	TRY(compute(operation, class, a, b, &result));
	return value_set_integer(left->target, class, result, ret);
}

static struct error *binary(int operation, const struct value *left, const struct value *right,
			    struct value *ret)
{
	struct type target;
	uint64_t size;
	bool left_points = is_pointer(left, &target, &size);
	bool right_points = is_pointer(right, &target, &size);
	if (operation == '-' && left_points && right_points)
		return pointer_difference(left, right, ret);
	if (left_points && (operation == '+' || operation == '-'))
		return pointer_plus(left, right, operation == '-', ret);
	if (right_points && operation == '+')
		return pointer_plus(right, left, false, ret);
	if (operation == TOKEN_SHIFT_LEFT || operation == TOKEN_SHIFT_RIGHT)
		return shift(operation, left, right, ret);
	return arithmetic(operation, left, right, ret);
}

struct error *binary_evaluate(int operation, const struct value *left, const struct value *right,
			      struct value *ret)
{
	enum type_origin origin = origin_combine(left->origin, right->origin);
	TRY(binary(operation, left, right, ret));
	ret->origin = origin;
	return NULL;
}

/* --- branches ------------------------------------------------------------------------------- */

static bool is_arithmetic(const struct value *value)
{
	struct btf_type record;
	return value_record(value, &record) &&
	       (record.kind == BTF_INT || record.kind == BTF_ENUM || record.kind == BTF_ENUM64);
}

static struct error *common_number(const struct value *taken, const struct value *other,
				   struct value *ret)
{
	struct arithmetic class, other_class;
	uint64_t number, other_number;
	TRY(operand_promote(taken, &class, &number));
	TRY(operand_promote(other, &other_class, &other_number));
	TRY(value_set_integer(taken->target, arithmetic_common(class, other_class), number, ret));
	ret->origin = taken->origin;
	return NULL;
}

static bool is_void(struct type type)
{
	struct btf_type record;
	return type_get_resolved(type, &record) && record.kind == BTF_VOID;
}

/* C11 6.5.15: arrays decay, and 0 becomes a pointer where the other branch is one. */
struct error *branch_convert(const struct value *taken, const struct value *other,
			     struct value *ret)
{
	struct type taken_target, other_target;
	uint64_t size, address;
	bool taken_points = is_pointer(taken, &taken_target, &size) && !taken->bytes;
	bool other_points = is_pointer(other, &other_target, &size) && !other->bytes;
	if (is_arithmetic(taken) && is_arithmetic(other))
		return common_number(taken, other, ret);
	if (!taken_points && !(other_points && is_arithmetic(taken))) {
		*ret = *taken;
		return NULL;
	}
	TRY(value_u64(taken, &address));
	if (!taken_points || (other_points && !address && is_void(taken_target)))
		taken_target = other_target;
	enum type_origin origin = taken->origin;
	TRY(value_set_pointer(taken->target, taken_target, address, ret));
	ret->origin = origin;
	return NULL;
}

/* --- unary ---------------------------------------------------------------------------------- */

static struct error *address_of(const struct value *value, struct value *ret)
{
	enum type_origin origin = value->origin;
	if (value->bit_size)
		return error_create(ERROR_USAGE, "a bit-field has no address");
	if (!value->in_memory)
		return error_create(ERROR_USAGE, "a computed value has no address");
	TRY(value_set_pointer(value->target, value->type, value->address, ret));
	ret->origin = origin == ORIGIN_NONE ? ORIGIN_CAST : origin;
	return NULL;
}

static struct error *follow(const struct value *value, struct value *ret)
{
	struct btf_type record;
	/* In C, *function is the function again. */
	if (value_record(value, &record) && record.kind == BTF_FUNC_PROTO) {
		*ret = *value;
		return NULL;
	}
	return value_follow(value, ret);
}

struct error *unary_evaluate(int operation, const struct value *value, struct value *ret)
{
	struct arithmetic class;
	enum type_origin origin = value->origin;
	struct target *target = value->target;
	uint64_t number;
	if (operation == '&')
		return address_of(value, ret);
	if (operation == '*')
		return follow(value, ret);
	TRY(operand_promote(value, &class, &number));
	if (operation == '!')
		TRY(value_set_integer(target, class_int, !number, ret));
	else
		TRY(value_set_integer(target, class,
				      operation == '-'	 ? -number
				      : operation == '~' ? ~number
							 : number,
				      ret));
	ret->origin = origin;
	return NULL;
}
