// SPDX-License-Identifier: GPL-3.0-or-later
/* What code tells about globals, where a value of one is used as something that has a type. */
#include "base/array.h"
#include "debugger/infer/flow/flow_private.h"

#include <string.h>

/* --- findings -------------------------------------------------------------------------------- */

bool is_data(const struct flow *flow, int64_t number)
{
	return ((uint64_t)number >= flow->world->data_first &&
		(uint64_t)number < flow->world->data_last) ||
	       is_untyped_per_cpu(flow->world, (uint64_t)number);
}

static void report(struct flow *flow, const struct finding *finding)
{
	const struct flow_world *world = flow->world;
	bool is_wanted = (finding->address >= world->first && finding->address < world->last) ||
			 (world->emits_per_cpu && is_untyped_per_cpu(world, finding->address));
	if (!is_wanted)
		return;
	if (!array_reserve(&flow->findings, &flow->finding_capacity, flow->finding_count + 1)) {
		flow->out_of_memory = true;
		return;
	}
	struct finding *whole = &flow->findings[flow->finding_count++];
	*whole = *finding;
	whole->where = flow->function->code.address + flow->at;
}

void report_access(struct flow *flow, int64_t address, uint32_t size, const char *how)
{
	if (size)
		report(flow, &(struct finding){ .address = (uint64_t)address,
						.kind = CLUE_ACCESS,
						.size = size,
						.how = how });
}

/* A step that may be a multiple of itself says nothing of the elements. */
void report_stride(struct flow *flow, const struct value *element)
{
	if (element->stride && element->size != VALUE_LOOSE)
		report(flow, &(struct finding){ .address = (uint64_t)element->number,
						.kind = CLUE_STRIDE,
						.size = element->stride,
						.how = "indexed" });
}

void report_object(struct flow *flow, int64_t address, struct kind type, const char *how)
{
	enum btf_kind kind = kind_record(flow->world->levels, type).kind;
	uint32_t size = kind_size(flow->world->levels, type);
	/* A type of size 0 (lock classes without lockdep) proves nothing about its address. */
	if (size && kind != BTF_VOID && kind != BTF_FUNC_PROTO)
		report(flow, &(struct finding){ .address = (uint64_t)address,
						.kind = CLUE_OBJECT,
						.size = size,
						.type = type,
						.how = how });
}

void report_value(struct flow *flow, const struct value *value, struct kind type, bool points,
		  const char *how)
{
	report(flow, &(struct finding){ .address = (uint64_t)value->number,
					.kind = CLUE_VALUE,
					.size = value->size,
					.type = type,
					.points = points,
					.how = how });
}

/* A value that a global held, as that: UNKNOWN when it is none. */
struct value as_loaded(const struct value *value)
{
	if (value->kind == VALUE_LOADED || value->kind == VALUE_MEMBER)
		return *value;
	if (!value->from || value->kind == VALUE_EITHER)
		return value_unknown();
	return (struct value){ .kind = VALUE_LOADED,
			       .size = value->size,
			       .number = (int64_t)value->from };
}
/* What a value that is an address points at; none when that is not known. */
struct kind pointee_of(struct flow *flow, const struct value *value)
{
	const struct flow_world *world = flow->world;
	struct kind none = { 0, 0 }, type;
	struct callee callee = { .kind = CALLEE_UNKNOWN };
	int64_t offset;
	if (value->kind == VALUE_POINTER)
		return lay_object(&flow->lay, value_type(value), value->number);
	if (value->kind != VALUE_CONSTANT || !value->number)
		return none;
	if (is_data(flow, value->number)) {
		if (world->known(world->context, (uint64_t)value->number, &type, &offset))
			return lay_object(&flow->lay, type, offset);
		return none;
	}
	if (value->number < 0)
		world->callee(world->context, (uint64_t)value->number, &callee);
	return callee.kind == CALLEE_TYPED ? callee.prototype : none;
}
/* --- meetings -------------------------------------------------------------------------------- */

