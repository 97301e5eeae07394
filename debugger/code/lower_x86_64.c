// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * x86-64 code, decoded by Capstone, the common forms by decode_x86_64(). What carries addresses is
 * modelled; of the instructions that lower_x86_64_class() knows, Capstone's list of written
 * registers was checked, and any other instruction is taken to write everything.
 */
#include "debugger/code/decode_x86_64.h"
#include "debugger/code/lower_x86_64_private.h"
#include "debugger/code/odd_x86_64.h"
#include "debugger/target/arch_x86_64.h"

#include <stdlib.h>
#include <string.h>

#define ALL_REGISTERS ((int64_t)0xffff)

/* --- numbers ---------------------------------------------------------------------------------- */

static void count_with_register(struct lowering_state *state, uint8_t gpr, uint8_t size,
				enum sign sign)
{
	struct op *op = x86_add_op(state, OP_COUNT_WITH, size);
	op->from = gpr;
	op->sign = (uint8_t)sign;
}

static void count_with(struct lowering_state *state, const cs_x86_op *operand, enum sign sign)
{
	if (x86_is_whole(operand))
		count_with_register(state, x86_gpr_of(operand->reg), operand->size, sign);
}

/* What is divided is in eax and edx. */
static void divide(struct lowering_state *state, enum sign sign)
{
	const cs_x86_op *by = &state->x86->operands[0];
	if (by->type == X86_OP_MEM && by->size >= 4) {
		x86_add_access(state, OP_LOAD, by)->to = LOWER_TEMPORARY;
		count_with_register(state, LOWER_TEMPORARY, by->size, sign);
	}
	count_with(state, by, sign);
	count_with_register(state, RAX, by->size, sign);
}

/* Of arithmetic that is lowered no further, the numbers that it takes. */
static void take_numbers(struct lowering_state *state)
{
	const cs_x86_op *operands = state->x86->operands;
	switch (state->instruction->id) {
	case X86_INS_SHR:
		count_with(state, &operands[0], SIGN_UNSIGNED);
		break;
	case X86_INS_SAR:
		count_with(state, &operands[0], SIGN_SIGNED);
		break;
	case X86_INS_DIV:
		divide(state, SIGN_UNSIGNED);
		break;
	case X86_INS_IDIV:
		divide(state, SIGN_SIGNED);
		break;
	case X86_INS_CDQ:
		count_with_register(state, RAX, 4, SIGN_SIGNED);
		break;
	case X86_INS_ADD:
	case X86_INS_SUB:
	case X86_INS_AND:
	case X86_INS_OR:
	case X86_INS_XOR:
	case X86_INS_IMUL:
	case X86_INS_MUL:
	case X86_INS_NEG:
		for (uint8_t i = 0; i < state->x86->op_count; i++)
			if (operands[i].size == 8)
				count_with(state, &operands[i], SIGN_UNKNOWN);
		break;
	}
}

/* --- anything -------------------------------------------------------------------------------- */

static int64_t written_registers(const struct lowering_state *state)
{
	cs_regs read, written;
	uint8_t read_count, written_count;
	int64_t mask = 0;
	if (state->is_common)
		read_count = written_count = 0;
	else if (cs_regs_access(state->decoder->handle, state->instruction, read, &read_count,
				written, &written_count))
		return ALL_REGISTERS;
	for (uint8_t i = 0; i < written_count; i++) {
		uint8_t gpr = x86_gpr_of(written[i]);
		if (gpr != LOWER_NONE)
			mask |= (int64_t)1 << gpr;
	}
	/* Capstone forgets some destinations, never that they come first; of xadd, both are. */
	if (state->x86->op_count)
		mask |= x86_mask_of(&state->x86->operands[0]);
	if (state->instruction->id == X86_INS_XADD)
		mask |= x86_mask_of(&state->x86->operands[1]);
	return mask | lower_x86_64_hidden_writes(state->instruction->id);
}

/* Writes to an area of unknown length: repeated, or of a size that Capstone does not tell. */
static bool is_long_write(const struct lowering_state *state)
{
	uint8_t prefix = state->x86->prefix[0];
	return prefix == X86_PREFIX_REP || prefix == X86_PREFIX_REPNE ||
	       lower_x86_64_class(state->instruction->id) == CLASS_AREA;
}

