// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/code/lower_x86_64_private.h"

#include "base/array.h"

/* --- operations ------------------------------------------------------------------------------ */

struct op *x86_add_op(struct lowering_state *state, enum op_kind kind, uint8_t size)
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

void x86_add_clobber(struct lowering_state *state, int64_t mask)
{
	if (mask)
		x86_add_op(state, OP_CLOBBER, 0)->constant = mask;
}

void x86_add_move(struct lowering_state *state, uint8_t to, uint8_t from, uint8_t size)
{
	struct op *op = x86_add_op(state, OP_MOVE, size);
	op->to = to;
	op->from = from;
}

void x86_add_constant(struct lowering_state *state, uint8_t to, int64_t constant)
{
	struct op *op = x86_add_op(state, OP_CONSTANT, 8);
	op->to = to;
	op->constant = constant;
}

void x86_add_sum(struct lowering_state *state, uint8_t to, uint8_t base, int64_t displacement)
{
	struct op *op = x86_add_op(state, OP_ADDRESS, 8);
	op->to = to;
	op->base = base;
	op->displacement = displacement;
}

void x86_add_scaled(struct lowering_state *state, uint8_t to, uint8_t from, int64_t factor)
{
	struct op *op = x86_add_op(state, OP_SCALE, 8);
	op->to = to;
	op->from = from;
	op->constant = factor;
}

/* --- places ---------------------------------------------------------------------------------- */

bool x86_set_place(const struct lowering_state *state, const cs_x86_op *operand, struct op *op)
{
	const x86_op_mem *memory = &operand->mem;
	op->displacement = memory->disp;
	op->per_cpu = memory->segment == X86_REG_GS;
	if (memory->segment == X86_REG_FS || state->x86->addr_size != 8)
		return false;
	if (memory->base == X86_REG_RIP)
		op->displacement = (int64_t)((uint64_t)memory->disp + state->instruction->address +
					     state->instruction->size);
	else if (memory->base != X86_REG_INVALID && memory->base != X86_REG_RIZ)
		op->base = x86_gpr_of(memory->base);
	if (memory->index != X86_REG_INVALID && memory->index != X86_REG_RIZ) {
		op->index = x86_gpr_of(memory->index);
		op->scale = (uint8_t)memory->scale;
		return op->index != LOWER_NONE;
	}
	return true;
}

struct op *x86_add_access(struct lowering_state *state, enum op_kind kind, const cs_x86_op *operand)
{
	struct op *op = x86_add_op(state, kind, operand->size);
	if (!x86_set_place(state, operand, op)) {
		op->base = LOWER_SOMEWHERE;
		op->index = LOWER_NONE;
		op->displacement = 0;
		op->per_cpu = false;
	}
	return op;
}

uint8_t x86_value_of(struct lowering_state *state, const cs_x86_op *operand, uint8_t temporary)
{
	if (x86_is_gpr(operand))
		return x86_gpr_of(operand->reg);
	if (operand->type == X86_OP_MEM) {
		x86_add_access(state, OP_LOAD, operand)->to = temporary;
		return temporary;
	}
	if (operand->type == X86_OP_IMM)
		x86_add_constant(state, temporary, operand->imm);
	else
		x86_add_clobber(state, (int64_t)1 << temporary);
	return temporary;
}
