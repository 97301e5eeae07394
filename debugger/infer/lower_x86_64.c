// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * x86-64 code, decoded by Capstone. What carries addresses is modelled; of the instructions that
 * lower_x86_64_class() knows, Capstone's list of written registers was checked, and any other
 * instruction is taken to write everything.
 */
#include "debugger/infer/lower_x86_64.h"
#include "base/array.h"
#include "debugger/infer/lower.h"

#include <capstone/capstone.h>
#include <string.h>

enum gpr { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };

#define ALL_REGISTERS ((int64_t)0xffff)

struct decoder {
	csh handle;
	cs_insn *instruction;
};

/* The instruction at hand. */
struct lowering_state {
	struct decoder *decoder;
	const cs_insn *instruction;
	const cs_x86 *x86;
	struct ops *ops;
	uint32_t at;
	struct op nowhere; /* stands for an operation there was no memory for */
};

/* --- registers ------------------------------------------------------------------------------- */

static uint8_t gpr_of(x86_reg reg)
{
	return lower_x86_64_gpr(reg);
}

static bool is_high_byte(x86_reg reg)
{
	return reg == X86_REG_AH || reg == X86_REG_BH || reg == X86_REG_CH || reg == X86_REG_DH;
}

static bool is_gpr(const cs_x86_op *operand)
{
	return operand->type == X86_OP_REG && gpr_of(operand->reg) != LOWER_NONE &&
	       !is_high_byte(operand->reg);
}

/* A register written so that all of it is known afterwards: 32 bits clear the upper half. */
static bool is_whole(const cs_x86_op *operand)
{
	return is_gpr(operand) && operand->size >= 4;
}

static int64_t mask_of(const cs_x86_op *operand)
{
	uint8_t gpr = operand->type == X86_OP_REG ? gpr_of(operand->reg) : LOWER_NONE;
	return gpr == LOWER_NONE ? 0 : (int64_t)1 << gpr;
}

/* --- operations ------------------------------------------------------------------------------ */

static struct op *add_op(struct lowering_state *state, enum op_kind kind, uint8_t size)
{
	struct ops *ops = state->ops;
	if (!array_reserve(&ops->items, &ops->capacity, ops->count + 1)) {
		ops->failed = true;
		return &state->nowhere;
	}
	struct op *op = &ops->items[ops->count++];
	*op = (struct op){ .kind = kind,
			   .size = size,
			   .to = LOWER_NONE,
			   .from = LOWER_NONE,
			   .base = LOWER_NONE,
			   .index = LOWER_NONE,
			   .at = state->at };
	return op;
}

static void add_clobber(struct lowering_state *state, int64_t mask)
{
	if (mask)
		add_op(state, OP_CLOBBER, 0)->constant = mask;
}

static void add_move(struct lowering_state *state, uint8_t to, uint8_t from, uint8_t size)
{
	struct op *op = add_op(state, OP_MOVE, size);
	op->to = to;
	op->from = from;
}

static void add_constant(struct lowering_state *state, uint8_t to, int64_t constant)
{
	struct op *op = add_op(state, OP_CONSTANT, 8);
	op->to = to;
	op->constant = constant;
}

static void add_sum(struct lowering_state *state, uint8_t to, uint8_t base, int64_t displacement)
{
	struct op *op = add_op(state, OP_ADDRESS, 8);
	op->to = to;
	op->base = base;
	op->displacement = displacement;
}

static void add_scaled(struct lowering_state *state, uint8_t to, uint8_t from, int64_t factor)
{
	struct op *op = add_op(state, OP_SCALE, 8);
	op->to = to;
	op->from = from;
	op->constant = factor;
}

/* --- places ---------------------------------------------------------------------------------- */