/* Vector instructions that Capstone 5 has in no group. */
static bool lacks_group(unsigned int id)
{
	return id == X86_INS_PALIGNR || id == X86_INS_VPALIGNR || id == X86_INS_PEXTRW ||
	       id == X86_INS_VPEXTRW;
}

static bool is_known(const struct lowering_state *state)
{
	const cs_detail *detail = state->instruction->detail;
	enum lower_class class = lower_x86_64_class(state->instruction->id);
	if (class == CLASS_UNKNOWN)
		return lower_x86_64_is_vector(detail->groups, detail->groups_count) ||
		       lacks_group(state->instruction->id);
	return class != CLASS_ALL;
}

/* The lock prefix is another one, of a segment, where the kernel runs on one processor. */
static bool is_locked(const struct lowering_state *state)
{
	const uint8_t *prefix = state->x86->prefix;
	return prefix[0] == X86_PREFIX_LOCK || prefix[1] == X86_PREFIX_DS;
}

static void set_change(const struct lowering_state *state, struct op *op)
{
	const cs_x86_op *by = &state->x86->operands[1];
	op->locked = is_locked(state);
	op->change = (uint8_t)lower_x86_64_change(state->instruction->id);
	bool is_one = state->x86->op_count < 2 ||
		      (by->type == X86_OP_IMM && (by->imm == 1 || by->imm == -1));
	/* Pointers step by their elements. */
	if (op->change == CHANGE_COUNT && op->size == 8 && !is_one && !op->locked)
		op->change = CHANGE_ANY;
}

static void lower_unknown(struct lowering_state *state)
{
	x86_add_op(state, OP_CHANGE, 0)->base = RSP;
	x86_add_clobber(state, ALL_REGISTERS);
}

static void lower_anything(struct lowering_state *state)
{
	if (!is_known(state)) {
		lower_unknown(state);
		return;
	}
	take_numbers(state);
	for (uint8_t i = 0; i < state->x86->op_count; i++) {
		const cs_x86_op *operand = &state->x86->operands[i];
		if (operand->type != X86_OP_MEM)
			continue;
		/* Of stores from vectors Capstone says that they read. */
		bool reads = i ? !(operand->access & CS_AC_WRITE)
			       : lower_x86_64_only_reads(state->instruction->id);
		bool area = is_long_write(state);
		struct op *op = x86_add_access(state, reads ? OP_TOUCH : OP_CHANGE, operand);
		if (!reads && !i)
			set_change(state, op);
		if (area)
			op->size = 0;
	}
	x86_add_clobber(state, written_registers(state));
}

/* --- moves and sums -------------------------------------------------------------------------- */

static void lower_store(struct lowering_state *state, const cs_x86_op *to, const cs_x86_op *from)
{
	if (from->type == X86_OP_IMM) {
		x86_add_access(state, OP_STORE_CONSTANT, to)->constant = from->imm;
		return;
	}
	uint8_t gpr = x86_is_gpr(from) ? x86_gpr_of(from->reg) : LOWER_NONE;
	x86_add_access(state, OP_STORE, to)->from = gpr;
}

static void lower_mov(struct lowering_state *state)
{
	const cs_x86_op *to = &state->x86->operands[0], *from = &state->x86->operands[1];
	if (to->type == X86_OP_MEM) {
		lower_store(state, to, from);
		return;
	}
	if (!x86_is_whole(to) || (from->type == X86_OP_REG && !x86_is_gpr(from))) {
		lower_anything(state);
		return;
	}
	uint8_t gpr = x86_gpr_of(to->reg);
	if (from->type == X86_OP_IMM)
		x86_add_constant(state, gpr, to->size == 4 ? (uint32_t)from->imm : from->imm);
	else if (from->type == X86_OP_MEM)
		x86_add_access(state, OP_LOAD, from)->to = gpr;
	else
		x86_add_move(state, gpr, x86_gpr_of(from->reg), to->size);
}

/* movzx, movsx and their like. */
static void lower_extend(struct lowering_state *state)
{
	const cs_x86_op *to = &state->x86->operands[0], *from = &state->x86->operands[1];
	if (!x86_is_whole(to) || (from->type == X86_OP_REG && !x86_is_gpr(from))) {
		lower_anything(state);
		return;
	}
	bool is_load = from->type == X86_OP_MEM;
	struct op *op = is_load ? x86_add_access(state, OP_LOAD, from)
				: x86_add_op(state, OP_MOVE, from->size);
	op->to = x86_gpr_of(to->reg);
	if (!is_load)
		op->from = x86_gpr_of(from->reg);
	/* Zeros are put before small signed ones too, where only their low bits count. */
	if (state->instruction->id != X86_INS_MOVZX)
		op->sign = SIGN_SIGNED;
}

