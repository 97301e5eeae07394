// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/disassembly/decode.h"

#include "debugger/code/odd_x86_64.h"
#include <capstone/capstone.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct disassembler {
	csh handle;
	cs_insn *instruction;
};

/* --- x86-64 ---------------------------------------------------------------------------------- */

/* With page tables of five levels, too: is_kernel_pointer(). */
#define KERNEL_HALF 0xff00000000000000u

static bool goes_somewhere(const cs_insn *instruction)
{
	for (uint8_t i = 0; i < instruction->detail->groups_count; i++)
		if (instruction->detail->groups[i] == CS_GRP_CALL ||
		    instruction->detail->groups[i] == CS_GRP_JUMP)
			return true;
	return false;
}

static uint64_t address_of(const cs_insn *instruction, const x86_op_mem *place)
{
	uint64_t address = (uint64_t)place->disp;
	return place->base == X86_REG_RIP ? address + instruction->address + instruction->size
					  : address;
}

static void find_addresses(const cs_insn *instruction, struct instruction *ret)
{
	const cs_x86 *x86 = &instruction->detail->x86;
	for (uint8_t i = 0; i < x86->op_count; i++) {
		const cs_x86_op *operand = &x86->operands[i];
		/* An operand relative to a segment (%gs, %fs) is an offset, not an address. */
		if (operand->type == X86_OP_MEM && operand->mem.segment != X86_REG_GS &&
		    operand->mem.segment != X86_REG_FS &&
		    address_of(instruction, &operand->mem) >= KERNEL_HALF) {
			/* With a base it may as well be a small negative offset. */
			ret->data = address_of(instruction, &operand->mem);
			ret->has_data = true;
		} else if (operand->type == X86_OP_IMM && goes_somewhere(instruction)) {
			ret->target = (uint64_t)operand->imm;
			ret->has_target = true;
		} else if (operand->type == X86_OP_IMM && operand->size == 8 &&
			   (uint64_t)operand->imm >= KERNEL_HALF) {
			ret->data = (uint64_t)operand->imm;
			ret->has_data = true;
		}
	}
}

static void describe_odd(const struct odd_instruction *odd, const uint8_t *bytes,
			 struct instruction *ret)
{
	size_t used = 0;
	ret->size = odd->size;
	ret->is_valid = odd->mnemonic != NULL;
	snprintf(ret->mnemonic, sizeof(ret->mnemonic), "%s", odd->mnemonic ?: ".byte");
	for (uint8_t i = 0; i < odd->size && !odd->mnemonic; i++)
		used += (size_t)snprintf(ret->operands + used, sizeof(ret->operands) - used,
					 i ? ", 0x%02x" : "0x%02x", bytes[i]);
}

/* --- the interface --------------------------------------------------------------------------- */

struct error *disassembler_create(const char *arch, struct disassembler **ret)
{
	if (strcmp(arch, "x86_64"))
		return error_create(ERROR_UNSUPPORTED, "code of %s is not understood", arch);
	struct disassembler *disassembler = calloc(1, sizeof(*disassembler));
	if (!disassembler)
		return error_no_memory();
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &disassembler->handle)) {
		free(disassembler);
		return error_no_memory();
	}
	cs_option(disassembler->handle, CS_OPT_DETAIL, CS_OPT_ON);
	cs_option(disassembler->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	disassembler->instruction = cs_malloc(disassembler->handle);
	if (!disassembler->instruction) {
		disassembler_destroy(disassembler);
		return error_no_memory();
	}
	*ret = disassembler;
	return NULL;
}

void disassembler_destroy(struct disassembler *disassembler)
{
	if (!disassembler)
		return;
	if (disassembler->instruction)
		cs_free(disassembler->instruction, 1);
	cs_close(&disassembler->handle);
	free(disassembler);
}

void disassemble(struct disassembler *disassembler, const uint8_t *bytes, size_t size,
		 uint64_t address, struct instruction *ret)
{
	const cs_insn *found = disassembler->instruction;
	uint64_t next = address;
	*ret = (struct instruction){ .address = address, .size = 1, .mnemonic = "(bad)" };
	const uint8_t *at = bytes;
	struct odd_instruction odd;
	bool is_odd = odd_x86_64(bytes, size, &odd);
	if ((is_odd && odd.mnemonic) ||
	    !cs_disasm_iter(disassembler->handle, &at, &size, &next, disassembler->instruction)) {
		if (is_odd)
			describe_odd(&odd, bytes, ret);
		return;
	}
	ret->size = (uint8_t)found->size;
	ret->is_valid = true;
	odd_text(found, ret->mnemonic, sizeof(ret->mnemonic), ret->operands, sizeof(ret->operands));
	find_addresses(found, ret);
}