/* False: an address of which nothing is known (fs:, 32-bit and vector addressing). */
static bool set_place(const struct lowering_state *state, const cs_x86_op *operand, struct op *op)
{
	const x86_op_mem *memory = &operand->mem;
	op->displacement = memory->disp;
	op->per_cpu = memory->segment == X86_REG_GS;
	if (memory->segment == X86_REG_FS || state->x86->addr_size != 8)
		return false;
	if (memory->base == X86_REG_RIP)
		op->displacement +=
			(int64_t)(state->instruction->address + state->instruction->size);
	else if (memory->base != X86_REG_INVALID && memory->base != X86_REG_RIZ)
		op->base = gpr_of(memory->base);
	if (memory->index != X86_REG_INVALID && memory->index != X86_REG_RIZ) {
		op->index = gpr_of(memory->index);
		op->scale = (uint8_t)memory->scale;
		return op->index != LOWER_NONE;
	}
	return true;
}

static struct op *add_access(struct lowering_state *state, enum op_kind kind,
			     const cs_x86_op *operand)
{
	struct op *op = add_op(state, kind, operand->size);
	if (!set_place(state, operand, op)) {
		op->base = LOWER_SOMEWHERE;
		op->index = LOWER_NONE;
		op->displacement = 0;
		op->per_cpu = false;
	}
	return op;
}

/* The operand's value in a register: its own, or a temporary loaded from memory. */
static uint8_t value_of(struct lowering_state *state, const cs_x86_op *operand, uint8_t temporary)
{
	if (is_gpr(operand))
		return gpr_of(operand->reg);
	if (operand->type == X86_OP_MEM) {
		add_access(state, OP_LOAD, operand)->to = temporary;
		return temporary;
	}
	if (operand->type == X86_OP_IMM)
		add_constant(state, temporary, operand->imm);
	else
		add_clobber(state, (int64_t)1 << temporary);
	return temporary;
}

/* --- anything -------------------------------------------------------------------------------- */

static int64_t written_registers(const struct lowering_state *state)
{
	cs_regs read, written;
	uint8_t read_count, written_count;
	int64_t mask = 0;
	if (cs_regs_access(state->decoder->handle, state->instruction, read, &read_count, written,
			   &written_count))
		return ALL_REGISTERS;
	for (uint8_t i = 0; i < written_count; i++) {
		uint8_t gpr = gpr_of(written[i]);
		if (gpr != LOWER_NONE)
			mask |= (int64_t)1 << gpr;
	}
	/* Capstone forgets some destinations, never that they come first; of xadd, both are. */
	if (state->x86->op_count)
		mask |= mask_of(&state->x86->operands[0]);
	if (state->instruction->id == X86_INS_XADD)
		mask |= mask_of(&state->x86->operands[1]);
	return mask | lower_x86_64_hidden_writes(state->instruction->id);
}

/* Repeated or of a size that Capstone does not tell: from there on. */
static bool is_long_write(const struct lowering_state *state)
{
	uint8_t prefix = state->x86->prefix[0];
	return prefix == X86_PREFIX_REP || prefix == X86_PREFIX_REPNE ||
	       lower_x86_64_class(state->instruction->id) == CLASS_AREA;
}

static bool is_known(const struct lowering_state *state)
{
	const cs_detail *detail = state->instruction->detail;
	enum lower_class class = lower_x86_64_class(state->instruction->id);
	if (class == CLASS_UNKNOWN)
		return lower_x86_64_is_vector(detail->groups, detail->groups_count);
	return class != CLASS_ALL;
}

static void lower_anything(struct lowering_state *state)
{
	if (!is_known(state)) {
		add_op(state, OP_CHANGE, 0)->base = RSP;
		add_clobber(state, ALL_REGISTERS);
		return;
	}
	for (uint8_t i = 0; i < state->x86->op_count; i++) {
		const cs_x86_op *operand = &state->x86->operands[i];
		if (operand->type != X86_OP_MEM)
			continue;
		/* Of stores from vectors Capstone says that they read. */
		bool reads = i ? !(operand->access & CS_AC_WRITE)
			       : lower_x86_64_only_reads(state->instruction->id);
		bool area = is_long_write(state);
		struct op *op = add_access(state, reads ? OP_TOUCH : OP_CHANGE, operand);
		if (area)
			op->size = 0;
	}
	add_clobber(state, written_registers(state));
}

/* --- moves and sums -------------------------------------------------------------------------- */

