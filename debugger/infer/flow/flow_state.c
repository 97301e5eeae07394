// SPDX-License-Identifier: GPL-3.0-or-later
/* Values, stack slots, and how they merge. */
#include "debugger/infer/flow/flow_state.h"

#include <string.h>

/* Array elements are not larger than this. */
#define STRIDE_MAX 65536

static bool is_alike(const struct value *a, const struct value *b)
{
	return a->kind == b->kind && a->size == b->size && a->level == b->level && a->id == b->id &&
	       a->number == b->number && (a->kind != VALUE_EITHER || a->from == b->from);
}

_Static_assert(sizeof(struct value) == 24, "no padding: values are compared as bytes");

bool value_equal(const struct value *a, const struct value *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* --- joins ----------------------------------------------------------------------------------- */

static bool is_null(const struct value *value)
{
	return value->kind == VALUE_CONSTANT && !value->number;
}

/* Whether the value may as well be NULL without being something else. */
static bool takes_null(const struct value *value)
{
	bool is_pointer = value->kind == VALUE_POINTER || value->kind == VALUE_OBJECT;
	return (is_pointer && !value->number) || value->kind == VALUE_LOADED ||
	       value->kind == VALUE_MEMBER;
}

static bool is_small(int64_t number)
{
	return number >= -STRIDE_MAX && number <= STRIDE_MAX;
}

/* A constant that a loop comes back with, increased by a step. */
static struct value join_step(const struct value *a, const struct value *b)
{
	int64_t low = a->number < b->number ? a->number : b->number;
	uint64_t step = (uint64_t)a->number - (uint64_t)b->number;
	if ((int64_t)step < 0)
		step = -step;
	bool is_index = is_small(a->number) && is_small(b->number);
	/* Else these are two different things. */
	bool moves = is_index || a->size == VALUE_MOVED || b->size == VALUE_MOVED;
	if (!step || step > STRIDE_MAX || !moves)
		return value_unknown();
	return (struct value){ .kind = is_index ? VALUE_SCALED : VALUE_ELEMENT,
			       .stride = (uint32_t)step,
			       .number = low };
}

static bool is_address(int64_t number)
{
	return number < -4096 && number >= -((int64_t)1 << 47);
}

static bool is_stepped(const struct value *value)
{
	return value->kind == VALUE_ELEMENT || value->kind == VALUE_SCALED;
}

/*
 * What a variable may hold from here on is used as that variable whichever way was taken, so what
 * is learned there is true of both. `number` and `from` are the two numbers, the halves of `level`
 * their kinds.
 */
static bool can_be_either(const struct value *value)
{
	return value->kind == VALUE_LOADED || value->kind == VALUE_MEMBER ||
	       (value->kind == VALUE_CONSTANT && is_address(value->number));
}

static uint8_t either_size(const struct value *value)
{
	return value->kind == VALUE_CONSTANT ? 8 : value->size;
}

int value_origins(const struct value *value, struct value ret[2])
{
	ret[0] = *value;
	for (int i = 0; i < 2 && value->kind == VALUE_EITHER; i++) {
		uint8_t kind = (uint8_t)(value->level >> i * 8);
		ret[i] = (struct value){ .kind = kind,
					 .size = kind == VALUE_CONSTANT ? 0 : value->size,
					 .number = i ? (int64_t)value->from : value->number };
	}
	return value->kind == VALUE_EITHER ? 2 : 1;
}

static struct value join_origins(const struct value *a, const struct value *b)
{
	/* Only two alternatives are kept: a third one is dropped. */
	if (a->kind == VALUE_EITHER && can_be_either(b) && a->size == either_size(b))
		return *a;
	if (b->kind == VALUE_EITHER && can_be_either(a) && b->size == either_size(a))
		return *b;
	if (!can_be_either(a) || !can_be_either(b) || either_size(a) != either_size(b))
		return value_unknown();
	return (struct value){ .kind = VALUE_EITHER,
			       .size = either_size(a),
			       .level = (uint16_t)(a->kind | b->kind << 8),
			       .number = a->number,
			       .from = (uint64_t)b->number };
}

struct value value_join(const struct value *a, const struct value *b, enum join how)
{
	if (is_alike(a, b)) {
		struct value joined = *a;
		joined.from = a->from == b->from ? a->from : 0;
		return joined;
	}
	if (is_null(a) && takes_null(b))
		return *b;
	if (is_null(b) && takes_null(a))
		return *a;
	if (a->kind == VALUE_CONSTANT && b->kind == VALUE_CONSTANT && a->number == b->number)
		return a->size ? *b : *a;
	if (how == JOIN_WIDEN)
		return value_unknown();
	if (a->kind == VALUE_CONSTANT && b->kind == VALUE_CONSTANT && how == JOIN_BACKWARD) {
		struct value stepped = join_step(a, b);
		return stepped.kind == VALUE_UNKNOWN ? join_origins(a, b) : stepped;
	}
	/* Other elements of the same array. */
	const struct value *stepped = is_stepped(a) ? a : b, *other = stepped == a ? b : a;
	if (!is_stepped(stepped) || !stepped->stride)
		return join_origins(a, b);
	bool alike = other->kind == VALUE_CONSTANT ||
		     (other->kind == stepped->kind && other->stride == stepped->stride);
	uint64_t step = (uint64_t)stepped->number - (uint64_t)other->number;
	if (!alike || (int64_t)step % (int64_t)stepped->stride)
		return value_unknown();
	struct value joined = *stepped;
	joined.size |= other->kind == stepped->kind ? other->size : 0;
	if (other->number < joined.number)
		joined.number = other->number;
	/* No index begins there: it is a number of something else. */
	if (joined.kind == VALUE_SCALED && !is_small(joined.number))
		return value_unknown();
	return joined;
}

static bool join_registers(struct state *to, const struct state *from, enum join how)
{
	bool changed = false;
	for (int i = 0; i < LOWER_TEMPORARY; i++) {
		struct value *value = &to->registers[i];
		if (value->kind == VALUE_UNKNOWN || value_equal(value, &from->registers[i]))
			continue;
		struct value joined = value_join(value, &from->registers[i], how);
		changed |= !value_equal(value, &joined);
		*value = joined;
	}
	return changed;
}

static bool join_slots(struct state *to, const struct state *from, enum join how)
{
	bool changed = false;
	uint8_t kept = 0;
	for (uint8_t i = 0; i < to->slot_count; i++) {
		struct slot slot = to->slots[i];
		struct value other = state_load(from, slot.offset, slot.size);
		struct value joined = value_join(&slot.value, &other, how);
		changed |= !value_equal(&joined, &slot.value);
		slot.value = joined;
		if (joined.kind != VALUE_UNKNOWN)
			to->slots[kept++] = slot;
	}
	to->slot_count = kept;
	return changed;
}

bool state_join(struct state *to, const struct state *from, enum join how)
{
	bool changed = join_registers(to, from, how);
	changed |= join_slots(to, from, how);
	for (uint8_t i = 0; i < from->escape_count; i++) {
		struct escape before = to->escapes[0];
		uint8_t count = to->escape_count;
		state_escape(to, from->escapes[i].start, from->escapes[i].end);
		changed |= count != to->escape_count ||
			   (count && before.start != to->escapes[0].start);
	}
	return changed;
}

void state_reset(struct state *state)
{
	state->slot_count = state->escape_count = 0;
	memset(state->registers, 0, sizeof(state->registers));
}

void state_copy(struct state *to, const struct state *from)
{
	memcpy(to, from, offsetof(struct state, slots) + from->slot_count * sizeof(struct slot));
}

/* --- the stack ------------------------------------------------------------------------------- */

struct value state_load(const struct state *state, int64_t offset, uint32_t size)
{
	for (uint8_t i = 0; i < state->slot_count; i++)
		if (state->slots[i].offset == offset && state->slots[i].size == size)
			return state->slots[i].value;
	return value_unknown();
}

void state_forget(struct state *state, int64_t start, int64_t end)
{
	uint8_t kept = 0;
	for (uint8_t i = 0; i < state->slot_count; i++) {
		const struct slot *slot = &state->slots[i];
		if (slot->offset >= end || slot->offset + (int64_t)slot->size <= start)
			state->slots[kept++] = *slot;
	}
	state->slot_count = kept;
}

void state_store(struct state *state, int64_t offset, uint32_t size, struct value value)
{
	state_forget(state, offset, offset + size);
	if (value.kind == VALUE_UNKNOWN || state->slot_count == SLOTS_MAX || offset < INT32_MIN ||
	    offset > INT32_MAX)
		return;
	state->slots[state->slot_count++] = (struct slot){ (int32_t)offset, size, value };
}

static int32_t clamp(int64_t number)
{
	return number < INT32_MIN ? INT32_MIN : number > INT32_MAX ? INT32_MAX : (int32_t)number;
}

void state_escape(struct state *state, int64_t start, int64_t end)
{
	struct escape new = { clamp(start), clamp(end) };
	for (uint8_t i = 0; i < state->escape_count; i++)
		if (state->escapes[i].start <= new.start && state->escapes[i].end >= new.end)
			return;
	if (state->escape_count < ESCAPES_MAX) {
		state->escapes[state->escape_count++] = new;
		return;
	}
	/* Too many to keep apart: everything. */
	state->escapes[0] = (struct escape){ INT32_MIN, INT32_MAX };
}

void state_forget_escaped(struct state *state)
{
	for (uint8_t i = 0; i < state->escape_count; i++)
		state_forget(state, state->escapes[i].start, state->escapes[i].end);
}
