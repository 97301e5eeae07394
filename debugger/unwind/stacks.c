// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Bounds of stacks, by member names of BTF (kernel arch/x86/include/asm/{processor,
 * cpu_entry_area}.h). What cannot be found is left out: an unknown stack costs a name and a check.
 */
#include "debugger/unwind/stacks.h"

#include "base/array.h"
#include <stdio.h>
#include <string.h>

#define STACK_SIZE_LIMIT (1u << 20)

static void add(struct stacks *stacks, enum stack_kind kind, const char *name, uint64_t start,
		uint64_t size)
{
	if (!start || !size || size > STACK_SIZE_LIMIT || start + size < start ||
	    stacks->count == STACKS_MAX)
		return;
	struct stack_bounds *bounds = &stacks->bounds[stacks->count++];
	*bounds = (struct stack_bounds){ .kind = kind, .start = start, .end = start + size };
	snprintf(bounds->name, sizeof(bounds->name), "%s", name);
}

/* A pointer-sized per-CPU variable. */
static bool per_cpu_word(struct stacks *stacks, const char *name, uint64_t *ret)
{
	uint64_t address;
	if (!symtab_address(stacks->target->symbols, name, &address))
		return false;
	struct error *error = memory_read_word(stacks->target->memory,
					       address + stacks->cpu->per_cpu_offset, ret);
	error_free(error);
	return !error;
}

/* By itself, or in pcpu_hot (6.2 to 6.14). It points to the end, or 8 below it since 5.12. */
static void add_irq_stack(struct stacks *stacks)
{
	uint64_t top = 0, size = target_stack_size(stacks->target);
	struct object hot;
	if (!per_cpu_word(stacks, "hardirq_stack_ptr", &top)) {
		struct error *error = object_per_cpu(stacks->target, "pcpu_hot", "struct pcpu_hot",
						     stacks->cpu, &hot);
		if (!error)
			error = object_u64(&hot, "hardirq_stack_ptr", &top);
		error_free(error);
	}
	if (top)
		add(stacks, STACK_IRQ, "IRQ", ((top + 15) & ~(uint64_t)15) - size, size);
}

static void add_exception_stacks(struct stacks *stacks)
{
	static const struct {
		const char *member, *name;
	} known[] = { { "DF_stack", "#DF" },  { "NMI_stack", "NMI" }, { "DB_stack", "#DB" },
		      { "MCE_stack", "#MC" }, { "VC_stack", "#VC" },  { "VC2_stack", "#VC2" } };
	uint64_t address;
	struct object all, one;
	if (!per_cpu_word(stacks, "cea_exception_stacks", &address) || !address)
		return;
	struct error *error =
		object_at(stacks->target, "struct cea_exception_stacks", address, &all);
	for (size_t i = 0; !error && i < ARRAY_COUNT(known); i++) {
		uint64_t size;
		struct error *missing = object_member(&all, known[i].member, &one);
		if (!missing && type_size(one.type, &size))
			add(stacks, STACK_EXCEPTION, known[i].name, one.address, size);
		error_free(missing);
	}
	error_free(error);
}

#define CPU_ENTRY_AREA_BASE 0xfffffe0000000000u
#define ENTRY_PAGE	    4096u

/* The stack the CPU enters on from user mode, in its slot of the CPU entry area. */
static void add_entry_stack(struct stacks *stacks)
{
	uint64_t address, slot = stacks->cpu->number, size, offset, stack_bytes;
	struct object area, stack;
	/* Slots are random since 97e3d26b5e5f (6.2). */
	if (symtab_address(stacks->target->symbols, "_cea_offset", &address)) {
		uint32_t value;
		struct error *error = memory_read_u32(
			stacks->target->memory, address + stacks->cpu->per_cpu_offset, &value);
		error_free(error);
		if (error)
			return;
		slot = value;
	}
	struct error *error = object_at(stacks->target, "struct cpu_entry_area", 0, &area);
	if (!error)
		error = object_member(&area, "entry_stack_page", &stack);
	if (!error && type_size(area.type, &size) && type_size(stack.type, &stack_bytes)) {
		offset = stack.address;
		add(stacks, STACK_ENTRY, "ENTRY",
		    CPU_ENTRY_AREA_BASE + ENTRY_PAGE + slot * size + offset, stack_bytes);
	}
	error_free(error);
}

void stacks_init(struct stacks *stacks, struct target *target, const struct task *task,
		 const struct cpu *cpu)
{
	*stacks = (struct stacks){ .target = target, .cpu = cpu };
	if (task)
		add(stacks, STACK_TASK, "", task->stack, target_stack_size(target));
}

static const struct stack_bounds *find_known(const struct stacks *stacks, uint64_t sp)
{
	for (size_t i = 0; i < stacks->count; i++)
		if (sp >= stacks->bounds[i].start && sp < stacks->bounds[i].end)
			return &stacks->bounds[i];
	/* An empty stack's pointer is one past it; no two of them touch. */
	for (size_t i = 0; i < stacks->count; i++)
		if (sp == stacks->bounds[i].end)
			return &stacks->bounds[i];
	return NULL;
}

void stacks_load(struct stacks *stacks)
{
	if (!stacks->cpu || stacks->cpu_loaded)
		return;
	stacks->cpu_loaded = true;
	add_irq_stack(stacks);
	add_exception_stacks(stacks);
	add_entry_stack(stacks);
}

const struct stack_bounds *stacks_find(struct stacks *stacks, uint64_t sp)
{
	const struct stack_bounds *found = find_known(stacks, sp);
	if (found || !stacks->cpu || stacks->cpu_loaded)
		return found;
	stacks_load(stacks);
	return find_known(stacks, sp);
}