static void lower_store(struct lowering_state *state, const cs_x86_op *to, const cs_x86_op *from)
{
	if (from->type == X86_OP_IMM) {
		add_access(state, OP_STORE_CONSTANT, to)->constant = from->imm;
		return;
	}
	uint8_t gpr = is_gpr(from) ? gpr_of(from->reg) : LOWER_NONE;
	add_access(state, OP_STORE, to)->from = gpr;
}

static void lower_mov(struct lowering_state *state)
{
	const cs_x86_op *to = &state->x86->operands[0], *from = &state->x86->operands[1];
	if (to->type == X86_OP_MEM) {
		lower_store(state, to, from);
		return;
	}
	if (!is_whole(to) || (from->type == X86_OP_REG && !is_gpr(from))) {
		lower_anything(state);
		return;
	}
	uint8_t gpr = gpr_of(to->reg);
	if (from->type == X86_OP_IMM)
		add_constant(state, gpr, to->size == 4 ? (uint32_t)from->imm : from->imm);
	else if (from->type == X86_OP_MEM)
		add_access(state, OP_LOAD, from)->to = gpr;
	else
		add_move(state, gpr, gpr_of(from->reg), to->size);
}

/* With zeros or the sign. */
static void lower_extend(struct lowering_state *state)
{
	const cs_x86_op *to = &state->x86->operands[0], *from = &state->x86->operands[1];
	if (!is_whole(to) || (from->type == X86_OP_REG && !is_gpr(from))) {
		lower_anything(state);
		return;
	}
	bool is_load = from->type == X86_OP_MEM;
	struct op *op = is_load ? add_access(state, OP_LOAD, from)
				: add_op(state, OP_MOVE, from->size);
	op->to = gpr_of(to->reg);
	if (!is_load)
		op->from = gpr_of(from->reg);
	/* Zeros are put before small signed ones too, where only their low bits count. */
	if (state->instruction->id != X86_INS_MOVZX)
		op->sign = SIGN_SIGNED;
}

static void lower_lea(struct lowering_state *state)
{
	const cs_x86_op *to = &state->x86->operands[0];
	struct op *op = add_op(state, OP_ADDRESS, to->size);
	op->to = gpr_of(to->reg);
	if (to->size == 8 && set_place(state, &state->x86->operands[1], op))
		return;
	state->ops->count -= !state->ops->failed;
	add_clobber(state, (int64_t)1 << gpr_of(to->reg));
}

static void lower_add(struct lowering_state *state, int sign)
{
	const cs_x86_op *to = &state->x86->operands[0], *by = &state->x86->operands[1];
	bool is_register = by->type != X86_OP_IMM;
	if (!is_gpr(to) || to->size != 8 || (sign < 0 && is_register)) {
		lower_anything(state);
		return;
	}
	uint8_t gpr = gpr_of(to->reg);
	if (!is_register) {
		add_sum(state, gpr, gpr, sign * by->imm);
		return;
	}
	uint8_t other = value_of(state, by, LOWER_TEMPORARY);
	struct op *op = add_op(state, OP_ADDRESS, 8);
	op->to = op->base = gpr;
	op->index = other;
	op->scale = 1;
}

/* `x ^ x` and `x - x` are how zero is written. */
static bool lower_zero(struct lowering_state *state)
{
	const cs_x86_op *a = &state->x86->operands[0], *b = &state->x86->operands[1];
	if (!is_whole(a) || b->type != X86_OP_REG || a->reg != b->reg)
		return false;
	add_constant(state, gpr_of(a->reg), 0);
	return true;
}

static void lower_step(struct lowering_state *state, int64_t step)
{
	const cs_x86_op *to = &state->x86->operands[0];
	if (is_gpr(to) && to->size == 8)
		add_sum(state, gpr_of(to->reg), gpr_of(to->reg), step);
	else
		lower_anything(state);
}

static void lower_shift_left(struct lowering_state *state)
{
	const cs_x86_op *to = &state->x86->operands[0], *by = &state->x86->operands[1];
	if (is_gpr(to) && to->size == 8 && state->x86->op_count == 2 && by->type == X86_OP_IMM &&
	    by->imm >= 0 && by->imm < 20)
		add_scaled(state, gpr_of(to->reg), gpr_of(to->reg), (int64_t)1 << by->imm);
	else
		lower_anything(state);
}

