// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Objects behind pointers that come without a type: kmalloc() returns void *, and what a clone or
 * one of several functions of a name takes is written down nowhere. Where such a pointer goes says
 * what it was all along, so the function is swept again with that.
 */
#include "debugger/infer/flow/flow_private.h"

#define BEGINNINGS_MAX 8 /* structs that begin with a struct that... */

static struct object *find_object(struct flow *flow, uint32_t id)
{
	for (uint8_t i = 0; i < flow->object_count; i++)
		if (flow->objects[i].id == id)
			return &flow->objects[i];
	return NULL;
}

/*
 * The type that was learned. What is accessed behind its end is larger: a member at the start was
 * meant.
 */
static bool is_learned(const struct flow *flow, const struct object *object)
{
	return object->type.id && !object->is_ambiguous &&
	       object->extent <= kind_size(flow->world->levels, object->type);
}

struct value object_value(struct flow *flow, uint32_t id)
{
	struct object *object = find_object(flow, id);
	if (!object) {
		if (flow->knows_objects || flow->object_count == OBJECTS_MAX)
			return value_unknown();
		object = &flow->objects[flow->object_count++];
		*object = (struct object){ .id = id };
	}
	if (flow->knows_objects && is_learned(flow, object))
		return (struct value){ .kind = VALUE_POINTER,
				       .size = 8,
				       .level = object->type.level,
				       .id = object->type.id };
	return (struct value){ .kind = VALUE_OBJECT, .size = 8, .id = id };
}

static bool begins_with(struct flow *flow, struct kind outer, struct kind inner)
{
	const struct levels *levels = flow->world->levels;
	struct btf_member member;
	for (int depth = 0; depth < BEGINNINGS_MAX; depth++) {
		struct btf_type record = kind_record(levels, outer);
		if (record.kind != BTF_STRUCT || !btf_member(&record, 0, &member))
			return false;
		outer = kind_unqualified(levels, kind_of(levels, outer.level, member.type));
		if (kind_is(outer, inner))
			return true;
	}
	return false;
}

void object_is(struct flow *flow, const struct value *value, struct kind type)
{
	struct object *object = find_object(flow, value->id);
	enum btf_kind kind = kind_record(flow->world->levels, type).kind;
	if (flow->knows_objects || !object || value->number ||
	    (kind != BTF_STRUCT && kind != BTF_UNION))
		return;
	type = kind_unqualified(flow->world->levels, type);
	if (!object->type.id) {
		object->type = type;
		return;
	}
	if (kind_is(object->type, type))
		return;
	/* One type may be the first member of the other: the larger one is the object's. */
	struct kind known = object->type;
	uint32_t old = kind_size(flow->world->levels, known);
	uint32_t new = kind_size(flow->world->levels, type);
	object->type = new > old ? type : known;
	struct kind inner = new > old ? known : type;
	object->is_ambiguous |= !begins_with(flow, object->type, inner);
}

void object_reaches(struct flow *flow, const struct value *value, int64_t end)
{
	struct object *object = find_object(flow, value->id);
	if (!object || end <= object->extent)
		return;
	object->extent = end > UINT32_MAX ? UINT32_MAX : (uint32_t)end;
}

bool objects_learned(const struct flow *flow)
{
	for (uint8_t i = 0; i < flow->object_count; i++)
		if (is_learned(flow, &flow->objects[i]))
			return true;
	return false;
}
