// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What the code around a fault says of it: that the processor was led into the middle of an
 * instruction, or that the instruction wants its operand aligned.
 */
#include "base/array.h"
#include "debugger/analysis/fault.h"
#include "debugger/disassembly/decode.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION_MAX  (256u << 10)
#define ALIGNMENT_MAX 64u /* of the state that xsave writes */

/* --- the middle of an instruction ------------------------------------------------------------- */

/*
 * Reads the function's instructions from its start. `*ret_before`: bytes from the one that the
 * offset lies within to the offset; 0: one begins there, or bytes before it are no instructions.
 */
static struct error *find_before(struct disassembler *disassembler, const uint8_t *code,
				 size_t size, const struct symbol *symbol, size_t offset,
				 size_t *ret_before)
{
	size_t at = 0, before = 0;
	struct instruction instruction;
	*ret_before = 0;
	while (at < offset) {
		disassemble(disassembler, code + at, size - at, symbol->address + at, &instruction);
		if (!instruction.is_valid)
			return NULL;
		before = at;
		at += instruction.size;
	}
	*ret_before = at == offset ? 0 : offset - before;
	return NULL;
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
		error = find_before(disassembler, code, size, &frame->symbol, (size_t)frame->offset,
				    &fault->midway);
		disassembler_destroy(disassembler);
	}
	free(code);
	return error_only_fatal(error);
}

/* --- alignment -------------------------------------------------------------------------------- */

/*
 * What general protection faults come of if the address is good: instructions on vectors that want
 * it to be a multiple of their size. Of those without a prefix of AVX all do but a few; the
 * disassembler's name is what tells them apart (Intel's manual, volume 1, 4.1.1).
 */
bool fault_wants_alignment(const char *mnemonic)
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

static struct error *read_mnemonic(const struct fault *fault, struct instruction *ret)
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
	struct error *error = read_mnemonic(fault, &instruction);
	if (error || !fault_wants_alignment(instruction.mnemonic))
		return error_only_fatal(error);
	for (size_t i = 0; i < all->count && !fault->access; i++) {
		const struct access *access = &all->items[i];
		uint32_t wanted = access->size && access->size < ALIGNMENT_MAX ? access->size
									       : ALIGNMENT_MAX;
		if (!strncmp(instruction.mnemonic, "fx", 2))
			wanted = 16;
		if (access->address % wanted == 0)
			continue;
		fault->access = access;
		fault->bad.kind = BAD_MISALIGNED;
		snprintf(fault->bad.text, sizeof(fault->bad.text), "no multiple of %u, as %s wants",
			 wanted, instruction.mnemonic);
	}
	return NULL;
}
