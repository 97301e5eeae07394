// SPDX-License-Identifier: GPL-3.0-or-later
/* Walking the tree of an expression. */
#include "debugger/eval/convert.h"
#include "debugger/eval/tree.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdio.h>

struct error *at_column(const struct node *node, struct error *error)
{
	if (!error || (error->kind != ERROR_USAGE && error->kind != ERROR_NOT_FOUND))
		return error;
	return error_prefix(error, "column %u", node->column);
}

static bool is_scalar(const struct btf_type *record)
{
	return record->kind == BTF_INT || record->kind == BTF_PTR || record->kind == BTF_ENUM ||
	       record->kind == BTF_ENUM64;
}

struct error *operand_walk(struct evaluation *evaluation, const struct node *node,
			   struct value *ret)
{
	struct btf_type record;
	TRY(expression_walk(evaluation, node, ret));
	if (evaluation->types_only && ret->in_memory && value_record(ret, &record) &&
	    is_scalar(&record)) {
		ret->in_memory = false;
		ret->scalar = 0;
	}
	return NULL;
}

/* --- literals ------------------------------------------------------------------------------- */

/* C11 6.4.4.1: the first type that holds it; unsigned ones only with u or not in decimal. */
static struct arithmetic number_class(const struct target *target, const struct token *token)
{
	uint64_t number = token->number;
	bool may_be_unsigned = token->is_unsigned || !token->is_decimal;
	struct arithmetic word = arithmetic_word(target, true);
	if (!token->is_long && !token->is_unsigned && number <= INT32_MAX)
		return class_int;
	if (!token->is_long && may_be_unsigned && number <= UINT32_MAX)
		return class_unsigned;
	if (token->is_long_long || (word.size == 4 && number > INT32_MAX))
		word = (struct arithmetic){ 8, true, RANK_LONG_LONG };
	word.is_signed = !token->is_unsigned && number <= INT64_MAX;
	return word;
}

/* char is unsigned on some processors, and in kernels since 6.2 on all. */
static uint64_t character(const struct target *target, uint64_t number)
{
	uint64_t cursor = 0;
	uint32_t id = target->btf ? btf_find(target->btf, BTF_INT, "char", &cursor) : 0;
	bool is_signed = !id || type_is_signed((struct type){ target->btf, id });
	return is_signed ? number : number & 0xff;
}

static struct error *number_evaluate(struct evaluation *evaluation, const struct node *node,
				     struct value *ret)
{
	const struct token *token = &node->number;
	struct target *target = evaluation->target;
	if (token->is_character)
		return value_set_integer(target, class_int, character(target, token->number), ret);
	return value_set_integer(target, number_class(target, token), token->number, ret);
}

static struct error *string_evaluate(struct evaluation *evaluation, const struct node *node,
				     struct value *ret)
{
	struct type type;
	TRY(target_need_btf(evaluation->target));
	TRY(type_integer(evaluation->target->btf, "char", 1, BTF_INT_SIGNED, &type));
	TRY(type_array_of(type, node->byte_count, &type));
	*ret = (struct value){ .target = evaluation->target,
			       .type = type,
			       .bytes = node->bytes,
			       .origin = ORIGIN_CAST };
	return NULL;
}

/* --- members and elements ------------------------------------------------------------------- */

static struct error *member_evaluate(struct evaluation *evaluation, const struct node *node,
				     struct value *ret)
{
	struct value value;
	struct btf_type record;
	TRY(operand_walk(evaluation, node->operands[0], &value));
	/* "." and "->" are taken as one: people type either. */
	if (value_record(&value, &record) && record.kind == BTF_PTR)
		TRY(at_column(node, value_follow(&value, &value)));
	return at_column(node, value_member(&value, node->name, ret));
}

static bool has_elements(const struct value *value)
{
	struct btf_type record;
	return value_record(value, &record) && (record.kind == BTF_PTR || record.kind == BTF_ARRAY);
}

static struct error *string_element(const struct node *node, const struct value *string,
				    const struct value *index, struct value *ret)
{
	uint64_t number, size;
	struct type type;
	TRY(at_column(node, value_u64(index, &number)));
	if (!type_size(string->type, &size) || number >= size || !type_target(string->type, &type))
		return error_create(ERROR_USAGE, "column %u: the string ends before", node->column);
	*ret = (struct value){ .target = string->target,
			       .type = type,
			       .scalar = (unsigned char)string->bytes[number],
			       .origin = ORIGIN_CAST };
	if (type_is_signed(type))
		ret->scalar = sign_extend(ret->scalar, 8);
	return NULL;
}