/* cltq */
static void lower_extend_accumulator(struct lowering_state *state)
{
	struct op *op = x86_add_op(state, OP_MOVE, 4);
	op->to = op->from = RAX;
	op->sign = SIGN_SIGNED;
}

static void lower_lea(struct lowering_state *state)
{
	const cs_x86_op *to = &state->x86->operands[0];
	struct op *op = x86_add_op(state, OP_ADDRESS, to->size);
	op->to = x86_gpr_of(to->reg);
	if (to->size == 8 && x86_set_place(state, &state->x86->operands[1], op))
		return;
	state->ops->count -= !state->ops->failed;
	x86_add_clobber(state, (int64_t)1 << x86_gpr_of(to->reg));
}

static void lower_add(struct lowering_state *state, int sign)
{
	const cs_x86_op *to = &state->x86->operands[0], *by = &state->x86->operands[1];
	bool is_register = by->type != X86_OP_IMM;
	if (!x86_is_gpr(to) || to->size != 8 || (sign < 0 && is_register)) {
		lower_anything(state);
		return;
	}
	uint8_t gpr = x86_gpr_of(to->reg);
	if (!is_register) {
		x86_add_sum(state, gpr, gpr, sign * by->imm);
		return;
	}
	uint8_t other = x86_value_of(state, by, LOWER_TEMPORARY);
	struct op *op = x86_add_op(state, OP_ADDRESS, 8);
	op->to = op->base = gpr;
	op->index = other;
	op->scale = 1;
}

/* `x ^ x` and `x - x` are how zero is written. */
static bool lower_zero(struct lowering_state *state)
{
	const cs_x86_op *a = &state->x86->operands[0], *b = &state->x86->operands[1];
	if (!x86_is_whole(a) || b->type != X86_OP_REG || a->reg != b->reg)
		return false;
	x86_add_constant(state, x86_gpr_of(a->reg), 0);
	return true;
}

static void lower_step(struct lowering_state *state, int64_t step)
{
	const cs_x86_op *to = &state->x86->operands[0];
	if (x86_is_gpr(to) && to->size == 8)
		x86_add_sum(state, x86_gpr_of(to->reg), x86_gpr_of(to->reg), step);
	else
		lower_anything(state);
}

static void lower_shift_left(struct lowering_state *state)
{
	const cs_x86_op *to = &state->x86->operands[0], *by = &state->x86->operands[1];
	if (x86_is_gpr(to) && to->size == 8 && state->x86->op_count == 2 &&
	    by->type == X86_OP_IMM && by->imm >= 0 && by->imm < 20)
		x86_add_scaled(state, x86_gpr_of(to->reg), x86_gpr_of(to->reg),
			       (int64_t)1 << by->imm);
	else
		lower_anything(state);
}

static void lower_multiply(struct lowering_state *state)
{
	const cs_x86_op *operands = state->x86->operands;
	if (state->x86->op_count == 3 && x86_is_gpr(&operands[0]) && operands[0].size == 8 &&
	    operands[2].type == X86_OP_IMM)
		x86_add_scaled(state, x86_gpr_of(operands[0].reg),
			       x86_value_of(state, &operands[1], LOWER_TEMPORARY), operands[2].imm);
	else
		lower_anything(state);
}

static void lower_choose(struct lowering_state *state)
{
	const cs_x86_op *to = &state->x86->operands[0];
	if (!x86_is_gpr(to) || to->size != 8) {
		lower_anything(state);
		return;
	}
	uint8_t from = x86_value_of(state, &state->x86->operands[1], LOWER_TEMPORARY);
	struct op *op = x86_add_op(state, OP_CHOOSE, 8);
	op->to = x86_gpr_of(to->reg);
	op->from = from;
}

/* --- two places at once ---------------------------------------------------------------------- */

