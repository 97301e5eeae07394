// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/unwind/context.h"

#include "debugger/target/object.h"

/* PREEMPT_NEED_RESCHED, inverted, and the four bits that count NMIs. */
#define COUNT_MASK 0x7fffffffu
#define NMI_MASK   0x00f00000u

/* A per-CPU variable by itself, or a member of pcpu_hot (6.2 to 6.14). */
static bool read_variable(struct target *target, const struct cpu *cpu, const char *name,
			  const char *member, size_t size, uint64_t *ret)
{
	uint64_t address;
	uint32_t half;
	uint8_t byte;
	struct error *error;
	if (symtab_address(target->symbols, name, &address)) {
		address += cpu->per_cpu_offset;
		if (size == 8) {
			error = memory_read_word(target->memory, address, ret);
		} else if (size == 4) {
			error = memory_read_u32(target->memory, address, &half);
			*ret = error ? 0 : half;
		} else {
			error = memory_read(target->memory, address, &byte, 1);
			*ret = error ? 0 : byte;
		}
	} else {
		struct object hot;
		if (!member)
			return false;
		error = object_per_cpu(target, "pcpu_hot", "struct pcpu_hot", cpu, &hot);
		if (!error)
			error = object_u64(&hot, member, ret);
	}
	error_free(error);
	return !error;
}

static bool may_be_on_irq_stack(struct target *target, const struct cpu *cpu)
{
	uint64_t value;
	if (read_variable(target, cpu, "hardirq_stack_inuse", "hardirq_stack_inuse", 1, &value))
		return value != 0;
	/* Up to 5.11: -1 when the interrupt stack is not in use. */
	if (read_variable(target, cpu, "irq_count", NULL, 4, &value))
		return (int32_t)value >= 0;
	return true;
}

void cpu_context_read(struct target *target, const struct cpu *cpu, struct cpu_context *ret)
{
	uint64_t count;
	*ret = (struct cpu_context){ .may_be_nmi = true, .may_be_irq = true };
	if (read_variable(target, cpu, "__preempt_count", "preempt_count", 4, &count)) {
		ret->has_count = true;
		ret->count = (uint32_t)count & COUNT_MASK;
		ret->may_be_nmi = ret->count & NMI_MASK;
	}
	ret->may_be_irq = may_be_on_irq_stack(target, cpu);
	if (!read_variable(target, cpu, "__irq_regs", NULL, 8, &ret->interrupted))
		ret->interrupted = 0;
}
