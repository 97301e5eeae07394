// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/arguments/equations.h"

#include "base/bytes.h"
#include <inttypes.h>

static uint64_t low_bytes(uint64_t value, uint32_t size)
{
	return size >= 8 ? value : value & (((uint64_t)1 << (8 * size)) - 1);
}

static struct error *contradiction(const char *what, uint64_t value, uint64_t other)
{
	return error_create(ERROR_FORMAT, "%s is 0x%" PRIx64 " and 0x%" PRIx64, what, value, other);
}

/* Learns that `symbolic`, in as many bytes as it holds for, is `value`. */
static struct error *learn(struct equations *equations, const struct symbolic *symbolic,
			   uint64_t value)
{
	uint64_t known;
	if (symbolic->base == BASE_UNKNOWN)
		return NULL;
	if (equations_value(equations, symbolic, symbolic->size, &known)) {
		if (known != low_bytes(value, symbolic->size))
			return contradiction("a value", known, value);
		return NULL;
	}
	if (symbolic->base != BASE_ENTRY && symbolic->base != BASE_SOME)
		return NULL;
	struct solved solved = { .base = symbolic->base,
				 .id = symbolic->id,
				 .size = symbolic->size,
				 .value = low_bytes(value - (uint64_t)symbolic->offset,
						    symbolic->size) };
	/* More bytes of one of which some were known. */
	for (size_t i = 0; i < equations->count; i++) {
		struct solved *old = &equations->solved[i];
		if (old->base != solved.base || old->id != solved.id)
			continue;
		if (low_bytes(solved.value, old->size) != old->value)
			return contradiction("a value", old->value, solved.value);
		*old = solved;
		return NULL;
	}
	if (equations->count < SOLVED_MAX)
		equations->solved[equations->count++] = solved;
	return NULL;
}

bool equations_value(const struct equations *equations, const struct symbolic *value, uint32_t size,
		     uint64_t *ret)
{
	if (value->base == BASE_UNKNOWN || value->size < size)
		return false;
	switch ((enum base_kind)value->base) {
	case BASE_NUMBER:
		*ret = low_bytes((uint64_t)value->offset, size);
		return true;
	case BASE_STACK:
		*ret = low_bytes(equations->entry + (uint64_t)value->offset, size);
		return equations->has_entry;
	case BASE_TASK:
		*ret = low_bytes(equations->task + (uint64_t)value->offset, size);
		return equations->task;
	default:
		break;
	}
	for (size_t i = 0; i < equations->count; i++) {
		const struct solved *solved = &equations->solved[i];
		if (solved->base != value->base || solved->id != value->id ||
		    solved->size < (value->offset ? 8 : size))
			continue;
		*ret = low_bytes(solved->value + (uint64_t)value->offset, size);
		return true;
	}
	return false;
}

#define CHAIN_MAX 4

static bool value_again(const struct equations *equations, const struct symbolic *value,
			struct memory *memory, unsigned int depth, uint64_t *ret)
{
	const struct symbolic_place *place = equations->place;
	uint32_t count = place->load_count < SYMBOLIC_LOADS ? place->load_count : SYMBOLIC_LOADS;
	if (equations_value(equations, value, 8, ret))
		return true;
	if (value->base != BASE_SOME || depth == CHAIN_MAX)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		const struct symbolic_load *load = &place->loads[i];
		uint64_t address, word;
		if (load->id != value->id ||
		    !value_again(equations, &load->address, memory, depth + 1, &address))
			continue;
		struct error *error = memory_read_u64(memory, address, &word);
		if (error) {
			error_free(error);
			return false;
		}
		*ret = word + (uint64_t)value->offset;
		return true;
	}
	return false;
}

bool equations_value_again(const struct equations *equations, const struct symbolic *value,
			   struct memory *memory, uint64_t *ret)
{
	return value_again(equations, value, memory, 0, ret);
}

/* The stack pointer at entry by what the stack pointer is now; it must be the caller's word too. */
static struct error *find_entry(struct equations *equations, const struct equation_frame *frame,
				const struct symbolic *stack)
{
	equations->has_entry = frame->has_entry;
	equations->entry = frame->entry;
	if (stack->base != BASE_STACK)
		return NULL;
	uint64_t entry = frame->sp - (uint64_t)stack->offset;
	if (frame->has_entry && entry != frame->entry)
		return contradiction("the stack pointer at entry", entry, frame->entry);
	equations->has_entry = true;
	equations->entry = entry;
	return NULL;
}

struct error *equations_solve(struct equations *equations, const struct equation_frame *frame,
			      const struct lowering *lowering)
{
	const struct symbolic_state *state = &equations->place->state;
	equations->count = 0;
	equations->task = frame->task;
	struct error *error = find_entry(equations, frame, &state->registers[lowering->stack]);
	for (unsigned int i = 0; i < 16 && !error; i++)
		if (i != lowering->stack && (frame->registers.known >> i & 1))
			error = learn(equations, &state->registers[i], frame->registers.values[i]);
	if (!equations->has_entry)
		return error;
	for (uint32_t i = 0; i < state->slot_count && !error; i++) {
		const struct symbolic_slot *slot = &state->slots[i];
		uint64_t value;
		struct error *why = memory_read_unsigned(
			frame->memory, equations->entry + (uint64_t)(int64_t)slot->offset,
			slot->size, &value);
		if (why)
			error_free(why);
		else
			error = learn(equations, &slot->value, value);
	}
	return error;
}
