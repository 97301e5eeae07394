// SPDX-License-Identifier: GPL-3.0-or-later
/* Values: what is known of them, and what arithmetic, loads and stores make of them. */
#include "debugger/infer/flow/flow_private.h"

#include <string.h>

/* Array elements are not larger than STRIDE_MAX, offsets into the stack than STACK_MAX. */
#define STRIDE_MAX 65536
#define STACK_MAX  (1 << 24)
/* Members are not further than this from the start of their struct. */
#define MEMBERS_MAX 65536

static int64_t add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* --- what becomes of values ------------------------------------------------------------------ */

struct value value_of_type(struct flow *flow, struct kind type)
{
	const struct levels *levels = flow->world->levels;
	struct btf_type record = kind_record(levels, type);
	struct value value = { .kind = VALUE_TYPED, .size = 8 };
	if (record.kind == BTF_PTR) {
		type = kind_target(levels, type);
		value.kind = VALUE_POINTER;
	} else if (record.kind == BTF_INT || record.kind == BTF_ENUM || record.kind == BTF_ENUM64) {
		value.size = (uint8_t)record.size;
		type = kind_unqualified(levels, type);
	} else {
		return value_unknown();
	}
	if (!type.id || value.size > 8)
		return value_unknown();
	value.level = type.level;
	value.id = type.id;
	return value;
}

struct value value_cut(const struct value *value, uint8_t size)
{
	if (size == 8)
		return *value;
	switch ((enum value_kind)value->kind) {
	case VALUE_NUMBER:
		return *value;
	case VALUE_TYPED:
	case VALUE_LOADED:
	case VALUE_MEMBER:
		return value->size <= size ? *value : value_unknown();
	case VALUE_SCALED:
		return size == 4 ? *value : value_unknown();
	case VALUE_EITHER:
		if (value->size <= size)
			return *value;
		return size < 4 ? (struct value){ .kind = VALUE_NUMBER } : value_unknown();
	case VALUE_CONSTANT:
		if (size == 4 && value->number >= 0 && value->number <= INT32_MAX)
			return *value;
		return value_unknown();
	case VALUE_UNKNOWN:
	case VALUE_OBJECT:
		if (size < 4)
			return (struct value){ .kind = VALUE_NUMBER };
		return value_unknown();
	default:
		return value_unknown();
	}
}

static struct value scaled(int64_t stride, int64_t number, uint8_t looseness)
{
	if (stride < 1 || stride > STRIDE_MAX || number < -STRIDE_MAX || number > STRIDE_MAX)
		return value_unknown();
	return (struct value){ .kind = VALUE_SCALED,
			       .size = looseness,
			       .stride = (uint32_t)stride,
			       .number = number };
}

struct value value_scale(const struct value *value, int64_t factor)
{
	int64_t number;
	if (factor < 0 || factor > STRIDE_MAX)
		return value_unknown();
	switch ((enum value_kind)value->kind) {
	case VALUE_CONSTANT:
		return (struct value){ .kind = VALUE_CONSTANT,
				       .number = (int64_t)((uint64_t)value->number *
							   (uint64_t)factor) };
	case VALUE_SCALED:
		/* What was added to it may be any number of the code. */
		if (__builtin_mul_overflow(value->number, factor, &number))
			return value_unknown();
		return scaled(value->stride * factor, number, value->size);
	case VALUE_UNKNOWN:
	case VALUE_OBJECT:
	case VALUE_EITHER:
		return scaled(factor, 0, VALUE_LOOSE);
	case VALUE_TYPED:
	case VALUE_NUMBER:
	case VALUE_LOADED:
	case VALUE_MEMBER:
		return scaled(factor, 0, 0);
	default:
		return value_unknown();
	}
}

static struct value pointer_to(struct kind type, int64_t offset)
{
	if (!type.id)
		return value_unknown();
	return (struct value){ .kind = VALUE_POINTER,
			       .size = 8,
			       .level = type.level,
			       .id = type.id,
			       .number = offset };
}

/* A per-CPU variable, `number` bytes into the area of some CPU. */
static struct value per_cpu_pointer(struct flow *flow, int64_t number)
{
	const struct flow_world *world = flow->world;
	struct kind type;
	int64_t offset;
	if (world->per_cpu(world->context, (uint64_t)number, &type, &offset))
		return pointer_to(type, offset);
	struct value place = { .kind = VALUE_CONSTANT,
			       .number = add(number, (int64_t)world->per_cpu_base) };
	return is_untyped_per_cpu(world, (uint64_t)place.number) ? place : value_unknown();
}

