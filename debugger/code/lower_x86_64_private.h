/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts that lower_x86_64*.c make operations of: registers, places, operands. */
#ifndef DEBUGGER_CODE_LOWER_X86_64_PRIVATE_H
#define DEBUGGER_CODE_LOWER_X86_64_PRIVATE_H

#include "debugger/code/lower_x86_64.h"

#include <capstone/capstone.h>

enum gpr { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };

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
	bool is_common;	   /* decode_x86_64() knows it */
	struct op nowhere; /* stands for an operation there was no memory for */
};

static inline uint8_t x86_gpr_of(x86_reg reg)
{
	return lower_x86_64_gpr(reg);
}

static inline bool x86_is_high_byte(x86_reg reg)
{
	return reg == X86_REG_AH || reg == X86_REG_BH || reg == X86_REG_CH || reg == X86_REG_DH;
}

static inline bool x86_is_gpr(const cs_x86_op *operand)
{
	return operand->type == X86_OP_REG && x86_gpr_of(operand->reg) != LOWER_NONE &&
	       !x86_is_high_byte(operand->reg);
}

/* A register written so that all of it is known afterwards: 32 bits clear the upper half. */
static inline bool x86_is_whole(const cs_x86_op *operand)
{
	return x86_is_gpr(operand) && operand->size >= 4;
}

static inline int64_t x86_mask_of(const cs_x86_op *operand)
{
	uint8_t gpr = operand->type == X86_OP_REG ? x86_gpr_of(operand->reg) : LOWER_NONE;
	return gpr == LOWER_NONE ? 0 : (int64_t)1 << gpr;
}

/* An operation of this instruction; never NULL: without memory it goes nowhere. */
struct op *x86_add_op(struct lowering_state *state, enum op_kind kind, uint8_t size);
void x86_add_clobber(struct lowering_state *state, int64_t mask);
void x86_add_move(struct lowering_state *state, uint8_t to, uint8_t from, uint8_t size);
void x86_add_constant(struct lowering_state *state, uint8_t to, int64_t constant);
/* to = base + displacement */
void x86_add_sum(struct lowering_state *state, uint8_t to, uint8_t base, int64_t displacement);
void x86_add_scaled(struct lowering_state *state, uint8_t to, uint8_t from, int64_t factor);
/* False: an address of which nothing is known (fs:, 32-bit and vector addressing). */
bool x86_set_place(const struct lowering_state *state, const cs_x86_op *operand, struct op *op);
/* Of a memory operand. */
struct op *x86_add_access(struct lowering_state *state, enum op_kind kind,
			  const cs_x86_op *operand);
/* The operand's value in a register: its own, or a temporary loaded from memory. */
uint8_t x86_value_of(struct lowering_state *state, const cs_x86_op *operand, uint8_t temporary);

#endif
