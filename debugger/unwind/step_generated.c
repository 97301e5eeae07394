// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Rules for code that the kernel wrote at run time and that no ORC table knows. The JIT lets every
 * BPF function and trampoline begin with "push rbp; mov rbp, rsp" (after an optional endbr and
 * patchable nop) and keeps rbp until "leave" (arch/x86/net/bpf_jit_comp.c). An ftrace trampoline
 * is a copy of ftrace_caller or ftrace_regs_caller (arch/x86/kernel/ftrace.c), whose ORC holds for
 * it at the same offset.
 */
#include "debugger/target/arch_x86_64.h"
#include "debugger/unwind/step.h"

#include <string.h>

/* endbr64, nopl of five bytes, xor eax, eax and pushes may come first. */
#define PROLOGUE_LIMIT 48
#define LEAVE	       0xc9

static const struct orc_entry keeps_rbp = { .sp_offset = 16,
					    .sp_base = ORC_BASE_BP,
					    .bp_offset = -16,
					    .bp_base = ORC_BASE_PREV_SP,
					    .type = ORC_TYPE_CALL };
static const struct orc_entry at_entry = { .sp_offset = 8,
					   .sp_base = ORC_BASE_SP,
					   .type = ORC_TYPE_CALL };
static const struct orc_entry after_push = { .sp_offset = 16,
					     .sp_base = ORC_BASE_SP,
					     .type = ORC_TYPE_CALL };

static size_t read_code(struct unwinder *unwinder, uint64_t address, uint8_t *code, size_t size)
{
	struct error *why;
	size_t got = memory_read_some(unwinder->target->memory, address, code, size, &why);
	error_free(why);
	return got;
}

/* An interrupted BPF function: has it its rbp yet, has it given it back? */
static struct orc_entry rule_at(struct unwinder *unwinder, const struct generated_code *code,
				uint64_t pc)
{
	static const uint8_t prologue[] = { 0x55, 0x48, 0x89, 0xe5 };
	uint8_t bytes[PROLOGUE_LIMIT], before;
	size_t size = read_code(unwinder, code->start, bytes, sizeof(bytes));
	for (size_t i = 0; i + sizeof(prologue) <= size; i++) {
		if (memcmp(bytes + i, prologue, sizeof(prologue)))
			continue;
		if (pc <= code->start + i)
			return at_entry;
		if (pc < code->start + i + sizeof(prologue))
			return after_push;
		break;
	}
	if (read_code(unwinder, pc - 1, &before, 1) && before == LEAVE)
		return at_entry;
	return keeps_rbp;
}

/* Which of the two it is a copy of: the one whose first bytes it has more of. */
static bool ftrace_origin(struct unwinder *unwinder, const struct generated_code *code,
			  uint64_t *ret)
{
	static const char *const names[] = { "ftrace_caller", "ftrace_regs_caller" };
	uint8_t copy[64], original[64];
	size_t size = read_code(unwinder, code->start, copy, sizeof(copy)), best = 0;
	for (size_t i = 0; i < 2; i++) {
		uint64_t address;
		if (!symtab_address(unwinder->target->symbols, names[i], &address))
			continue;
		size_t common = 0, limit = read_code(unwinder, address, original, size);
		while (common < limit && copy[common] == original[common])
			common++;
		if (common > best) {
			best = common;
			*ret = address;
		}
	}
	return best >= 4;
}

bool generated_rule(struct unwinder *unwinder, uint64_t pc, struct orc_entry *ret,
		    enum frame_kind *ret_kind)
{
	uint64_t look = unwinder->pc_is_exact ? pc : pc - 1, origin;
	const struct generated_code *code = target_generated_at(unwinder->target, look);
	bool found = false;
	if (!code)
		return false;
	switch (code->kind) {
	case GENERATED_BPF_PROGRAM:
	case GENERATED_BPF_IMAGE:
		*ret = unwinder->pc_is_exact ? rule_at(unwinder, code, pc) : keeps_rbp;
		*ret_kind = FRAME_BPF;
		return true;
	case GENERATED_FTRACE:
		if (!ftrace_origin(unwinder, code, &origin))
			return false;
		*ret_kind = FRAME_ORC;
		struct error *error =
			orc_find(unwinder->orc, origin + (look - code->start), ret, &found);
		error_free(error);
		return !error && found && ret->type != ORC_TYPE_UNDEFINED &&
		       ret->type != ORC_TYPE_INVALID;
	case GENERATED_KPROBE:
		break;
	}
	return false;
}