struct error *element_evaluate(const struct node *node, const struct value *base,
			       const struct value *index, struct value *ret)
{
	struct value element;
	/* C: 1[array] is array[1]. */
	if (!has_elements(base) && has_elements(index)) {
		const struct value *swapped = base;
		base = index;
		index = swapped;
	}
	if (!has_elements(base))
		return error_create(ERROR_USAGE,
				    "column %u: only arrays and pointers have elements",
				    node->column);
	if (base->bytes)
		return string_element(node, base, index, ret);
	TRY(at_column(node, binary_evaluate('+', base, index, &element)));
	return at_column(node, value_follow(&element, ret));
}

/* Memory behind an array is read as anybody may wish to; but it is no element of the array. */
static void note_bound(struct evaluation *evaluation, const struct value *base,
		       const struct value *index)
{
	struct btf_type array;
	struct arithmetic class;
	uint64_t number;
	/* One element, or none, is how flexible arrays are declared. */
	if (*evaluation->note || !value_record(base, &array) || array.kind != BTF_ARRAY ||
	    array.array_count < 2)
		return;
	struct error *error = operand_promote(index, &class, &number);
	error_free(error);
	if (!error && number >= array.array_count)
		snprintf(evaluation->note, sizeof(evaluation->note),
			 "index %" PRId64 " is beyond the array's %" PRIu32 " elements",
			 (int64_t)number, array.array_count);
}

static struct error *index_evaluate(struct evaluation *evaluation, const struct node *node,
				    struct value *ret)
{
	struct value base, index;
	TRY(operand_walk(evaluation, node->operands[0], &base));
	TRY(operand_walk(evaluation, node->operands[1], &index));
	note_bound(evaluation, &base, &index);
	return element_evaluate(node, &base, &index, ret);
}

/* --- slices --------------------------------------------------------------------------------- */

static struct error *slice_bound(struct evaluation *evaluation, const struct node *node,
				 int64_t *ret)
{
	struct value value;
	struct arithmetic class;
	uint64_t number;
	TRY(operand_walk(evaluation, node, &value));
	TRY(at_column(node, operand_promote(&value, &class, &number)));
	*ret = (int64_t)number;
	return NULL;
}

struct error *slice_bounds(struct evaluation *evaluation, const struct node *node,
			   int64_t *ret_first, int64_t *ret_last)
{
	TRY(slice_bound(evaluation, node->operands[1], ret_first));
	TRY(slice_bound(evaluation, node->operands[2], ret_last));
	if (*ret_last < *ret_first)
		return error_create(ERROR_USAGE, "column %u: the slice ends before it begins",
				    node->column);
	if ((uint64_t)*ret_last - (uint64_t)*ret_first >= UINT32_MAX)
		return error_create(ERROR_USAGE, "column %u: the slice is too big", node->column);
	return NULL;
}

/* The elements as an array that lies where the first one does. */
static struct error *slice_evaluate(struct evaluation *evaluation, const struct node *node,
				    struct value *ret)
{
	struct value base, index, element;
	int64_t first = node->slice_at, last = first;
	TRY(operand_walk(evaluation, node->operands[0], &base));
	if (node->is_whole)
		TRY(slice_bounds(evaluation, node, &first, &last));
	TRY(value_set_integer(evaluation->target, arithmetic_word(evaluation->target, true),
			      (uint64_t)first, &index));
	struct value end = index;
	end.scalar = (uint64_t)last;
	note_bound(evaluation, &base, &end);
	TRY(element_evaluate(node, &base, &index, &element));
	if (node->is_whole) {
		if (!element.in_memory)
			return error_create(ERROR_USAGE, "column %u: a slice of a string",
					    node->column);
		TRY(at_column(node, type_array_of(element.type, (uint32_t)(last - first + 1),
						  &element.type)));
	}
	*ret = element;
	return NULL;
}

/* --- operators ------------------------------------------------------------------------------ */

static struct error *truth(const struct value *value, const struct node *node, bool *ret)
{
	struct arithmetic class;
	uint64_t number;
	TRY(at_column(node, operand_promote(value, &class, &number)));
	*ret = number != 0;
	return NULL;
}

/* An operand that C does not evaluate (behind &&, ||, ?:) must still have a type. */
static struct error *walk_unevaluated(struct evaluation *evaluation, const struct node *node,
				      struct value *ret)
{
	evaluation->types_only++;
	struct error *error = operand_walk(evaluation, node, ret);
	evaluation->types_only--;
	return error;
}