/* An element of an untyped per-CPU array: its index times the step was added to the offset. */
static struct value per_cpu_element(const struct flow *flow, const struct value *scaled)
{
	const struct flow_world *world = flow->world;
	struct value element = { .kind = VALUE_ELEMENT,
				 .size = scaled->size,
				 .stride = scaled->stride,
				 .number = add(scaled->number, (int64_t)world->per_cpu_base) };
	return is_untyped_per_cpu(world, (uint64_t)element.number) ? element : value_unknown();
}

/*
 * `n * stride + number` added to a global's address: an element of it. "ns[i - 2]" makes the number
 * negative: the index is never so small that the variable in front of it is meant.
 */
static struct value element_of_global(struct value scaled, int64_t address)
{
	int64_t step = (int64_t)scaled.stride;
	int64_t offset = scaled.number < 0 ? (scaled.number % step + step) % step : scaled.number;
	return (struct value){ .kind = VALUE_ELEMENT,
			       .size = scaled.size,
			       .stride = scaled.stride,
			       .number = add(address, offset) };
}

static struct value add_number(struct flow *flow, struct value value, int64_t number)
{
	switch ((enum value_kind)value.kind) {
	case VALUE_CONSTANT:
		/* A loop may come back with it. */
		value.size = number && is_data(flow, value.number) ? VALUE_MOVED : value.size;
		value.number = add(value.number, number);
		return value;
	case VALUE_POINTER:
	case VALUE_ELEMENT:
		value.from = number ? 0 : value.from;
		value.number = add(value.number, number);
		return value;
	case VALUE_OBJECT:
		if (is_data(flow, number))
			return (struct value){ .kind = VALUE_ELEMENT, .number = number };
		value.number = add(value.number, number);
		return value;
	case VALUE_STACK:
		value.number = add(value.number, number);
		if (value.number > -STACK_MAX && value.number < STACK_MAX)
			return value;
		return value_unknown();
	case VALUE_SCALED:
		if (is_data(flow, number))
			return element_of_global(value, number);
		if (is_data(flow, add(value.number, number)))
			return (struct value){ .kind = VALUE_ELEMENT,
					       .size = value.size,
					       .stride = value.stride,
					       .number = add(value.number, number) };
		return scaled(value.stride, add(value.number, number), value.size);
	case VALUE_CPU_BASE: {
		struct value pointer = per_cpu_pointer(flow, add(value.number, number));
		if (pointer.kind != VALUE_UNKNOWN)
			return pointer;
		value.number = add(value.number, number);
		return value;
	}
	case VALUE_UNKNOWN:
	case VALUE_TYPED:
	case VALUE_NUMBER:
	case VALUE_LOADED:
	case VALUE_MEMBER:
	case VALUE_EITHER:
		/* An index that is not known, into a global. */
		if (is_data(flow, number))
			return (struct value){ .kind = VALUE_ELEMENT, .number = number };
	}
	return number ? value_unknown() : value;
}

/* base + index, where neither is a number. */
static struct value add_values(struct flow *flow, const struct value *a, const struct value *b)
{
	int64_t offset;
	if (a->kind == VALUE_CONSTANT)
		return add_number(flow, *b, a->number);
	if (b->kind == VALUE_CONSTANT)
		return add_number(flow, *a, b->number);
	const struct value *pointer = a->kind == VALUE_POINTER ? a : b;
	const struct value *other = pointer == a ? b : a;
	if (pointer->kind == VALUE_POINTER) {
		/* A per-CPU pointer, on some CPU. */
		if (other->kind == VALUE_CPU_BASE && !other->number)
			return *pointer;
		if (other->kind != VALUE_SCALED)
			return value_unknown();
		struct kind element = lay_element(&flow->lay, value_type(pointer),
						  add(pointer->number, other->number),
						  other->stride, &offset);
		return pointer_to(element, offset);
	}
	if (a->kind == VALUE_SCALED && b->kind == VALUE_SCALED && a->stride == b->stride)
		return scaled(a->stride, add(a->number, b->number), a->size | b->size);
	return value_unknown();
}

/* base + index * scale + displacement, where the index is there. */
static struct value indexed_place(struct flow *flow, const struct op *op)
{
	const struct value *registers = flow->state.registers;
	struct value base = { .kind = VALUE_CONSTANT }, index = registers[op->index];
	if (op->base != LOWER_NONE)
		base = registers[op->base];
	if (op->index == op->base &&
	    (base.kind == VALUE_UNKNOWN || base.kind == VALUE_OBJECT || base.kind == VALUE_EITHER))
		return add_number(flow, scaled(op->scale + 1, 0, VALUE_LOOSE), op->displacement);
	if (op->scale != 1)
		index = value_scale(&index, op->scale);
	/* Of an object, the array is at the displacement. */
	struct value *pointer = base.kind == VALUE_POINTER ? &base : &index;
	if (pointer->kind == VALUE_POINTER) {
		*pointer = add_number(flow, *pointer, op->displacement);
		return add_values(flow, &base, &index);
	}
	/* A global with two indexes. */
	if (op->base != LOWER_NONE && is_data(flow, op->displacement))
		return value_unknown();
	return add_number(flow, add_values(flow, &base, &index), op->displacement);
}