static void lower_compare(struct lowering_state *state)
{
	const cs_x86_op *a = &state->x86->operands[0], *b = &state->x86->operands[1];
	uint8_t left = x86_value_of(state, a, LOWER_TEMPORARY);
	uint8_t right = x86_value_of(state, b, LOWER_TEMPORARY + 1);
	struct op *op = x86_add_op(state, OP_COMPARE, a->size);
	op->to = left;
	op->from = right;
}

/* A register with itself is compared with zero. */
static void lower_test(struct lowering_state *state)
{
	const cs_x86_op *a = &state->x86->operands[0], *b = &state->x86->operands[1];
	for (int i = 0; i < 2; i++) {
		if (state->x86->operands[i].type != X86_OP_MEM)
			continue;
		struct op *touch = x86_add_access(state, OP_TOUCH, &state->x86->operands[i]);
		/* Of flags of any size, the byte that has the bit is enough. */
		if (touch->size == 1 && b->type == X86_OP_IMM)
			touch->size = 0;
	}
	if (!x86_is_gpr(a) || b->type != X86_OP_REG || b->reg != a->reg)
		return;
	x86_add_constant(state, LOWER_TEMPORARY, 0);
	struct op *op = x86_add_op(state, OP_COMPARE, a->size);
	op->to = x86_gpr_of(a->reg);
	op->from = LOWER_TEMPORARY;
}

static void lower_exchange(struct lowering_state *state)
{
	const cs_x86_op *a = &state->x86->operands[0], *b = &state->x86->operands[1];
	const cs_x86_op *memory = a->type == X86_OP_MEM ? a : b, *other = memory == a ? b : a;
	if (memory->type != X86_OP_MEM || !x86_is_whole(other)) {
		lower_anything(state);
		x86_add_clobber(state, x86_mask_of(a) | x86_mask_of(b));
		return;
	}
	uint8_t gpr = x86_gpr_of(other->reg);
	x86_add_access(state, OP_LOAD, memory)->to = LOWER_TEMPORARY;
	x86_add_access(state, OP_STORE, memory)->from = gpr;
	x86_add_move(state, gpr, LOWER_TEMPORARY, other->size);
}

static void lower_compare_exchange(struct lowering_state *state)
{
	const cs_x86_op *to = &state->x86->operands[0], *from = &state->x86->operands[1];
	if (to->type != X86_OP_MEM || !x86_is_gpr(from)) {
		lower_anything(state);
		x86_add_clobber(state, 1 << RAX);
		return;
	}
	x86_add_access(state, OP_LOAD, to)->to = LOWER_TEMPORARY;
	struct op *op = x86_add_op(state, OP_COMPARE, to->size);
	op->to = LOWER_TEMPORARY;
	op->from = RAX;
	op = x86_add_access(state, OP_STORE, to);
	op->from = x86_gpr_of(from->reg);
	op->locked = is_locked(state);
	if (to->size >= 4) {
		op = x86_add_op(state, OP_CHOOSE, to->size);
		op->to = RAX;
		op->from = LOWER_TEMPORARY;
	} else {
		x86_add_clobber(state, 1 << RAX);
	}
}

/* --- the stack ------------------------------------------------------------------------------- */

static void lower_push(struct lowering_state *state)
{
	const cs_x86_op *from = &state->x86->operands[0];
	uint8_t gpr = x86_value_of(state, from, LOWER_TEMPORARY);
	/* push %rsp stores what it was before. */
	if (gpr == RSP) {
		x86_add_move(state, LOWER_TEMPORARY, RSP, 8);
		gpr = LOWER_TEMPORARY;
	}
	x86_add_sum(state, RSP, RSP, -8);
	struct op *op = x86_add_op(state, OP_STORE, 8);
	op->base = RSP;
	op->from = gpr;
}

static void lower_pop(struct lowering_state *state)
{
	const cs_x86_op *to = &state->x86->operands[0];
	uint8_t gpr = x86_is_gpr(to) && to->size == 8 ? x86_gpr_of(to->reg) : LOWER_TEMPORARY;
	struct op *op = x86_add_op(state, OP_LOAD, 8);
	op->base = RSP;
	op->to = gpr;
	if (gpr != RSP)
		x86_add_sum(state, RSP, RSP, 8);
	if (to->type == X86_OP_MEM)
		x86_add_access(state, OP_STORE, to)->from = gpr;
}

/* pushf and popf; `step` is what that adds to the stack pointer. */
static void lower_flags(struct lowering_state *state, int64_t step)
{
	x86_add_sum(state, RSP, RSP, step);
	if (step < 0)
		x86_add_op(state, OP_STORE, 8)->base = RSP;
}