/*
 * An object on the stack whose address goes somewhere: what was put into it are its members. What
 * points into the stack again is left alone, lists point at themselves.
 */
static void meet_on_stack(struct flow *flow, int64_t start, struct kind type)
{
	const struct state *state = &flow->state;
	int64_t end = start + kind_size(flow->world->levels, type);
	for (uint8_t i = 0; i < state->slot_count; i++) {
		const struct slot *slot = &state->slots[i];
		if (slot->offset < start || slot->offset >= end || slot->value.kind == VALUE_STACK)
			continue;
		struct kind member = lay_scalar(&flow->lay, type, slot->offset - start, slot->size);
		if (member.id)
			meet(flow, &slot->value, member, "member of an argument on the stack");
	}
}

static void meet_pointer(struct flow *flow, const struct value *value, struct kind type,
			 const char *how)
{
	struct kind target = kind_target(flow->world->levels, type);
	struct value loaded = as_loaded(value);
	if (target.id && value->kind == VALUE_OBJECT)
		object_is(flow, value, target);
	else if (target.id && value->kind == VALUE_STACK)
		meet_on_stack(flow, value->number, target);
	if (loaded.kind != VALUE_UNKNOWN && loaded.size == 8) {
		report_value(flow, &loaded, kind_unqualified(flow->world->levels, type), false,
			     how);
	} else if (target.id && value->kind == VALUE_CONSTANT && is_data(flow, value->number)) {
		report_object(flow, value->number, target, how);
	} else if (target.id && value->kind == VALUE_ELEMENT && value->stride) {
		report_object(flow, value->number, target, how);
		report_stride(flow, value);
	}
}

static void meet_one(struct flow *flow, const struct value *value, struct kind type,
		     const char *how)
{
	struct btf_type record = kind_record(flow->world->levels, type);
	if (record.kind == BTF_PTR) {
		meet_pointer(flow, value, type, how);
		return;
	}
	struct value loaded = as_loaded(value);
	if (record.kind == BTF_INT && record.size == 8)
		counted_with(flow, value, 8, SIGN_UNKNOWN);
	if (loaded.kind != VALUE_UNKNOWN && loaded.size == kind_size(flow->world->levels, type) &&
	    (record.kind == BTF_INT || record.kind == BTF_ENUM || record.kind == BTF_ENUM64))
		report_value(flow, &loaded, kind_unqualified(flow->world->levels, type), false,
			     how);
}

void meet(struct flow *flow, const struct value *value, struct kind type, const char *how)
{
	struct value origins[2];
	if (value->kind == VALUE_UNKNOWN)
		return;
	for (int i = value_origins(value, origins); i-- > 0;)
		meet_one(flow, &origins[i], type, how);
}

void report_pointer(struct flow *flow, const struct value *value, const char *how)
{
	if (flow->world->pointer.id)
		report_value(flow, value, flow->world->pointer, false, how);
}

void used_as_address(struct flow *flow, const struct value *value, const char *how)
{
	struct value origins[2];
	if (value->size != 8)
		return;
	for (int i = value_origins(value, origins); i-- > 0;)
		if (origins[i].kind == VALUE_LOADED || origins[i].kind == VALUE_MEMBER)
			report_pointer(flow, &origins[i], how);
}

/* Elements of 8 bytes may be pointers, those of one are taken of anything. */
void used_as_numbers(struct flow *flow, const struct value *value, const struct op *op)
{
	struct value origins[2];
	if (value->size != 8 || (op->size != 2 && op->size != 4))
		return;
	struct kind type = flow->world->integers[__builtin_ctz(op->size)][op->sign == SIGN_SIGNED];
	for (int i = value_origins(value, origins); i-- > 0 && type.id;)
		if (origins[i].kind == VALUE_LOADED || origins[i].kind == VALUE_MEMBER)
			report_value(flow, &origins[i], type, true, "points at numbers");
}