static void lower_multiply(struct lowering_state *state)
{
	const cs_x86_op *operands = state->x86->operands;
	if (state->x86->op_count == 3 && is_gpr(&operands[0]) && operands[0].size == 8 &&
	    operands[2].type == X86_OP_IMM)
		add_scaled(state, gpr_of(operands[0].reg),
			   value_of(state, &operands[1], LOWER_TEMPORARY), operands[2].imm);
	else
		lower_anything(state);
}

static void lower_choose(struct lowering_state *state)
{
	const cs_x86_op *to = &state->x86->operands[0];
	if (!is_gpr(to) || to->size != 8) {
		lower_anything(state);
		return;
	}
	uint8_t from = value_of(state, &state->x86->operands[1], LOWER_TEMPORARY);
	struct op *op = add_op(state, OP_CHOOSE, 8);
	op->to = gpr_of(to->reg);
	op->from = from;
}

/* --- two places at once ---------------------------------------------------------------------- */

static void lower_compare(struct lowering_state *state)
{
	const cs_x86_op *a = &state->x86->operands[0], *b = &state->x86->operands[1];
	uint8_t left = value_of(state, a, LOWER_TEMPORARY);
	uint8_t right = value_of(state, b, LOWER_TEMPORARY + 1);
	struct op *op = add_op(state, OP_COMPARE, a->size);
	op->to = left;
	op->from = right;
}

/* A register with itself is compared with zero. */
static void lower_test(struct lowering_state *state)
{
	const cs_x86_op *a = &state->x86->operands[0], *b = &state->x86->operands[1];
	for (int i = 0; i < 2; i++)
		if (state->x86->operands[i].type == X86_OP_MEM)
			add_access(state, OP_TOUCH, &state->x86->operands[i]);
	if (!is_gpr(a) || b->type != X86_OP_REG || b->reg != a->reg)
		return;
	add_constant(state, LOWER_TEMPORARY, 0);
	struct op *op = add_op(state, OP_COMPARE, a->size);
	op->to = gpr_of(a->reg);
	op->from = LOWER_TEMPORARY;
}

static void lower_exchange(struct lowering_state *state)
{
	const cs_x86_op *a = &state->x86->operands[0], *b = &state->x86->operands[1];
	const cs_x86_op *memory = a->type == X86_OP_MEM ? a : b, *other = memory == a ? b : a;
	if (memory->type != X86_OP_MEM || !is_whole(other)) {
		lower_anything(state);
		add_clobber(state, mask_of(a) | mask_of(b));
		return;
	}
	uint8_t gpr = gpr_of(other->reg);
	add_access(state, OP_LOAD, memory)->to = LOWER_TEMPORARY;
	add_access(state, OP_STORE, memory)->from = gpr;
	add_move(state, gpr, LOWER_TEMPORARY, other->size);
}

static void lower_compare_exchange(struct lowering_state *state)
{
	const cs_x86_op *to = &state->x86->operands[0], *from = &state->x86->operands[1];
	if (to->type != X86_OP_MEM || !is_gpr(from)) {
		lower_anything(state);
		add_clobber(state, 1 << RAX);
		return;
	}
	add_access(state, OP_LOAD, to)->to = LOWER_TEMPORARY;
	struct op *op = add_op(state, OP_COMPARE, to->size);
	op->to = LOWER_TEMPORARY;
	op->from = RAX;
	add_access(state, OP_STORE, to)->from = gpr_of(from->reg);
	if (to->size >= 4) {
		op = add_op(state, OP_CHOOSE, to->size);
		op->to = RAX;
		op->from = LOWER_TEMPORARY;
	} else {
		add_clobber(state, 1 << RAX);
	}
}

/* --- the stack ------------------------------------------------------------------------------- */

