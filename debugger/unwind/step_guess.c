// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Steps without a rule. The first is as good as one: a return address whose call leads to the
 * function we are in. It is needed in every kdump, whose first pc is a label in __crash_kexec()
 * with an empty ORC entry.
 */
#include "debugger/target/arch_x86_64.h"
#include "debugger/unwind/scan.h"
#include "debugger/unwind/step.h"

#include "base/bytes.h"

/* How far up an unknown stack to look. */
#define SCAN_UNKNOWN 4096
/* The longest function looked through for where it saves its caller's rbp. */
#define FUNCTION_LIMIT 8192

static uint64_t scan_end(struct unwinder *unwinder, uint64_t sp)
{
	const struct stack_bounds *bounds = stacks_find(&unwinder->stacks, sp);
	if (bounds)
		return bounds->end;
	return sp + SCAN_UNKNOWN < sp ? sp : sp + SCAN_UNKNOWN;
}

static bool current_sp(const struct unwinder *unwinder, uint64_t *ret)
{
	unsigned int number = unwinder->target->arch->sp;
	*ret = unwinder->registers.values[number];
	/* A stack pointer is aligned; a wild one is not worth looking at. */
	return registers_has(&unwinder->registers, number) && *ret % 8 == 0;
}

static void take_return_address(struct unwinder *unwinder, const struct scan_result *found,
				enum frame_kind kind, struct step *ret)
{
	const struct arch *arch = unwinder->target->arch;
	*ret = (struct step){ .kind = kind };
	registers_set(&ret->registers, arch->pc, found->pc);
	registers_set(&ret->registers, arch->sp, found->slot + 8);
}

/*
 * The caller's rbp, by what the rules around the empty one say of this function: saved at a fixed
 * place below the CFA, or not touched at all.
 */
static void recover_bp(struct unwinder *unwinder, uint64_t cfa, struct registers *next)
{
	uint64_t pc = unwinder->registers.values[X86_64_RIP], value;
	if (!unwinder->orc || pc - unwinder->function > FUNCTION_LIMIT)
		return;
	/* Counted from the pc: a symbol may claim to be at 0, below which nothing is. */
	for (uint64_t back = 0; back <= pc - unwinder->function; back++) {
		struct orc_entry entry;
		bool found;
		struct error *error = orc_find(unwinder->orc, pc - back, &entry, &found);
		error_free(error);
		if (error || !found || entry.type != ORC_TYPE_CALL ||
		    entry.bp_base != ORC_BASE_PREV_SP)
			continue;
		error = memory_read_u64(unwinder->target->memory,
					cfa + (uint64_t)(int64_t)entry.bp_offset, &value);
		if (!error)
			registers_set(next, X86_64_RBP, value);
		error_free(error);
		return;
	}
	if (registers_has(&unwinder->registers, X86_64_RBP))
		registers_set(next, X86_64_RBP, unwinder->registers.values[X86_64_RBP]);
}

bool step_call_scan(struct unwinder *unwinder, struct step *ret)
{
	struct scan_result found;
	uint64_t sp;
	if (unwinder->target->arch != &arch_x86_64 || !unwinder->has_function ||
	    !current_sp(unwinder, &sp) ||
	    !scan_stack(unwinder->target, sp, scan_end(unwinder, sp), unwinder->function, &found))
		return false;
	take_return_address(unwinder, &found, FRAME_CALL_SCAN, ret);
	recover_bp(unwinder, found.slot + 8, &ret->registers);
	return true;
}

/* Frame-pointer kernels mark a pt_regs by bit 0 of the saved rbp (ENCODE_FRAME_POINTER). */
static bool step_encoded_regs(struct unwinder *unwinder, uint64_t address, struct step *ret)
{
	uint8_t raw[256];
	const struct arch *arch = unwinder->target->arch;
	struct error *error =
		memory_read(unwinder->target->memory, address, raw, arch->pt_regs_size);
	error_free(error);
	if (error)
		return false;
	*ret = (struct step){ .kind = FRAME_EXCEPTION, .pc_is_exact = true };
	arch->registers_from_pt_regs(raw, &ret->registers);
	return arch->is_possible(&ret->registers) &&
	       (arch->is_user_mode(&ret->registers) ||
		scan_is_text(unwinder->target, ret->registers.values[arch->pc]));
}

bool step_frame_pointer(struct unwinder *unwinder, struct step *ret)
{
	const struct arch *arch = unwinder->target->arch;
	uint64_t sp, fp = unwinder->registers.values[arch->fp];
	uint8_t raw[16];
	if (arch != &arch_x86_64 || !registers_has(&unwinder->registers, arch->fp) ||
	    !current_sp(unwinder, &sp) || fp < sp || fp >= scan_end(unwinder, sp))
		return false;
	if (fp & 1)
		return step_encoded_regs(unwinder, fp & ~(uint64_t)1, ret);
	struct error *error = memory_read(unwinder->target->memory, fp, raw, sizeof(raw));
	error_free(error);
	struct scan_result found = { .slot = fp + 8 };
	if (!error)
		found.pc = load_u64(raw + 8, false);
	if (error || fp % 8 || !scan_is_text(unwinder->target, found.pc) ||
	    !scan_follows_call(unwinder->target, found.pc))
		return false;
	take_return_address(unwinder, &found, FRAME_POINTER, ret);
	registers_set(&ret->registers, arch->fp, load_u64(raw, false));
	return true;
}

bool step_scan(struct unwinder *unwinder, struct step *ret)
{
	struct scan_result found;
	uint64_t sp;
	if (unwinder->target->arch != &arch_x86_64 || !current_sp(unwinder, &sp) ||
	    !scan_stack(unwinder->target, sp, scan_end(unwinder, sp), 0, &found))
		return false;
	take_return_address(unwinder, &found, FRAME_SCAN, ret);
	return true;
}