static struct error *logical_evaluate(struct evaluation *evaluation, const struct node *node,
				      struct value *ret)
{
	struct value left, right;
	bool is_true;
	TRY(operand_walk(evaluation, node->operands[0], &left));
	TRY(truth(&left, node, &is_true));
	enum type_origin origin = left.origin;
	if (is_true == (node->operation == TOKEN_AND)) {
		TRY(operand_walk(evaluation, node->operands[1], &right));
		TRY(truth(&right, node, &is_true));
		origin = origin_combine(origin, right.origin);
	} else {
		TRY(walk_unevaluated(evaluation, node->operands[1], &right));
	}
	TRY(value_set_integer(evaluation->target, class_int, is_true, ret));
	ret->origin = origin;
	return NULL;
}

static struct error *conditional_evaluate(struct evaluation *evaluation, const struct node *node,
					  struct value *ret)
{
	struct value condition, taken, other;
	bool is_true;
	TRY(operand_walk(evaluation, node->operands[0], &condition));
	TRY(truth(&condition, node, &is_true));
	TRY(operand_walk(evaluation, node->operands[is_true ? 1 : 2], &taken));
	TRY(walk_unevaluated(evaluation, node->operands[is_true ? 2 : 1], &other));
	return at_column(node, branch_convert(&taken, &other, ret));
}

/* Unevaluated operands are zeros that stand for their type: dividing by them would fail. */
static bool divides(int operation)
{
	return operation == '/' || operation == '%';
}

static struct error *binary_walk(struct evaluation *evaluation, const struct node *node,
				 struct value *ret)
{
	struct value left, right;
	TRY(operand_walk(evaluation, node->operands[0], &left));
	TRY(operand_walk(evaluation, node->operands[1], &right));
	if (node->operation == ',') {
		*ret = right;
		return NULL;
	}
	if (evaluation->types_only && !right.in_memory && divides(node->operation))
		right.scalar = 1;
	if (!compares_memory(node->operation, &left, &right))
		return at_column(node, binary_evaluate(node->operation, &left, &right, ret));
	if (evaluation->types_only)
		return value_set_integer(evaluation->target, class_int, 0, ret);
	return at_column(node, memory_compare(node->operation, &left, &right, ret));
}

static struct error *operator_evaluate(struct evaluation *evaluation, const struct node *node,
				       struct value *ret)
{
	struct value operand;
	if (node->operation == TOKEN_AND || node->operation == TOKEN_OR)
		return logical_evaluate(evaluation, node, ret);
	if (node->kind == NODE_BINARY)
		return binary_walk(evaluation, node, ret);
	/* & needs the place, not the value. */
	TRY(node->operation == '&' ? expression_walk(evaluation, node->operands[0], &operand)
				   : operand_walk(evaluation, node->operands[0], &operand));
	return at_column(node, unary_evaluate(node->operation, &operand, ret));
}

static struct error *cast_evaluate(struct evaluation *evaluation, const struct node *node,
				   struct value *ret)
{
	struct value operand;
	TRY(operand_walk(evaluation, node->operands[0], &operand));
	if (evaluation->types_only) {
		/* Reading through an unknown type must not happen either. */
		*ret = operand;
		ret->type = node->type;
		return NULL;
	}
	return at_column(node, value_cast(&operand, node->type, ret));
}

/* --- the walk ------------------------------------------------------------------------------- */

static struct error *place_evaluate(struct evaluation *evaluation, const struct node *node,
				    struct value *ret)
{
	*ret = (struct value){ .target = evaluation->target,
			       .type = node->type,
			       .in_memory = true,
			       .origin = ORIGIN_CAST };
	return NULL;
}

struct error *expression_walk(struct evaluation *evaluation, const struct node *node,
			      struct value *ret)
{
	switch (node->kind) {
	case NODE_NUMBER:
		return number_evaluate(evaluation, node, ret);
	case NODE_STRING:
		return string_evaluate(evaluation, node, ret);
	case NODE_NAME:
		return name_evaluate(evaluation, node, ret);
	case NODE_VARIABLE:
		return variable_evaluate(evaluation, node, ret);
	case NODE_BASE:
		*ret = *evaluation->base;
		return NULL;
	case NODE_PLACE:
		return place_evaluate(evaluation, node, ret);
	case NODE_MEMBER:
		return member_evaluate(evaluation, node, ret);
	case NODE_INDEX:
		return index_evaluate(evaluation, node, ret);
	case NODE_SLICE:
		return slice_evaluate(evaluation, node, ret);
	case NODE_UNARY:
	case NODE_BINARY:
		return operator_evaluate(evaluation, node, ret);
	case NODE_CONDITIONAL:
		return conditional_evaluate(evaluation, node, ret);
	case NODE_CAST:
		return cast_evaluate(evaluation, node, ret);
	default:
		return builtin_evaluate(evaluation, node, ret);
	}
}