/* Heads and nodes: where a loop over a list ends, its head is compared with what holds a node. */
static bool is_link(struct flow *flow, struct kind type)
{
	static const char *const links[] = { "list_head",    "hlist_head", "hlist_node",
					     "llist_head",   "llist_node", "hlist_bl_head",
					     "rb_node",	     "plist_node", "klist_node",
					     "callback_head" };
	const char *name = kind_record(flow->world->levels, type).name;
	for (size_t i = 0; i < ARRAY_COUNT(links); i++)
		if (!strcmp(name, links[i]))
			return true;
	return false;
}

static void compare_with(struct flow *flow, const struct value *value, const struct value *typed)
{
	static const char how[] = "compared";
	struct kind type = pointee_of(flow, typed);
	struct value origins[2];
	if (!type.id)
		return;
	for (int i = value_origins(value, origins); i-- > 0;) {
		struct value loaded = as_loaded(&origins[i]);
		if (loaded.kind != VALUE_UNKNOWN && loaded.size == 8) {
			report_value(flow, &loaded, type, true, how);
		} else if (origins[i].kind == VALUE_CONSTANT && is_data(flow, origins[i].number)) {
			struct kind innermost = lay_innermost(&flow->lay, type);
			report_object(flow, origins[i].number,
				      is_link(flow, innermost) ? innermost : type, how);
		}
	}
}

/* A pointer in a global that may point at itself, or right before itself: a list, empty or ended.
 */
static void compare_with_itself(struct flow *flow, const struct value *a, const struct value *b)
{
	struct value loaded = as_loaded(a);
	int64_t distance = (int64_t)((uint64_t)loaded.number - (uint64_t)b->number);
	bool is_one = loaded.kind == VALUE_LOADED && b->kind == VALUE_CONSTANT;
	bool is_element = loaded.kind == VALUE_MEMBER && b->kind == VALUE_ELEMENT && b->stride;
	if ((is_one || is_element) && is_data(flow, b->number) && (!distance || distance == 8) &&
	    flow->world->list_head.id)
		report_object(flow, b->number, flow->world->list_head, "compared with itself");
}

/* What an int or enum is compared with is most often of the same type. */
static void compare_numbers(struct flow *flow, const struct value *value, const struct value *typed)
{
	struct value origins[2];
	if (typed->kind != VALUE_TYPED || typed->size != 4)
		return;
	for (int i = value_origins(value, origins); i-- > 0;) {
		struct value loaded = as_loaded(&origins[i]);
		if (loaded.kind != VALUE_UNKNOWN && loaded.size == 4)
			report_value(flow, &loaded, value_type(typed), false, "compared");
	}
}

void compare(struct flow *flow, const struct op *op)
{
	const struct value *a = &flow->state.registers[op->to];
	const struct value *b = &flow->state.registers[op->from];
	flow->compared[0] = *a;
	flow->compared[1] = *b;
	flow->compared_size = op->size;
	counted_with(flow, a, op->size, SIGN_UNKNOWN);
	counted_with(flow, b, op->size, SIGN_UNKNOWN);
	if (a->kind == VALUE_UNKNOWN || b->kind == VALUE_UNKNOWN)
		return;
	if (op->size == 4) {
		compare_numbers(flow, a, b);
		compare_numbers(flow, b, a);
	}
	if (op->size != 8)
		return;
	compare_with(flow, a, b);
	compare_with(flow, b, a);
	compare_with_itself(flow, a, b);
	compare_with_itself(flow, b, a);
}

/* --- signs ----------------------------------------------------------------------------------- */

void report_sign(struct flow *flow, const struct value *value, enum sign sign, const char *how)
{
	struct value origins[2];
	for (int i = value_origins(value, origins); i-- > 0;) {
		struct value loaded = as_loaded(&origins[i]);
		/*
		 * Pointers and times are compared either way; the top bit of a byte is a flag; and
		 * small numbers of either sign are compared as int.
		 */
		if (loaded.kind == VALUE_UNKNOWN ||
		    (loaded.size != 4 && (loaded.size != 2 || sign != SIGN_SIGNED)))
			continue;
		bool is_signed = sign == SIGN_SIGNED;
		struct kind type = flow->world->integers[__builtin_ctz(loaded.size)][is_signed];
		if (type.id)
			report(flow, &(struct finding){ .address = (uint64_t)loaded.number,
							.kind = CLUE_VALUE,
							.size = loaded.size,
							.type = type,
							.shows_sign = is_signed,
							.how = how });
	}
}

