// SPDX-License-Identifier: GPL-3.0-or-later
/* C's operators of two numbers. */
#include "debugger/kernel/trace_value.h"

#include "base/array.h"
#include <string.h>

enum operation {
	OPERATOR_OR,
	OPERATOR_AND,
	OPERATOR_LEFT,
	OPERATOR_RIGHT,
	OPERATOR_EQUAL,
	OPERATOR_UNEQUAL,
	OPERATOR_NOT_GREATER,
	OPERATOR_NOT_LESS,
	OPERATOR_BIT_OR,
	OPERATOR_BIT_XOR,
	OPERATOR_BIT_AND,
	OPERATOR_LESS,
	OPERATOR_GREATER,
	OPERATOR_ADD,
	OPERATOR_SUBTRACT,
	OPERATOR_MULTIPLY,
	OPERATOR_DIVIDE,
	OPERATOR_REMAINDER
};

/* With their precedence; of those that begin alike the longer first. */
static const struct trace_operator operators[] = {
	[OPERATOR_OR] = { "||", 1 },	      [OPERATOR_AND] = { "&&", 2 },
	[OPERATOR_LEFT] = { "<<", 8 },	      [OPERATOR_RIGHT] = { ">>", 8 },
	[OPERATOR_EQUAL] = { "==", 6 },	      [OPERATOR_UNEQUAL] = { "!=", 6 },
	[OPERATOR_NOT_GREATER] = { "<=", 7 }, [OPERATOR_NOT_LESS] = { ">=", 7 },
	[OPERATOR_BIT_OR] = { "|", 3 },	      [OPERATOR_BIT_XOR] = { "^", 4 },
	[OPERATOR_BIT_AND] = { "&", 5 },      [OPERATOR_LESS] = { "<", 7 },
	[OPERATOR_GREATER] = { ">", 7 },      [OPERATOR_ADD] = { "+", 9 },
	[OPERATOR_SUBTRACT] = { "-", 9 },     [OPERATOR_MULTIPLY] = { "*", 10 },
	[OPERATOR_DIVIDE] = { "/", 10 },      [OPERATOR_REMAINDER] = { "%", 10 },
};

static bool divide(enum operation operation, uint64_t a, uint64_t b, bool is_unsigned,
		   uint64_t *ret)
{
	/* The quotient of the smallest number and -1 is none. */
	if (!b || (!is_unsigned && b == UINT64_MAX))
		return false;
	if (operation == OPERATOR_DIVIDE)
		*ret = is_unsigned ? a / b : (uint64_t)((int64_t)a / (int64_t)b);
	else
		*ret = is_unsigned ? a % b : (uint64_t)((int64_t)a % (int64_t)b);
	return true;
}

static uint64_t shift_right(const struct trace_value *value, uint64_t bits)
{
	if (bits > 63)
		return 0;
	return value->is_unsigned ? value->number >> bits
				  : (uint64_t)((int64_t)value->number >> bits);
}

static bool compute(enum operation operation, const struct trace_value *left,
		    const struct trace_value *right, uint64_t *ret)
{
	uint64_t a = left->number, b = right->number;
	bool is_unsigned = left->is_unsigned || right->is_unsigned;
	bool is_less = is_unsigned ? a < b : (int64_t)a < (int64_t)b;
	switch (operation) {
	case OPERATOR_OR:
		*ret = a || b;
		break;
	case OPERATOR_AND:
		*ret = a && b;
		break;
	case OPERATOR_EQUAL:
		*ret = a == b;
		break;
	case OPERATOR_UNEQUAL:
		*ret = a != b;
		break;
	case OPERATOR_LESS:
		*ret = is_less;
		break;
	case OPERATOR_NOT_LESS:
		*ret = !is_less;
		break;
	case OPERATOR_GREATER:
		*ret = !is_less && a != b;
		break;
	case OPERATOR_NOT_GREATER:
		*ret = is_less || a == b;
		break;
	case OPERATOR_LEFT:
		*ret = b < 64 ? a << b : 0;
		break;
	case OPERATOR_RIGHT:
		*ret = shift_right(left, b);
		break;
	case OPERATOR_BIT_OR:
		*ret = a | b;
		break;
	case OPERATOR_BIT_XOR:
		*ret = a ^ b;
		break;
	case OPERATOR_BIT_AND:
		*ret = a & b;
		break;
	case OPERATOR_ADD:
		*ret = a + b;
		break;
	case OPERATOR_SUBTRACT:
		*ret = a - b;
		break;
	case OPERATOR_MULTIPLY:
		*ret = a * b;
		break;
	case OPERATOR_DIVIDE:
	case OPERATOR_REMAINDER:
		return divide(operation, a, b, is_unsigned, ret);
	}
	return true;
}

const struct trace_operator *trace_operator_at(const char *text)
{
	for (size_t i = 0; i < ARRAY_COUNT(operators); i++)
		if (!strncmp(text, operators[i].text, strlen(operators[i].text)))
			return &operators[i];
	return NULL;
}

bool trace_compute(const struct trace_operator *operation, struct trace_value *left,
		   const struct trace_value *right)
{
	enum operation kind = (enum operation)(operation - operators);
	struct trace_value by = *right;
	uint64_t number = 0, element = 0;
	/* A pointer moves by what it points at. */
	if (left->element && !by.element && (kind == OPERATOR_ADD || kind == OPERATOR_SUBTRACT)) {
		element = left->element;
		by.number *= element;
	}
	if (!compute(kind, left, &by, &number))
		return false;
	*left = (struct trace_value){ .kind = TRACE_VALUE_NUMBER,
				      .number = number,
				      .is_unsigned = left->is_unsigned || right->is_unsigned,
				      .element = element };
	return true;
}
