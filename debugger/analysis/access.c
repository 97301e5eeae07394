// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/access.h"

#include "debugger/code/lower.h"
#include <stdlib.h>

#define INSTRUCTION_BYTES 15
#define REGISTERS	  16

/* Registers as the operations have them: those of the processor, and the two temporary ones. */
struct machine {
	const struct lowering *lowering;
	uint64_t values[LOWER_REGISTERS];
	bool known[LOWER_REGISTERS];
	uint64_t per_cpu; /* where this CPU's area lies */
	bool has_per_cpu;
};

static void load_registers(struct machine *machine, const struct frame *frame)
{
	for (unsigned int i = 0; i < REGISTERS; i++) {
		uint8_t number = machine->lowering->in_target[i];
		machine->known[i] = registers_has(&frame->registers, number);
		machine->values[i] = frame->registers.values[number];
	}
}

static bool is_known(const struct machine *machine, uint8_t reg)
{
	return reg == LOWER_NONE || (reg < LOWER_REGISTERS && machine->known[reg]);
}

static uint64_t value_of(const struct machine *machine, uint8_t reg)
{
	return reg == LOWER_NONE ? 0 : machine->values[reg];
}

/* Addresses wrap as the processor's do. */
static bool place_of(const struct machine *machine, const struct op *op, uint64_t *ret)
{
	if (!is_known(machine, op->base) || !is_known(machine, op->index) ||
	    (op->per_cpu && !machine->has_per_cpu))
		return false;
	*ret = value_of(machine, op->base) + value_of(machine, op->index) * op->scale +
	       (uint64_t)op->displacement + (op->per_cpu ? machine->per_cpu : 0);
	return true;
}

static void set(struct machine *machine, uint8_t reg, bool known, uint64_t value)
{
	if (reg >= LOWER_REGISTERS)
		return;
	machine->known[reg] = known;
	machine->values[reg] = value;
}

/* What the operation does to registers that a later one of the same instruction uses as a place. */
static void step(struct machine *machine, const struct op *op)
{
	uint64_t place;
	switch (op->kind) {
	case OP_ADDRESS: {
		bool known = place_of(machine, op, &place);
		set(machine, op->to, known, known ? place : 0);
		break;
	}
	case OP_MOVE:
		set(machine, op->to, op->size == 8 && is_known(machine, op->from),
		    is_known(machine, op->from) ? value_of(machine, op->from) : 0);
		break;
	case OP_CONSTANT:
		set(machine, op->to, true, (uint64_t)op->constant);
		break;
	case OP_LOAD:
	case OP_CHOOSE:
	case OP_NUMBER:
	case OP_SCALE:
		set(machine, op->to, false, 0);
		break;
	case OP_CLOBBER:
		for (unsigned int i = 0; i < REGISTERS; i++)
			if (op->constant >> i & 1)
				machine->known[i] = false;
		break;
	default:
		break;
	}
}

static bool accesses(const struct op *op)
{
	return op->kind == OP_LOAD || op->kind == OP_STORE || op->kind == OP_STORE_CONSTANT ||
	       op->kind == OP_TOUCH || op->kind == OP_CHANGE;
}

static void add(const struct machine *machine, const struct op *op, struct accesses *ret)
{
	uint64_t address;
	/* Of what is not modelled nothing is known but that it may write somewhere. */
	if (ret->count == ACCESSES_MAX || op->base == LOWER_SOMEWHERE ||
	    !place_of(machine, op, &address))
		return;
	struct access *access = &ret->items[ret->count++];
	*access = (struct access){ .address = address,
				   .size = op->size,
				   .is_write = op->kind != OP_LOAD && op->kind != OP_TOUCH,
				   .is_stack = op->base == machine->lowering->stack };
	access->has_base = op->base < REGISTERS;
	if (!access->has_base)
		return;
	access->base = machine->lowering->in_target[op->base];
	access->base_value = machine->values[op->base];
	access->displacement = (int64_t)(address - access->base_value);
}

static struct error *read_code(struct target *target, uint64_t pc, uint8_t *bytes, size_t *ret_size)
{
	struct error *why;
	*ret_size = memory_read_some(target->memory, pc, bytes, INSTRUCTION_BYTES, &why);
	if (!*ret_size)
		return error_as(ERROR_NOT_FOUND, error_prefix(why, "the instruction"));
	error_free(why);
	return NULL;
}

struct error *accesses_find(struct target *target, const struct cpu *cpu, const struct frame *frame,
			    struct accesses *ret)
{
	struct machine machine = { .lowering = lowering_find(target->arch->name),
				   .has_per_cpu = cpu,
				   .per_cpu = cpu ? cpu->per_cpu_offset : 0 };
	uint8_t bytes[INSTRUCTION_BYTES];
	struct code code = { .bytes = bytes, .address = frame->pc };
	struct ops ops;
	*ret = (struct accesses){ 0 };
	if (!machine.lowering)
		return error_create(ERROR_NOT_FOUND, "code of this processor is not understood");
	TRY(read_code(target, frame->pc, bytes, &code.size));
	bool has_memory = lowering_read(machine.lowering, &code, &ops);
	load_registers(&machine, frame);
	for (size_t i = 0; i < ops.count && !ops.items[i].at; i++) {
		const struct op *op = &ops.items[i];
		if (accesses(op))
			add(&machine, op, ret);
		ret->calls |= op->kind == OP_CALL_REGISTER || op->kind == OP_JUMP_REGISTER;
		step(&machine, op);
	}
	free(ops.items);
	return has_memory ? NULL : error_no_memory();
}
