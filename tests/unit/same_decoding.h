/* SPDX-License-Identifier: GPL-3.0-or-later */
/* decode_x86_64() against Capstone, in all that lowering looks at. */
#ifndef TESTS_UNIT_SAME_DECODING_H
#define TESTS_UNIT_SAME_DECODING_H

#include "debugger/code/decode_x86_64.h"
#include "debugger/code/lower.h"
#include "debugger/code/lower_x86_64.h"

struct decodings {
	csh handle;
	cs_insn *own, *capstone;
};

static inline bool decodings_init(struct decodings *decodings)
{
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &decodings->handle))
		return false;
	cs_option(decodings->handle, CS_OPT_DETAIL, CS_OPT_ON);
	decodings->own = cs_malloc(decodings->handle);
	decodings->capstone = cs_malloc(decodings->handle);
	return decodings->own && decodings->capstone;
}

static inline void decodings_deinit(struct decodings *decodings)
{
	cs_free(decodings->own, 1);
	cs_free(decodings->capstone, 1);
	cs_close(&decodings->handle);
}

static inline uint64_t mask_of_register(x86_reg reg)
{
	uint8_t gpr = lower_x86_64_gpr(reg);
	return gpr == LOWER_NONE ? 0 : (uint64_t)1 << gpr;
}

/* What it writes by Capstone, and what is taken to be written: the first operand, hidden ones. */
static inline bool same_writes(const struct decodings *decodings)
{
	const cs_x86 *x86 = &decodings->capstone->detail->x86;
	unsigned int id = decodings->capstone->id;
	uint64_t known = (uint64_t)lower_x86_64_hidden_writes(id), written = 0;
	cs_regs read, changed;
	uint8_t read_count, changed_count;
	/* Their registers, lowering knows by itself. */
	if (id == X86_INS_PUSH || id == X86_INS_POP || id == X86_INS_CALL || id == X86_INS_RET ||
	    id == X86_INS_LEAVE || id == X86_INS_XCHG || id == X86_INS_CMPXCHG)
		return true;
	if (cs_regs_access(decodings->handle, decodings->capstone, read, &read_count, changed,
			   &changed_count))
		return false;
	for (uint8_t i = 0; i < changed_count; i++)
		written |= mask_of_register((x86_reg)changed[i]);
	if (x86->op_count && x86->operands[0].type == X86_OP_REG)
		known |= mask_of_register(x86->operands[0].reg);
	return !(written & ~known);
}

static inline bool same_operand(const cs_x86_op *own, const cs_x86_op *capstone, bool is_first)
{
	if (own->type != capstone->type || (own->type != X86_OP_IMM && own->size != capstone->size))
		return false;
	if (own->type == X86_OP_REG)
		return own->reg == capstone->reg;
	if (own->type == X86_OP_IMM)
		return own->imm == capstone->imm;
	const x86_op_mem *a = &own->mem, *b = &capstone->mem;
	bool same_access = is_first || !(capstone->access & CS_AC_WRITE);
	bool a_index = a->index != X86_REG_INVALID;
	bool b_index = b->index != X86_REG_INVALID && b->index != X86_REG_RIZ;
	return same_access && a->segment == b->segment && a->base == b->base &&
	       a->disp == b->disp && a_index == b_index &&
	       (!a_index || (a->index == b->index && a->scale == b->scale));
}

/*
 * NULL: the same. `*ret_own`: the instruction is one of the common forms, so there was something to
 * compare; nothing is looked at of a nop but its size.
 */
static inline const char *differs(struct decodings *decodings, const uint8_t *bytes, size_t size,
				  uint64_t address, bool *ret_own)
{
	const cs_x86 *own = &decodings->own->detail->x86;
	const cs_x86 *capstone = &decodings->capstone->detail->x86;
	size_t left = size;
	*ret_own = decode_x86_64(bytes, size, address, decodings->own);
	if (!*ret_own)
		return NULL;
	if (!cs_disasm_iter(decodings->handle, &bytes, &left, &address, decodings->capstone))
		return "is no instruction";
	if (decodings->own->size != decodings->capstone->size)
		return "size";
	if (decodings->own->id != decodings->capstone->id)
		return "instruction";
	if (lower_x86_64_class(decodings->own->id) == CLASS_NOTHING)
		return NULL;
	if (own->op_count != capstone->op_count)
		return "count of operands";
	if (own->prefix[0] != capstone->prefix[0] || own->prefix[1] != capstone->prefix[1] ||
	    own->addr_size != capstone->addr_size)
		return "prefix";
	for (uint8_t i = 0; i < own->op_count; i++)
		if (!same_operand(&own->operands[i], &capstone->operands[i], !i))
			return "operand";
	return same_writes(decodings) ? NULL : "registers written";
}

#endif
