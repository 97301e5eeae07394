// SPDX-License-Identifier: GPL-3.0-or-later
/* DWARF expressions, as far as call frame information has them: of PLTs, of signal frames. */
#include "debugger/user_stack/cfi_rules.h"

#include "base/error.h"
#include <inttypes.h>

#define STACK_MAX 64
/* There are no loops without jumps, which no such expression has: none is followed. */

/* DWARF 5, table 7.9 */
enum {
	OP_ADDR = 0x03,
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S,
	OP_CONST2U,
	OP_CONST2S,
	OP_CONST4U,
	OP_CONST4S,
	OP_CONST8U,
	OP_CONST8S,
	OP_CONSTU,
	OP_CONSTS,
	OP_DUP,
	OP_DROP,
	OP_OVER,
	OP_SWAP = 0x16,
	OP_AND = 0x1a,
	OP_MINUS = 0x1c,
	OP_MUL = 0x1e,
	OP_NEG,
	OP_NOT,
	OP_OR,
	OP_PLUS,
	OP_PLUS_UCONST,
	OP_SHL,
	OP_SHR,
	OP_SHRA,
	OP_XOR,
	OP_EQ = 0x29,
	OP_GE,
	OP_GT,
	OP_LE,
	OP_LT,
	OP_NE,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
	OP_NOP = 0x96
};

struct evaluation {
	struct memory *memory;
	const struct cfi_registers *registers;
	struct cfi_cursor cursor;
	uint64_t stack[STACK_MAX];
	unsigned int depth;
};

static void push(struct evaluation *evaluation, uint64_t value)
{
	if (evaluation->depth == STACK_MAX)
		evaluation->cursor.is_bad = true;
	else
		evaluation->stack[evaluation->depth++] = value;
}

static uint64_t pop(struct evaluation *evaluation)
{
	if (!evaluation->depth) {
		evaluation->cursor.is_bad = true;
		return 0;
	}
	return evaluation->stack[--evaluation->depth];
}

static bool run_constant(struct evaluation *evaluation, uint8_t code)
{
	struct cfi_cursor *cursor = &evaluation->cursor;
	if (code >= OP_LIT0 && code <= OP_LIT31)
		push(evaluation, code - OP_LIT0);
	else if (code == OP_ADDR || code == OP_CONST8U || code == OP_CONST8S)
		push(evaluation, cursor_unsigned(cursor, 8));
	else if (code == OP_CONST1U || code == OP_CONST2U || code == OP_CONST4U)
		push(evaluation, cursor_unsigned(cursor, 1u << (code - OP_CONST1U) / 2));
	else if (code == OP_CONST1S || code == OP_CONST2S || code == OP_CONST4S)
		push(evaluation, (uint64_t)cursor_signed(cursor, 1u << (code - OP_CONST1S) / 2));
	else if (code == OP_CONSTU)
		push(evaluation, cursor_uleb(cursor));
	else if (code == OP_CONSTS)
		push(evaluation, (uint64_t)cursor_sleb(cursor));
	else
		return false;
	return true;
}

static uint64_t combine(uint8_t code, uint64_t left, uint64_t right)
{
	switch (code) {
	case OP_AND:
		return left & right;
	case OP_OR:
		return left | right;
	case OP_XOR:
		return left ^ right;
	case OP_PLUS:
		return left + right;
	case OP_MINUS:
		return left - right;
	case OP_MUL:
		return left * right;
	case OP_SHL:
		return right < 64 ? left << right : 0;
	case OP_SHR:
		return right < 64 ? left >> right : 0;
	case OP_SHRA:
		return (uint64_t)((int64_t)left >> (right < 64 ? right : 63));
	case OP_EQ:
		return left == right;
	case OP_NE:
		return left != right;
	case OP_GE:
		return (int64_t)left >= (int64_t)right;
	case OP_GT:
		return (int64_t)left > (int64_t)right;
	case OP_LE:
		return (int64_t)left <= (int64_t)right;
	default:
		return (int64_t)left < (int64_t)right;
	}
}

static bool run_binary(struct evaluation *evaluation, uint8_t code)
{
	if (code != OP_AND && code != OP_MINUS && code != OP_MUL && code != OP_OR &&
	    code != OP_PLUS && (code < OP_SHL || code > OP_XOR) && (code < OP_EQ || code > OP_NE))
		return false;
	uint64_t right = pop(evaluation), left = pop(evaluation);
	push(evaluation, combine(code, left, right));
	return true;
}

static struct error *run_other(struct evaluation *evaluation, uint8_t code)
{
	uint64_t top, below;
	switch (code) {
	case OP_NOP:
		return NULL;
	case OP_DROP:
		pop(evaluation);
		return NULL;
	case OP_DEREF:
		top = pop(evaluation);
		if (!evaluation->cursor.is_bad)
			TRY(memory_read_word(evaluation->memory, top, &top));
		push(evaluation, top);
		return NULL;
	case OP_NEG:
		push(evaluation, -pop(evaluation));
		return NULL;
	case OP_NOT:
		push(evaluation, ~pop(evaluation));
		return NULL;
	case OP_PLUS_UCONST:
		top = pop(evaluation);
		push(evaluation, top + cursor_uleb(&evaluation->cursor));
		return NULL;
	case OP_DUP:
	case OP_OVER:
	case OP_SWAP:
		top = pop(evaluation);
		below = code == OP_DUP ? top : pop(evaluation);
		push(evaluation, code == OP_SWAP ? top : below);
		push(evaluation, code == OP_SWAP ? below : top);
		if (code == OP_OVER)
			push(evaluation, below);
		return NULL;
	default:
		evaluation->cursor.is_bad = true;
		return NULL;
	}
}

static struct error *run_one(struct evaluation *evaluation)
{
	uint8_t code = cursor_u8(&evaluation->cursor);
	if (code >= OP_BREG0 && code <= OP_BREG31) {
		unsigned int number = code - OP_BREG0;
		uint64_t offset = (uint64_t)cursor_sleb(&evaluation->cursor);
		if (number >= CFI_REGISTERS || !cfi_has(evaluation->registers, number))
			return error_create(ERROR_NOT_FOUND,
					    "register %u, which leads on, is not known", number);
		push(evaluation, evaluation->registers->values[number] + offset);
		return NULL;
	}
	if (run_constant(evaluation, code) || run_binary(evaluation, code))
		return NULL;
	return run_other(evaluation, code);
}

struct error *cfi_evaluate(struct memory *memory, struct cfi_cursor expression,
			   const struct cfi_registers *registers, const uint64_t *first,
			   uint64_t *ret)
{
	struct evaluation evaluation = { .memory = memory,
					 .registers = registers,
					 .cursor = expression };
	if (first)
		push(&evaluation, *first);
	while (!evaluation.cursor.is_bad && evaluation.cursor.at < evaluation.cursor.size)
		TRY(run_one(&evaluation));
	uint64_t value = pop(&evaluation);
	if (evaluation.cursor.is_bad)
		return error_create(ERROR_FORMAT,
				    "the expression at 0x%" PRIx64 " is none that is known",
				    expression.address);
	*ret = value;
	return NULL;
}
