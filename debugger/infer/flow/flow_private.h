/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between flow*.c. */
#ifndef DEBUGGER_INFER_FLOW_FLOW_PRIVATE_H
#define DEBUGGER_INFER_FLOW_FLOW_PRIVATE_H

#include "debugger/infer/flow/flow_state.h"

/*
 * What a pointer that came without a type points at: the result of a call (`at` its instruction),
 * or an argument of a function whose prototype is not proved. Wherever it meets a type it is
 * learned.
 */
#define OBJECTS_MAX	64
#define OBJECT_UNTYPED	0x40000000u /* from here on it may be no pointer at all */
#define OBJECT_ARGUMENT 0x80000000u /* + the number of the register */
struct object {
	uint32_t id;
	uint32_t extent;  /* bytes that are accessed */
	struct kind type; /* id 0: not learned */
	bool is_ambiguous;
};

#define ARGUMENTS_MAX 8

/* What a prototype types of the arguments in registers, and of the result. */
struct arguments {
	struct kind prototype; /* id 0: empty */
	struct value result;   /* VALUE_OBJECT: a pointer without a type */
	uint8_t count;
	uint8_t registers[ARGUMENTS_MAX];
	struct kind types[ARGUMENTS_MAX];
};
#define ARGUMENTS_CACHE 512 /* a power of two */

struct flow {
	const struct flow_world *world;
	void *emit_context;
	struct decoder *decoder;
	struct lay lay;
	struct arguments arguments[ARGUMENTS_CACHE];
	struct ops ops;
	struct sweep sweep;
	const struct flow_function *function;
	struct state state;
	bool observes; /* this is the last sweep, and somebody looks */
	uint32_t at;
	struct finding *findings; /* of this sweep */
	size_t finding_count, finding_capacity;
	bool out_of_memory;
	struct object objects[OBJECTS_MAX];
	uint8_t object_count;
	bool knows_objects;	  /* what was learned of them counts */
	struct value compared[2]; /* what the branches that follow depend on */
	uint8_t compared_size;	  /* 0: nothing */
};

/* --- objects (flow_object.c) ----------------------------------------------------------------- */

struct value object_value(struct flow *flow, uint32_t id);
/* It went where a pointer to `type` belongs. */
void object_is(struct flow *flow, const struct value *value, struct kind type);
/* Its bytes up to `end` were accessed. */
void object_reaches(struct flow *flow, const struct value *value, int64_t end);
/* False: nothing was learned. */
bool objects_learned(const struct flow *flow);

/* --- values (flow_value.c) ------------------------------------------------------------------- */

/* What a value of a type is known to be. */
struct value value_of_type(struct flow *flow, struct kind type);
/* The low `size` bytes, extended. */
struct value value_cut(const struct value *value, uint8_t size);
struct value value_scale(const struct value *value, int64_t factor);
/* The address of an operation's place. */
struct value value_of_place(struct flow *flow, const struct op *op);
struct value flow_load(struct flow *flow, const struct op *op);
void flow_store(struct flow *flow, const struct op *op, struct value value);
void flow_touch(struct flow *flow, const struct op *op);

/* --- meetings (flow_meet.c) ------------------------------------------------------------------ */

/* The place of a per-CPU variable that BTF leaves untyped. */
static inline bool is_untyped_per_cpu(const struct flow_world *world, uint64_t number)
{
	return number >= world->per_cpu_first && number < world->per_cpu_last;
}
bool is_data(const struct flow *flow, int64_t number);
void report_access(struct flow *flow, int64_t address, uint32_t size, const char *how);
void report_stride(struct flow *flow, const struct value *element);
void report_value(struct flow *flow, const struct value *value, struct kind type, bool points,
		  const char *how);
/* The value is used as an address, but of what type of object is not known. */
void report_pointer(struct flow *flow, const struct value *value, const char *how);
/* The value, if it was loaded from a global; else UNKNOWN. */
struct value as_loaded(const struct value *value);
/* What a value that is an address points at; none when that is not known. */
struct kind pointee_of(struct flow *flow, const struct value *value);
/* A value goes where a `type` belongs. */
void meet(struct flow *flow, const struct value *value, struct kind type, const char *how);
void compare(struct flow *flow, const struct op *op);
/* The arguments that a format stands for. */
void pass_formatted(struct flow *flow, struct kind prototype);
void report_object(struct flow *flow, int64_t address, struct kind type, const char *how);
/* How a number is extended, and asked about, tells whether it has a sign. */
void moved_as(struct flow *flow, const struct op *op);
void compared_as(struct flow *flow, enum sign sign);
/* Its low `size` bytes are used as a number. */
void counted_with(struct flow *flow, const struct value *value, uint8_t size, enum sign sign);
void report_sign(struct flow *flow, const struct value *value, enum sign sign, const char *how);
/* What is read or written at `value` plus something makes that an address. */
void used_as_address(struct flow *flow, const struct value *value, const char *how);
/* The same of numbers that lie there side by side. */
void used_as_numbers(struct flow *flow, const struct value *value, const struct op *op);
/* How a global is changed tells what kind of number it is. */
void changed_as(struct flow *flow, const struct op *op, const struct value *place);
/* The same of a constant that is stored. */
void set_to(struct flow *flow, const struct op *op, const struct value *place);
/* What all processors agree on by compare-and-exchange is an atomic_t. */
void exchanged(struct flow *flow, const struct op *op, const struct value *place);

#endif