void moved_as(struct flow *flow, const struct op *op)
{
	const struct value *value = &flow->state.registers[op->from];
	if (op->sign == SIGN_SIGNED && value->size == op->size)
		report_sign(flow, value, SIGN_SIGNED, "extended by its sign");
}

void compared_as(struct flow *flow, enum sign sign)
{
	if (sign == SIGN_UNKNOWN || !flow->compared_size)
		return;
	for (int i = 0; i < 2; i++)
		if (flow->compared[i].size == flow->compared_size)
			report_sign(flow, &flow->compared[i], sign,
				    sign == SIGN_SIGNED ? "compared as signed"
							: "compared as unsigned");
}

/*
 * Of 4 bytes that are used as 8, the upper half is 0 if nothing extended them by their sign: then
 * they have none.
 */
void counted_with(struct flow *flow, const struct value *value, uint8_t size, enum sign sign)
{
	if (value->kind != VALUE_LOADED && value->kind != VALUE_MEMBER)
		return;
	if (size == 8 && value->size == 4 && value->level != VALUE_SIGNED)
		report_sign(flow, value, SIGN_UNSIGNED, "extended by zeros");
	else if (size == value->size && sign != SIGN_UNKNOWN)
		report_sign(flow, value, sign,
			    sign == SIGN_SIGNED ? "divided as signed" : "divided as unsigned");
}

/* --- numbers --------------------------------------------------------------------------------- */

static void report_number(struct flow *flow, int64_t address, uint32_t size, struct kind type,
			  const char *how)
{
	struct value value = { .kind = VALUE_LOADED, .size = (uint8_t)size, .number = address };
	if (type.id)
		report_value(flow, &value, type, false, how);
}

static void counted_as(struct flow *flow, const struct op *op, int64_t address)
{
	const struct flow_world *world = flow->world;
	if (!op->locked) {
		/* Of 4 bytes it may have a sign or none. */
		if (op->size != 4)
			report_number(flow, address, op->size,
				      world->integers[__builtin_ctz(op->size)][0], "counted");
	} else if (op->size >= 4 && world->atomics[op->size == 8].id) {
		report_object(flow, address, world->atomics[op->size == 8],
			      "counted by all processors at once");
	}
}

void changed_as(struct flow *flow, const struct op *op, const struct value *place)
{
	const struct flow_world *world = flow->world;
	bool is_place = place->kind == VALUE_CONSTANT || place->stride;
	if (!is_place || !op->size || op->size > 8 || op->size & (op->size - 1))
		return;
	if (op->change == CHANGE_COUNT)
		counted_as(flow, op, place->number);
	else if (op->change == CHANGE_TRUTH && op->size == 1)
		report_number(flow, place->number, 1, world->truth, "true or false");
}

/* Storing 0 proves nothing: every type has a 0, and locks are released that way. */
void set_to(struct flow *flow, const struct op *op, const struct value *place)
{
	bool is_place = place->kind == VALUE_CONSTANT || place->stride;
	if (is_place && op->size == 1 && op->constant == 1)
		report_number(flow, place->number, 1, flow->world->truth, "set to true");
}

/* Of 8 bytes, pointers and flags are exchanged as well. */
void exchanged(struct flow *flow, const struct op *op, const struct value *place)
{
	struct kind atomic = flow->world->atomics[0];
	bool is_place = place->kind == VALUE_CONSTANT || place->stride;
	if (is_place && op->locked && op->size == 4 && atomic.id)
		report_object(flow, place->number, atomic, "exchanged for all processors at once");
}