static void lower_leave(struct lowering_state *state)
{
	x86_add_move(state, RSP, RBP, 8);
	struct op *op = x86_add_op(state, OP_LOAD, 8);
	op->base = RSP;
	op->to = RBP;
	x86_add_sum(state, RSP, RSP, 8);
}

/* --- where it goes --------------------------------------------------------------------------- */

static void lower_go(struct lowering_state *state, enum op_kind direct, enum op_kind indirect)
{
	const cs_x86_op *to = &state->x86->operands[0];
	if (to->type == X86_OP_IMM) {
		x86_add_op(state, direct, 0)->constant = to->imm;
		return;
	}
	uint8_t gpr = x86_value_of(state, to, LOWER_TEMPORARY);
	x86_add_op(state, indirect, 0)->from = gpr;
}

static void lower_branch(struct lowering_state *state)
{
	const cs_x86_op *to = &state->x86->operands[0];
	if (state->instruction->id >= X86_INS_LOOP && state->instruction->id <= X86_INS_LOOPNE)
		x86_add_clobber(state, 1 << RCX);
	if (state->x86->op_count == 1 && to->type == X86_OP_IMM)
		x86_add_op(state, OP_BRANCH, 0)->constant = to->imm;
}

/* Quotients, and numbers cut out of others: whatever indexes an array by them, they do not step. */
static void lower_number(struct lowering_state *state)
{
	unsigned int id = state->instruction->id;
	const cs_x86_op *to = &state->x86->operands[0];
	lower_anything(state);
	if (id == X86_INS_DIV || id == X86_INS_IDIV) {
		x86_add_op(state, OP_NUMBER, 8)->to = RAX;
		x86_add_op(state, OP_NUMBER, 8)->to = RDX;
	} else if (x86_is_whole(to)) {
		x86_add_op(state, OP_NUMBER, 8)->to = x86_gpr_of(to->reg);
	}
}

/* Instructions of the stack and of control flow. False: it is none of these. */
static bool lower_control(struct lowering_state *state)
{
	switch (state->instruction->id) {
	case X86_INS_PUSH:
		lower_push(state);
		return true;
	case X86_INS_POP:
		lower_pop(state);
		return true;
	case X86_INS_PUSHFQ:
		lower_flags(state, -8);
		return true;
	case X86_INS_POPFQ:
		lower_flags(state, 8);
		return true;
	case X86_INS_LEAVE:
		lower_leave(state);
		return true;
	case X86_INS_CALL:
		lower_go(state, OP_CALL, OP_CALL_REGISTER);
		return true;
	case X86_INS_JMP:
		lower_go(state, OP_JUMP, OP_JUMP_REGISTER);
		return true;
	case X86_INS_RET:
		x86_add_op(state, OP_RETURN, 0);
		return true;
	}
	return false;
}

/* Instructions that move or compute. False: it is none of these. */
static bool lower_value(struct lowering_state *state)
{
	switch (state->instruction->id) {
	case X86_INS_MOV:
	case X86_INS_MOVABS:
		lower_mov(state);
		return true;
	case X86_INS_MOVZX:
	case X86_INS_MOVSX:
	case X86_INS_MOVSXD:
		lower_extend(state);
		return true;
	case X86_INS_CDQE:
		lower_extend_accumulator(state);
		return true;
	case X86_INS_LEA:
		lower_lea(state);
		return true;
	case X86_INS_ADD:
		lower_add(state, 1);
		return true;
	case X86_INS_SUB:
		if (!lower_zero(state))
			lower_add(state, -1);
		return true;
	case X86_INS_XOR:
		return lower_zero(state);
	case X86_INS_INC:
		lower_step(state, 1);
		return true;
	case X86_INS_DEC:
		lower_step(state, -1);
		return true;
	case X86_INS_SHL:
	case X86_INS_SAL:
		lower_shift_left(state);
		return true;
	case X86_INS_IMUL:
		lower_multiply(state);
		return true;
	case X86_INS_CMP:
		lower_compare(state);
		return true;
	case X86_INS_TEST:
		lower_test(state);
		return true;
	case X86_INS_XCHG:
		lower_exchange(state);
		return true;
	case X86_INS_CMPXCHG:
		lower_compare_exchange(state);
		return true;
	}
	return false;
}

