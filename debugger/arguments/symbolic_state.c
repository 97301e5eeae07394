// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/arguments/symbolic_state.h"

bool symbolic_equal(const struct symbolic *a, const struct symbolic *b)
{
	return a->base == b->base && a->id == b->id && a->offset == b->offset && a->size == b->size;
}

void symbolic_enter(struct symbolic_state *state, const struct lowering *lowering)
{
	*state = (struct symbolic_state){ .escaped = INT32_MAX };
	for (uint32_t i = 0; i < LOWER_TEMPORARY; i++)
		state->registers[i] = (struct symbolic){ .base = BASE_ENTRY, .size = 8, .id = i };
	state->registers[lowering->stack] = (struct symbolic){ .base = BASE_STACK, .size = 8 };
}

static void remove_slot(struct symbolic_state *state, uint32_t index)
{
	state->slots[index] = state->slots[--state->slot_count];
}

static const struct symbolic_slot *find_slot(const struct symbolic_state *state, int32_t offset)
{
	for (uint32_t i = 0; i < state->slot_count; i++)
		if (state->slots[i].offset == offset)
			return &state->slots[i];
	return NULL;
}

/* Keeps what both values agree on, in as many bytes as both are known in. */
static bool join_value(struct symbolic *to, const struct symbolic *from)
{
	if (to->base == BASE_UNKNOWN || symbolic_equal(to, from))
		return false;
	if (to->base == from->base && to->id == from->id && to->offset == from->offset &&
	    !to->offset && to->base != BASE_NUMBER) {
		if (from->size >= to->size)
			return false;
		to->size = from->size;
		return true;
	}
	*to = (struct symbolic){ .base = BASE_UNKNOWN };
	return true;
}

bool symbolic_join(struct symbolic_state *to, const struct symbolic_state *from)
{
	bool changed = false;
	for (size_t i = 0; i < LOWER_REGISTERS; i++)
		changed |= join_value(&to->registers[i], &from->registers[i]);
	if (from->escaped < to->escaped) {
		to->escaped = from->escaped;
		changed = true;
	}
	for (uint32_t i = to->slot_count; i-- > 0;) {
		const struct symbolic_slot *other = find_slot(from, to->slots[i].offset);
		if (other && other->size == to->slots[i].size) {
			changed |= join_value(&to->slots[i].value, &other->value);
			if (to->slots[i].value.base != BASE_UNKNOWN)
				continue;
		}
		remove_slot(to, i);
		changed = true;
	}
	return changed;
}

static void forget_if(struct symbolic *value, uint32_t definition)
{
	if (value->base == BASE_SOME && value->id == definition)
		*value = (struct symbolic){ .base = BASE_UNKNOWN };
}

void symbolic_forget_definition(struct symbolic_state *state, uint32_t definition)
{
	for (size_t i = 0; i < LOWER_REGISTERS; i++)
		forget_if(&state->registers[i], definition);
	for (uint32_t i = state->slot_count; i-- > 0;) {
		forget_if(&state->slots[i].value, definition);
		if (state->slots[i].value.base == BASE_UNKNOWN)
			remove_slot(state, i);
	}
}

void symbolic_forget_slots(struct symbolic_state *state, int64_t start, int64_t end)
{
	for (uint32_t i = state->slot_count; i-- > 0;) {
		const struct symbolic_slot *slot = &state->slots[i];
		if (slot->offset < end && slot->offset + slot->size > start)
			remove_slot(state, i);
	}
}

struct symbolic symbolic_slot_value(const struct symbolic_state *state, int64_t offset,
				    uint32_t size)
{
	const struct symbolic_slot *slot = find_slot(state, (int32_t)offset);
	struct symbolic value = { .base = BASE_UNKNOWN };
	if (!slot || slot->offset != offset || slot->size < size)
		return value;
	value = slot->value;
	if (value.size > size && (value.offset || value.base == BASE_NUMBER))
		return (struct symbolic){ .base = BASE_UNKNOWN };
	value.size = value.size < size ? value.size : (uint8_t)size;
	return value;
}

/*
 * No object in C holds the very value that a register of the caller had: such a slot is where the
 * function saved it, and nobody's to write.
 */
static bool is_save(const struct symbolic *value, uint32_t kept_by_calls)
{
	return value->base == BASE_ENTRY && !value->offset && value->size == 8 &&
	       (kept_by_calls >> value->id & 1);
}

void symbolic_store(struct symbolic_state *state, int64_t offset, uint32_t size,
		    const struct symbolic *value, uint32_t kept_by_calls)
{
	symbolic_forget_slots(state, offset, offset + size);
	if (value->base == BASE_UNKNOWN || (size != 8 && size != 4) || offset < INT32_MIN ||
	    offset > 0 || state->slot_count == SYMBOLIC_SLOTS)
		return;
	if (offset + size > state->escaped && !is_save(value, kept_by_calls))
		return;
	struct symbolic kept = *value;
	if (kept.size > size) {
		if (kept.offset || kept.base == BASE_NUMBER)
			return;
		kept.size = (uint8_t)size;
	}
	state->slots[state->slot_count++] = (struct symbolic_slot){ .offset = (int32_t)offset,
								    .size = (uint8_t)size,
								    .value = kept };
}

void symbolic_escape(struct symbolic_state *state, int64_t offset, uint32_t kept_by_calls)
{
	if (offset < state->escaped)
		state->escaped = offset < INT32_MIN ? INT32_MIN : (int32_t)offset;
	for (uint32_t i = state->slot_count; i-- > 0;)
		if (state->slots[i].offset + state->slots[i].size > state->escaped &&
		    !is_save(&state->slots[i].value, kept_by_calls))
			remove_slot(state, i);
}