static void lower_push(struct lowering_state *state)
{
	const cs_x86_op *from = &state->x86->operands[0];
	uint8_t gpr = value_of(state, from, LOWER_TEMPORARY);
	/* push %rsp stores what it was before. */
	if (gpr == RSP) {
		add_move(state, LOWER_TEMPORARY, RSP, 8);
		gpr = LOWER_TEMPORARY;
	}
	add_sum(state, RSP, RSP, -8);
	struct op *op = add_op(state, OP_STORE, 8);
	op->base = RSP;
	op->from = gpr;
}

static void lower_pop(struct lowering_state *state)
{
	const cs_x86_op *to = &state->x86->operands[0];
	uint8_t gpr = is_gpr(to) && to->size == 8 ? gpr_of(to->reg) : LOWER_TEMPORARY;
	struct op *op = add_op(state, OP_LOAD, 8);
	op->base = RSP;
	op->to = gpr;
	if (gpr != RSP)
		add_sum(state, RSP, RSP, 8);
	if (to->type == X86_OP_MEM)
		add_access(state, OP_STORE, to)->from = gpr;
}

/* The flags; `step` is what that does to the stack pointer. */
static void lower_flags(struct lowering_state *state, int64_t step)
{
	add_sum(state, RSP, RSP, step);
	if (step < 0)
		add_op(state, OP_STORE, 8)->base = RSP;
}

static void lower_leave(struct lowering_state *state)
{
	add_move(state, RSP, RBP, 8);
	struct op *op = add_op(state, OP_LOAD, 8);
	op->base = RSP;
	op->to = RBP;
	add_sum(state, RSP, RSP, 8);
}

/* --- where it goes --------------------------------------------------------------------------- */

static void lower_go(struct lowering_state *state, enum op_kind direct, enum op_kind indirect)
{
	const cs_x86_op *to = &state->x86->operands[0];
	if (to->type == X86_OP_IMM) {
		add_op(state, direct, 0)->constant = to->imm;
		return;
	}
	uint8_t gpr = value_of(state, to, LOWER_TEMPORARY);
	add_op(state, indirect, 0)->from = gpr;
}

static void lower_branch(struct lowering_state *state)
{
	const cs_x86_op *to = &state->x86->operands[0];
	if (state->instruction->id >= X86_INS_LOOP && state->instruction->id <= X86_INS_LOOPNE)
		add_clobber(state, 1 << RCX);
	if (state->x86->op_count == 1 && to->type == X86_OP_IMM)
		add_op(state, OP_BRANCH, 0)->constant = to->imm;
}

/* Quotients, and numbers cut out of others: whatever indexes an array by them, they do not step. */
static void lower_number(struct lowering_state *state)
{
	unsigned int id = state->instruction->id;
	const cs_x86_op *to = &state->x86->operands[0];
	lower_anything(state);
	if (id == X86_INS_DIV || id == X86_INS_IDIV) {
		add_op(state, OP_NUMBER, 8)->to = RAX;
		add_op(state, OP_NUMBER, 8)->to = RDX;
	} else if (is_whole(to)) {
		add_op(state, OP_NUMBER, 8)->to = gpr_of(to->reg);
	}
}

/* Stack and flow. False: it is neither. */
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
		add_op(state, OP_RETURN, 0);
		return true;
	}
	return false;
}

/* Moves and arithmetic. False: it is neither. */
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
		add_op(state, OP_CONDITION, 0)->sign = (uint8_t)sign;
	if (lower_value(state) || lower_control(state))
		return;
	switch (lower_x86_64_class(state->instruction->id)) {
	case CLASS_NOTHING:
		break;
	case CLASS_END:
		add_op(state, OP_STOP, 0);
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
	while (left && !ret->failed) {
		state.at = (uint32_t)(code->size - left);
		if (cs_disasm_iter(decoder->handle, &next, &left, &address, decoder->instruction)) {
			state.x86 = &decoder->instruction->detail->x86;
			lower_instruction(&state);
			continue;
		}
		add_op(&state, OP_STOP, 0);
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
	.create = decoder_create,
	.destroy = decoder_destroy,
	.lower = lower,
	.helper = lower_x86_64_helper,
	.filler = 0xcc,
};

const struct lowering *lowering_find(const char *arch)
{
	return !strcmp(arch, lowering_x86_64.arch) ? &lowering_x86_64 : NULL;
}
