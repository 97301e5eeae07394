// SPDX-License-Identifier: GPL-3.0-or-later
/* Walking the tree of an expression. */
#include "debugger/eval/convert.h"
#include "debugger/eval/tree.h"
#include "debugger/target/object.h"
#include <string.h>

/* Says where; what could not be read has an address of its own to name. */
static struct error *at_column(const struct node *node, struct error *error)
{
	if (!error || (error->kind != ERROR_USAGE && error->kind != ERROR_NOT_FOUND))
		return error;
	return error_prefix(error, "column %u", node->column);
}

/* Within sizeof nothing is read: scalars become zeros of their types. */
static struct error *walk(struct evaluation *evaluation, const struct node *node, struct value *ret)
{
	struct btf_type record;
	TRY(expression_walk(evaluation, node, ret));
	if (evaluation->types_only && ret->in_memory && value_record(ret, &record) &&
	    (record.kind == BTF_INT || record.kind == BTF_PTR || record.kind == BTF_ENUM ||
	     record.kind == BTF_ENUM64)) {
		ret->in_memory = false;
		ret->scalar = 1; /* nothing divides by it */
	}
	return NULL;
}

/* C11 6.4.4.1: the first type that holds it; unsigned ones only with u or not in decimal. */
static struct error *number_evaluate(struct evaluation *evaluation, const struct node *node,
				     struct value *ret)
{
	const struct token *token = &node->number;
	uint64_t number = token->number;
	struct arithmetic class = { 4, true };
	if (token->is_character)
		return value_set_integer(evaluation->target, class, number, ret);
	bool may_be_unsigned = token->is_unsigned || !token->is_decimal;
	if (!token->is_long && !token->is_unsigned && number <= INT32_MAX)
		class = (struct arithmetic){ 4, true };
	else if (!token->is_long && may_be_unsigned && number <= UINT32_MAX)
		class = (struct arithmetic){ 4, false };
	else
		class = (struct arithmetic){ 8, !token->is_unsigned && number <= INT64_MAX };
	return value_set_integer(evaluation->target, class, number, ret);
}

static struct error *member_evaluate(struct evaluation *evaluation, const struct node *node,
				     struct value *ret)
{
	struct value value;
	struct btf_type record;
	TRY(walk(evaluation, node->operands[0], &value));
	/* "." and "->" are taken as one: people type either. */
	if (value_record(&value, &record) && record.kind == BTF_PTR)
		TRY(at_column(node, value_follow(&value, &value)));
	return at_column(node, value_member(&value, node->name, ret));
}

static struct error *index_evaluate(struct evaluation *evaluation, const struct node *node,
				    struct value *ret)
{
	struct value base, index, element;
	struct btf_type record;
	TRY(walk(evaluation, node->operands[0], &base));
	TRY(walk(evaluation, node->operands[1], &index));
	if (!value_record(&base, &record) || (record.kind != BTF_PTR && record.kind != BTF_ARRAY))
		return error_create(ERROR_USAGE,
				    "column %u: only arrays and pointers have elements",
				    node->column);
	TRY(at_column(node, binary_evaluate('+', &base, &index, &element)));
	return at_column(node, value_follow(&element, ret));
}

static struct error *truth(const struct value *value, const struct node *node, bool *ret)
{
	struct arithmetic class;
	uint64_t number;
	TRY(at_column(node, operand_promote(value, &class, &number)));
	*ret = number != 0;
	return NULL;
}

static struct error *logical_evaluate(struct evaluation *evaluation, const struct node *node,
				      struct value *ret)
{
	struct value left, right;
	bool is_true;
	TRY(walk(evaluation, node->operands[0], &left));
	TRY(truth(&left, node, &is_true));
	enum type_origin origin = left.origin;
	if (is_true == (node->operation == TOKEN_AND)) {
		TRY(walk(evaluation, node->operands[1], &right));
		TRY(truth(&right, node, &is_true));
		origin = origin_combine(origin, right.origin);
	}
	TRY(value_set_integer(evaluation->target, (struct arithmetic){ 4, true }, is_true, ret));
	ret->origin = origin;
	return NULL;
}

static struct error *conditional_evaluate(struct evaluation *evaluation, const struct node *node,
					  struct value *ret)
{
	struct value condition;
	bool is_true;
	TRY(walk(evaluation, node->operands[0], &condition));
	TRY(truth(&condition, node, &is_true));
	return walk(evaluation, node->operands[is_true ? 1 : 2], ret);
}

static struct error *size_of(struct evaluation *evaluation, const struct node *node,
			     struct type type, struct value *ret)
{
	uint64_t size;
	if (!type.btf || !type_size(type_completed(evaluation->target, type), &size))
		return error_create(ERROR_USAGE, "column %u: it has no known size", node->column);
	return value_set_integer(evaluation->target, arithmetic_word(evaluation->target, false),
				 size, ret);
}

static struct error *sizeof_evaluate(struct evaluation *evaluation, const struct node *node,
				     struct value *ret)
{
	struct value operand;
	evaluation->types_only++;
	struct error *error = expression_walk(evaluation, node->operands[0], &operand);
	evaluation->types_only--;
	if (error)
		return error;
	if (operand.bit_size)
		return error_create(ERROR_USAGE, "column %u: a bit-field has no size in bytes",
				    node->column);
	return size_of(evaluation, node, operand.type, ret);
}

static struct error *operator_evaluate(struct evaluation *evaluation, const struct node *node,
				       struct value *ret)
{
	struct value left, right;
	if (node->kind == NODE_UNARY) {
		/* & needs the place, not the value. */
		TRY(node->operation == '&' ? expression_walk(evaluation, node->operands[0], &left)
					   : walk(evaluation, node->operands[0], &left));
		return at_column(node, unary_evaluate(node->operation, &left, ret));
	}
	if (node->operation == TOKEN_AND || node->operation == TOKEN_OR)
		return logical_evaluate(evaluation, node, ret);
	TRY(walk(evaluation, node->operands[0], &left));
	TRY(walk(evaluation, node->operands[1], &right));
	return at_column(node, binary_evaluate(node->operation, &left, &right, ret));
}

static struct error *cast_evaluate(struct evaluation *evaluation, const struct node *node,
				   struct value *ret)
{
	struct value operand;
	TRY(walk(evaluation, node->operands[0], &operand));
	if (evaluation->types_only) {
		/* Reading through an unknown type must not happen either. */
		*ret = operand;
		ret->type = node->type;
		return NULL;
	}
	return at_column(node, value_cast(&operand, node->type, ret));
}

struct error *expression_walk(struct evaluation *evaluation, const struct node *node,
			      struct value *ret)
{
	switch (node->kind) {
	case NODE_NUMBER:
		return number_evaluate(evaluation, node, ret);
	case NODE_NAME:
		return name_evaluate(evaluation, node, ret);
	case NODE_MEMBER:
		return member_evaluate(evaluation, node, ret);
	case NODE_INDEX:
		return index_evaluate(evaluation, node, ret);
	case NODE_UNARY:
	case NODE_BINARY:
		return operator_evaluate(evaluation, node, ret);
	case NODE_CONDITIONAL:
		return conditional_evaluate(evaluation, node, ret);
	case NODE_CAST:
		return cast_evaluate(evaluation, node, ret);
	case NODE_SIZEOF:
		return sizeof_evaluate(evaluation, node, ret);
	case NODE_SIZEOF_TYPE:
		return size_of(evaluation, node, node->type, ret);
	}
	return error_create(ERROR_OTHER, "unknown node %d", node->kind);
}