struct value value_of_place(struct flow *flow, const struct op *op)
{
	struct value place = { .kind = VALUE_CONSTANT };
	if (op->base != LOWER_NONE)
		counted_with(flow, &flow->state.registers[op->base], 8, SIGN_UNKNOWN);
	if (op->index != LOWER_NONE) {
		counted_with(flow, &flow->state.registers[op->index], 8, SIGN_UNKNOWN);
		place = indexed_place(flow, op);
	} else {
		if (op->base != LOWER_NONE)
			place = flow->state.registers[op->base];
		place = add_number(flow, place, op->displacement);
	}
	if (!op->per_cpu)
		return place;
	if (place.kind == VALUE_CONSTANT)
		return per_cpu_pointer(flow, place.number);
	if (place.kind == VALUE_SCALED)
		return per_cpu_element(flow, &place);
	return place.kind == VALUE_POINTER ? place : value_unknown();
}

/* --- what is known of a global --------------------------------------------------------------- */

/* The scalar in a known global at a place; none when the global is not known. */
static bool known_scalar(struct flow *flow, const struct value *place, uint32_t size,
			 struct kind *ret)
{
	struct kind type;
	int64_t offset;
	if (!flow->world->known(flow->world->context, (uint64_t)place->number, &type, &offset))
		return false;
	if (place->kind == VALUE_ELEMENT)
		type = lay_element(&flow->lay, type, offset, place->stride, &offset);
	*ret = lay_scalar(&flow->lay, type, offset, size);
	return true;
}

/* --- memory ---------------------------------------------------------------------------------- */

static bool is_offset_array(const struct flow *flow, const struct value *place)
{
	const struct flow_world *world = flow->world;
	return world->per_cpu_offsets && (uint64_t)place->number == world->per_cpu_offsets;
}

static struct value load_global(struct flow *flow, const struct value *place, const struct op *op)
{
	struct kind type;
	uint32_t size = op->size;
	if (!is_data(flow, place->number))
		return value_unknown();
	if (place->kind == VALUE_ELEMENT && is_offset_array(flow, place) && size == 8)
		return (struct value){ .kind = VALUE_CPU_BASE, .size = 8 };
	report_access(flow, place->number, size, "read");
	if (place->kind == VALUE_ELEMENT)
		report_stride(flow, place);
	struct value value = { .kind = place->kind == VALUE_ELEMENT ? VALUE_MEMBER : VALUE_LOADED,
			       .size = (uint8_t)size,
			       .level = op->sign == SIGN_SIGNED ? VALUE_SIGNED : 0,
			       .number = place->number };
	if (op->sign == SIGN_SIGNED)
		report_sign(flow, &value, SIGN_SIGNED, "extended by its sign");
	bool is_vague = place->kind == VALUE_ELEMENT && !place->stride;
	struct value typed = value_unknown();
	if (known_scalar(flow, place, size, &type))
		typed = value_of_type(flow, type);
	typed.from = is_vague ? 0 : (uint64_t)place->number;
	if (typed.kind != VALUE_UNKNOWN)
		return typed;
	return is_vague ? value_unknown() : value;
}

/* An access through what a global held, or through an object of which no type is known. */
static void use_base(struct flow *flow, const struct op *op, const struct value *place)
{
	if (place->kind == VALUE_OBJECT)
		object_reaches(flow, place, add(place->number, op->size));
	bool is_sure = op->index == LOWER_NONE || op->scale > 1;
	if (op->base < LOWER_TEMPORARY && is_sure && !op->per_cpu &&
	    op->displacement > -MEMBERS_MAX && op->displacement < MEMBERS_MAX)
		used_as_address(flow, &flow->state.registers[op->base], "used as an address");
	if (op->base < LOWER_TEMPORARY && op->index != LOWER_NONE && op->scale == op->size &&
	    !op->displacement && !op->per_cpu)
		used_as_numbers(flow, &flow->state.registers[op->base], op);
}

