// SPDX-License-Identifier: GPL-3.0-or-later
/* One step by ORC: KERNEL-FORMATS section 5.4, kernel arch/x86/kernel/unwind_orc.c. */
#include "debugger/target/arch_x86_64.h"
#include "debugger/unwind/scan.h"
#include "debugger/unwind/step.h"

#include "base/bytes.h"
#include <inttypes.h>
#include <stdio.h>

/* The return address on the stack and nothing else: what a call to where no code is leaves. */
static const struct orc_entry null_call = { .sp_offset = 8,
					    .sp_base = ORC_BASE_SP,
					    .type = ORC_TYPE_CALL };

static struct error *no_rule(struct unwinder *unwinder, const char *why)
{
	char place[SYMBOL_NAME_SIZE + 64];
	uint64_t pc = unwinder->registers.values[X86_64_RIP];
	if (!target_describe(unwinder->target, pc, place, sizeof(place)))
		snprintf(place, sizeof(place), "0x%" PRIx64, pc);
	return error_create(ERROR_NOT_FOUND, "%s at %s", why, place);
}

/*
 * A call to data, which no code of the kernel's and none that it generates lies near: what was
 * called did nothing, and the word on top of the stack is what it would have returned to.
 */
static bool was_no_code(struct unwinder *unwinder, uint64_t pc)
{
	const struct registers *registers = &unwinder->registers;
	struct target *target = unwinder->target;
	uint64_t back;
	if (!unwinder->pc_is_exact || unwinder->has_function || pc >> 31 == 0x1ffffffff ||
	    scan_is_text(target, pc) || !registers_has(registers, X86_64_RSP))
		return false;
	struct error *error = memory_read_u64(target->memory, registers->values[X86_64_RSP], &back);
	error_free(error);
	return !error && scan_is_text(target, back) && scan_follows_call(target, back);
}

static struct error *find_rule(struct unwinder *unwinder, struct orc_entry *ret,
			       enum frame_kind *ret_kind)
{
	uint64_t pc = unwinder->registers.values[X86_64_RIP];
	bool found;
	*ret_kind = FRAME_ORC;
	if (!pc || was_no_code(unwinder, pc)) {
		*ret = null_call;
		return NULL;
	}
	TRY(orc_find(unwinder->orc, unwinder->pc_is_exact ? pc : pc - 1, ret, &found));
	if (!found && generated_rule(unwinder, pc, ret, ret_kind))
		return NULL;
	if (!found)
		return no_rule(unwinder, "no ORC entry");
	if (ret->type == ORC_TYPE_UNDEFINED)
		return no_rule(unwinder, "an empty ORC entry");
	if (ret->type == ORC_TYPE_INVALID || ret->sp_base == ORC_BASE_INVALID ||
	    ret->bp_base == ORC_BASE_INVALID)
		return no_rule(unwinder, "a bad ORC entry");
	return NULL;
}

static struct error *need_register(struct unwinder *unwinder, unsigned int number, uint64_t *ret)
{
	const struct registers *registers = &unwinder->registers;
	char why[64];
	snprintf(why, sizeof(why), "%s is needed and not known",
		 arch_x86_64.register_names[number]);
	if (!registers_has(registers, number))
		return no_rule(unwinder, why);
	*ret = registers->values[number];
	return NULL;
}

/* The canonical frame address: what rsp was before the call, or where saved registers lie. */
static struct error *find_cfa(struct unwinder *unwinder, const struct orc_entry *entry,
			      uint64_t *ret)
{
	static const uint8_t numbers[] = {
		[ORC_BASE_SP] = X86_64_RSP,	     [ORC_BASE_BP] = X86_64_RBP,
		[ORC_BASE_AX] = X86_64_RAX,	     [ORC_BASE_DX] = X86_64_RDX,
		[ORC_BASE_DI] = X86_64_RDI,	     [ORC_BASE_R10] = X86_64_R10,
		[ORC_BASE_R13] = X86_64_R13,	     [ORC_BASE_BP_INDIRECT] = X86_64_RBP,
		[ORC_BASE_SP_INDIRECT] = X86_64_RSP,
	};
	struct memory *memory = unwinder->target->memory;
	uint64_t base = 0, offset = (uint64_t)(int64_t)entry->sp_offset;
	if (entry->sp_base == ORC_BASE_UNDEFINED || entry->sp_base == ORC_BASE_PREV_SP)
		return no_rule(unwinder, "a bad ORC entry");
	TRY(need_register(unwinder, numbers[entry->sp_base], &base));
	switch (entry->sp_base) {
	case ORC_BASE_SP:
	case ORC_BASE_BP:
		*ret = base + offset;
		return NULL;
	case ORC_BASE_BP_INDIRECT:
		return memory_read_u64(memory, base + offset, ret);
	case ORC_BASE_SP_INDIRECT:
		if (!orc_indirect_adds_after(unwinder->orc))
			return memory_read_u64(memory, base + offset, ret);
		TRY(memory_read_u64(memory, base, ret));
		*ret += offset;
		return NULL;
	default:
		*ret = base;
		return NULL;
	}
}

