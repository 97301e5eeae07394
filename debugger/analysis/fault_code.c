// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What the code around a fault says of it: that the processor was led into the middle of an
 * instruction, or that the instruction wants its operand aligned.
 */
#include "base/array.h"
#include "debugger/analysis/fault.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION_MAX (256u << 10)
/* Bytes: of the state that xsave writes, and the least of the others. */
#define STATE_ALIGNMENT	 64u
#define VECTOR_ALIGNMENT 16u

/* --- the middle of an instruction ------------------------------------------------------------- */

/*
 * Bytes from the start of the instruction that the offset lies within to the offset, by the
 * function's instructions from its start; 0: one begins there, or bytes before it are none.
 */
static size_t count_before(struct disassembler *disassembler, const uint8_t *code, size_t size,
			   uint64_t address, size_t offset)
{
	size_t at = 0, before = 0;
	struct instruction instruction;
	while (at < offset) {
		disassemble(disassembler, code + at, size - at, address + at, &instruction);
		if (!instruction.is_valid)
			return 0;
		before = at;
		at += instruction.size;
	}
	return at == offset ? 0 : offset - before;
}

struct error *fault_find_midway(struct fault *fault)
{
	struct target *target = fault->analysis->target;
	const struct frame *frame = fault->frame;
	struct disassembler *disassembler;
	struct error *why;
	/* What could not be fetched is no code by now. */
	bool is_fetch = fault->is_page_fault && fault->has_error_code &&
			fault->error_code & FAULT_FETCH;
	fault->midway = 0;
	if (is_fetch || !frame->has_symbol || !frame->offset || frame->offset > FUNCTION_MAX)
		return NULL;
	/* The last one may begin just before the pc. */
	size_t wanted = (size_t)frame->offset + INSTRUCTION_MAX;
	uint8_t *code = malloc(wanted);
	if (!code)
		return error_no_memory();
	size_t size = memory_read_some(target->memory, frame->symbol.address, code, wanted, &why);
	error_free(why);
	struct error *error = size > frame->offset
				      ? disassembler_create(target->arch->name, &disassembler)
				      : error_create(ERROR_NOT_FOUND, "no code");
	if (!error) {
		fault->midway = count_before(disassembler, code, size, frame->symbol.address,
					     (size_t)frame->offset);
		disassembler_destroy(disassembler);
	}
	free(code);
	return error_only_fatal(error);
}

/* --- alignment -------------------------------------------------------------------------------- */

/*
 * Instructions that fault at a good address if it is no multiple of their size (Intel's manual,
 * volume 1, 4.1.1); arithmetic on vectors, which the kernel hardly does, is left out.
 */
static bool wants_alignment(const char *mnemonic)
{
	static const char *const names[] = { "movaps",	"movapd",  "movdqa",   "movntps",
					     "movntpd", "movntdq", "movntdqa", "fxsave",
					     "fxrstor", "xsave",   "xrstor",   "cmpxchg16b" };
	mnemonic += *mnemonic == 'v';
	/* movdqa64, fxsave64, xsaves: the same with another width or state. */
	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		if (!strncmp(mnemonic, names[i], strlen(names[i])))
			return true;
	return false;
}

struct error *fault_read_instruction(const struct fault *fault, struct instruction *ret)
{
	struct target *target = fault->analysis->target;
	struct disassembler *disassembler;
	uint8_t bytes[INSTRUCTION_MAX];
	struct error *why;
	size_t size =
		memory_read_some(target->memory, fault->frame->pc, bytes, sizeof(bytes), &why);
	if (!size)
		return why;
	error_free(why);
	TRY(disassembler_create(target->arch->name, &disassembler));
	disassemble(disassembler, bytes, size, fault->frame->pc, ret);
	disassembler_destroy(disassembler);
	return NULL;
}

struct error *fault_find_misaligned(struct fault *fault)
{
	const struct accesses *all = &fault->accesses;
	struct instruction instruction;
	struct error *error = fault_read_instruction(fault, &instruction);
	if (error || !wants_alignment(instruction.mnemonic))
		return error_only_fatal(error);
	for (size_t i = 0; i < all->count && !fault->access; i++) {
		const struct access *access = &all->items[i];
		bool is_state = *instruction.mnemonic == 'x';
		bool is_wide = access->size > VECTOR_ALIGNMENT && *instruction.mnemonic == 'v';
		uint32_t wanted = is_state  ? STATE_ALIGNMENT
				  : is_wide ? access->size
					    : VECTOR_ALIGNMENT;
		if (access->address % wanted == 0)
			continue;
		fault->access = access;
		fault->bad.kind = BAD_MISALIGNED;
		snprintf(fault->bad.text, sizeof(fault->bad.text), "no multiple of %u, as %s wants",
			 wanted, instruction.mnemonic);
	}
	return NULL;
}