struct value flow_load(struct flow *flow, const struct op *op)
{
	if (op->per_cpu && op->base == LOWER_NONE && op->index == LOWER_NONE &&
	    (uint64_t)op->displacement == flow->world->this_cpu_offset)
		return (struct value){ .kind = VALUE_CPU_BASE, .size = 8 };
	struct value place = value_of_place(flow, op), some = { .kind = VALUE_NUMBER };
	struct kind type;
	switch ((enum value_kind)place.kind) {
	case VALUE_POINTER:
		type = lay_scalar(&flow->lay, value_type(&place), place.number, op->size);
		return type.id ? value_of_type(flow, type) : some;
	case VALUE_CONSTANT:
	case VALUE_ELEMENT:
		return load_global(flow, &place, op);
	case VALUE_STACK:
		return state_load(&flow->state, place.number, op->size);
	default:
		use_base(flow, op, &place);
		return some;
	}
}

/* unsigned long is what addresses are cast to: __get_free_pages() returns it, pointers keep it. */
static bool is_plain_long(struct flow *flow, const struct value *value)
{
	struct btf_type record;
	return value->size == 8 &&
	       type_get(kind_type(flow->world->levels, value_type(value)), &record) &&
	       record.kind == BTF_INT;
}

/* The global at `place` gets a value of a type that is known. */
static void store_typed(struct flow *flow, const struct value *place, uint32_t size,
			const struct value *value)
{
	struct value target = { .kind = VALUE_LOADED,
				.size = (uint8_t)size,
				.number = place->number };
	if (value->kind == VALUE_TYPED) {
		if (value->size == size && !is_plain_long(flow, value))
			report_value(flow, &target, value_type(value), false, "stored");
		return;
	}
	if (value->kind == VALUE_OBJECT && size == 8 && value->id < OBJECT_UNTYPED)
		report_pointer(flow, &target, "stored");
	struct kind type = size == 8 ? pointee_of(flow, value) : (struct kind){ 0, 0 };
	if (type.id)
		report_value(flow, &target, type, true, "stored");
}

static void store_global(struct flow *flow, const struct value *place, uint32_t size,
			 const struct value *value)
{
	struct kind type;
	if (!is_data(flow, place->number))
		return;
	report_access(flow, place->number, size, "written");
	if (place->kind == VALUE_ELEMENT)
		report_stride(flow, place);
	if (known_scalar(flow, place, size, &type))
		meet(flow, value, type, "stored to a variable");
	if (place->kind != VALUE_ELEMENT || place->stride)
		store_typed(flow, place, size, value);
}

void flow_store(struct flow *flow, const struct op *op, struct value value)
{
	struct value place = value_of_place(flow, op);
	if (op->size == 8 && place.kind != VALUE_STACK)
		counted_with(flow, &value, 8, SIGN_UNKNOWN);
	/* The address of a stack slot is stored: from now on anybody may write to the slot. */
	if (value.kind == VALUE_STACK && place.kind != VALUE_STACK)
		state_escape(&flow->state, value.number, INT32_MAX);
	switch ((enum value_kind)place.kind) {
	case VALUE_POINTER:
		if (value.kind != VALUE_UNKNOWN)
			meet(flow, &value,
			     lay_scalar(&flow->lay, value_type(&place), place.number, op->size),
			     "stored to a member");
		break;
	case VALUE_CONSTANT:
	case VALUE_ELEMENT:
		store_global(flow, &place, op->size, &value);
		if (op->kind == OP_STORE_CONSTANT && is_data(flow, place.number))
			set_to(flow, op, &place);
		if (is_data(flow, place.number))
			exchanged(flow, op, &place);
		break;
	case VALUE_STACK:
		state_store(&flow->state, place.number, op->size,
			    op->size == 8 ? value : value_cut(&value, op->size));
		break;
	default:
		use_base(flow, op, &place);
		state_forget_escaped(&flow->state);
		break;
	}
}

void flow_touch(struct flow *flow, const struct op *op)
{
	struct value place = value_of_place(flow, op);
	bool writes = op->kind == OP_CHANGE;
	switch ((enum value_kind)place.kind) {
	case VALUE_CONSTANT:
	case VALUE_ELEMENT:
		if (!is_data(flow, place.number))
			break;
		/* Of flags of any size, the byte that has the bit is enough. */
		if (op->change != CHANGE_BITS || op->size >= 4)
			report_access(flow, place.number, op->size, writes ? "written" : "read");
		if (place.kind == VALUE_ELEMENT)
			report_stride(flow, &place);
		changed_as(flow, op, &place);
		break;
	case VALUE_STACK:
		if (writes)
			state_forget(&flow->state, place.number,
				     op->size ? place.number + op->size : INT32_MAX);
		break;
	default:
		use_base(flow, op, &place);
		if (writes)
			state_forget_escaped(&flow->state);
		break;
	}
}