/* Where rbp was saved; when it cannot be read it is unknown from here on. */
static void follow_bp(struct unwinder *unwinder, const struct orc_entry *entry, uint64_t cfa,
		      struct registers *next)
{
	uint64_t slot = cfa, value;
	if (entry->bp_base == ORC_BASE_UNDEFINED)
		return;
	if (entry->bp_base == ORC_BASE_BP)
		slot = unwinder->registers.values[X86_64_RBP];
	slot += (uint64_t)(int64_t)entry->bp_offset;
	bool known =
		entry->bp_base == ORC_BASE_PREV_SP ||
		(entry->bp_base == ORC_BASE_BP && registers_has(&unwinder->registers, X86_64_RBP));
	struct error *error = known ? memory_read_u64(unwinder->target->memory, slot, &value)
				    : NULL;
	if (known && !error)
		registers_set(next, X86_64_RBP, value);
	else
		registers_forget(next, X86_64_RBP);
	error_free(error);
}

static struct error *step_call(struct unwinder *unwinder, const struct orc_entry *entry,
			       uint64_t cfa, struct step *ret)
{
	uint64_t pc;
	TRY(error_prefix(memory_read_u64(unwinder->target->memory, cfa - 8, &pc),
			 "return address"));
	TRY(recover_return_address(unwinder, cfa - 8, &pc));
	ret->kind = FRAME_ORC;
	ret->registers = (struct registers){ .known = 0 };
	if (registers_has(&unwinder->registers, X86_64_RBP))
		registers_set(&ret->registers, X86_64_RBP, unwinder->registers.values[X86_64_RBP]);
	follow_bp(unwinder, entry, cfa, &ret->registers);
	registers_set(&ret->registers, X86_64_RIP, pc);
	registers_set(&ret->registers, X86_64_RSP, cfa);
	return NULL;
}

static struct error *check_saved(const struct registers *registers, uint64_t at)
{
	if (arch_x86_64.is_possible(registers))
		return NULL;
	return error_create(ERROR_FORMAT, "no saved registers at 0x%" PRIx64, at);
}

static struct error *step_pt_regs(struct unwinder *unwinder, uint64_t cfa, struct step *ret)
{
	uint8_t raw[256];
	TRY(error_prefix(memory_read(unwinder->target->memory, cfa, raw, arch_x86_64.pt_regs_size),
			 "pt_regs"));
	arch_x86_64.registers_from_pt_regs(raw, &ret->registers);
	ret->kind = FRAME_EXCEPTION;
	ret->saved_end = cfa + arch_x86_64.pt_regs_size;
	return check_saved(&ret->registers, cfa);
}

/* Only what the processor pushed; the other registers still hold what they did. */
static struct error *step_iret_frame(struct unwinder *unwinder, const struct orc_entry *entry,
				     uint64_t cfa, struct step *ret)
{
	static const uint8_t order[] = { X86_64_RIP, X86_64_CS, X86_64_RFLAGS, X86_64_RSP,
					 X86_64_SS };
	uint8_t raw[8 * sizeof(order)];
	TRY(error_prefix(memory_read(unwinder->target->memory, cfa, raw, sizeof(raw)),
			 "exception frame"));
	ret->registers = unwinder->registers;
	follow_bp(unwinder, entry, cfa, &ret->registers);
	for (size_t i = 0; i < sizeof(order); i++)
		registers_set(&ret->registers, order[i], load_u64(raw + 8 * i, false));
	ret->registers.values[X86_64_CS] &= 0xffff;
	ret->registers.values[X86_64_SS] &= 0xffff;
	ret->kind = FRAME_EXCEPTION;
	ret->saved_end = cfa + sizeof(raw);
	return check_saved(&ret->registers, cfa);
}

struct error *step_orc(struct unwinder *unwinder, struct step *ret)
{
	struct orc_entry entry;
	enum frame_kind kind;
	uint64_t cfa;
	if (!unwinder->orc)
		return error_create(unwinder->orc_problem->kind, "%s",
				    unwinder->orc_problem->message);
	TRY(find_rule(unwinder, &entry, &kind));
	*ret = (struct step){ .pc_is_exact = entry.signal };
	if (entry.type == ORC_TYPE_END_OF_STACK) {
		ret->is_end = true;
		return NULL;
	}
	TRY(find_cfa(unwinder, &entry, &cfa));
	switch (entry.type) {
	case ORC_TYPE_REGS:
		return step_pt_regs(unwinder, cfa, ret);
	case ORC_TYPE_REGS_PARTIAL:
		return step_iret_frame(unwinder, &entry, cfa, ret);
	default:
		TRY(step_call(unwinder, &entry, cfa, ret));
		ret->kind = kind;
		return NULL;
	}
}