static void lower_instruction(struct lowering_state *state)
{
	enum sign sign = lower_x86_64_condition(state->instruction->id);
	if (sign != SIGN_UNKNOWN)
		x86_add_op(state, OP_CONDITION, 0)->sign = (uint8_t)sign;
	if (lower_value(state) || lower_control(state))
		return;
	switch (lower_x86_64_class(state->instruction->id)) {
	case CLASS_NOTHING:
		break;
	case CLASS_END:
		x86_add_op(state, OP_STOP, 0);
		break;
	case CLASS_CHOICE:
		lower_choose(state);
		break;
	case CLASS_BRANCH:
		lower_branch(state);
		break;
	case CLASS_NUMBER:
		lower_number(state);
		break;
	default:
		lower_anything(state);
		break;
	}
}

/* Instructions that odd_x86_64.c decodes, because Capstone's versions differ on them. */
static void lower_odd(struct lowering_state *state, const struct odd_instruction *odd)
{
	switch (odd->effect) {
	case ODD_NOTHING:
		break;
	case ODD_EAX_EDX:
		x86_add_clobber(state, 1 << RAX | 1 << RDX);
		break;
	case ODD_EXCEPTION:
		x86_add_op(state, OP_STOP, 0);
		break;
	case ODD_UNKNOWN:
		lower_unknown(state);
		break;
	}
}

/* --- the interface --------------------------------------------------------------------------- */

static struct decoder *decoder_create(void)
{
	struct decoder *decoder = calloc(1, sizeof(*decoder));
	if (!decoder)
		return NULL;
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &decoder->handle)) {
		free(decoder);
		return NULL;
	}
	cs_option(decoder->handle, CS_OPT_DETAIL, CS_OPT_ON);
	decoder->instruction = cs_malloc(decoder->handle);
	if (decoder->instruction)
		return decoder;
	cs_close(&decoder->handle);
	free(decoder);
	return NULL;
}

static void decoder_destroy(struct decoder *decoder)
{
	if (!decoder)
		return;
	cs_free(decoder->instruction, 1);
	cs_close(&decoder->handle);
	free(decoder);
}

static void lower(struct decoder *decoder, const struct code *code, struct ops *ret)
{
	const uint8_t *next = code->bytes;
	size_t left = code->size;
	uint64_t address = code->address;
	struct lowering_state state = { .decoder = decoder,
					.instruction = decoder->instruction,
					.ops = ret };
	struct odd_instruction odd;
	while (left && !ret->failed) {
		state.at = (uint32_t)(code->size - left);
		state.is_common = decode_x86_64(next, left, address, decoder->instruction);
		if (state.is_common) {
			next += decoder->instruction->size;
			left -= decoder->instruction->size;
			address += decoder->instruction->size;
		} else if (odd_x86_64(next, left, &odd)) {
			lower_odd(&state, &odd);
			next += odd.size;
			left -= odd.size;
			address += odd.size;
			continue;
		}
		if (state.is_common ||
		    cs_disasm_iter(decoder->handle, &next, &left, &address, decoder->instruction)) {
			state.x86 = &decoder->instruction->detail->x86;
			lower_instruction(&state);
			continue;
		}
		x86_add_op(&state, OP_STOP, 0);
		next++, left--, address++;
	}
}

/* rbx, rsp, rbp, r12 to r15. */
const struct lowering lowering_x86_64 = {
	.arch = "x86_64",
	.arguments = { RDI, RSI, RDX, RCX, 8, 9 },
	.argument_count = 6,
	.result = RAX,
	.stack = RSP,
	.kept_by_calls = 1u << RBX | 1u << RSP | 1u << RBP | 0xf000u,
	.in_target = { X86_64_RAX, X86_64_RCX, X86_64_RDX, X86_64_RBX, X86_64_RSP, X86_64_RBP,
		       X86_64_RSI, X86_64_RDI, X86_64_R8, X86_64_R9, X86_64_R10, X86_64_R11,
		       X86_64_R12, X86_64_R13, X86_64_R14, X86_64_R15 },
	.create = decoder_create,
	.destroy = decoder_destroy,
	.lower = lower,
	.helper = lower_x86_64_helper,
	.padding = lower_x86_64_padding,
	.is_entry = lower_x86_64_is_entry,
	.filler = 0xcc,
};
