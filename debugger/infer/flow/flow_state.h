/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known at one point of a function; for flow*.c. */
#ifndef DEBUGGER_INFER_FLOW_FLOW_STATE_H
#define DEBUGGER_INFER_FLOW_FLOW_STATE_H

#include "debugger/code/sweep.h"
#include "debugger/infer/flow/flow.h"

enum value_kind {
	VALUE_UNKNOWN,
	VALUE_CONSTANT, /* `number` */
	VALUE_POINTER,	/* to byte `number` of a `type` */
	VALUE_TYPED,	/* a `type` of `size` bytes that is no pointer */
	VALUE_LOADED,	/* the `size` bytes from address `number` */
	VALUE_ELEMENT,	/* `number` + n * `stride`, an address */
	VALUE_MEMBER,	/* what was loaded from such an address: `size` bytes */
	VALUE_SCALED,	/* `number` + n * `stride`, no address */
	VALUE_NUMBER,	/* some number that is no product, so no step of a larger index */
	VALUE_STACK,	/* `number` bytes above the stack pointer at entry */
	VALUE_OBJECT,	/* to byte `number` of the object `id` of flow.objects */
	VALUE_EITHER,	/* one of two, as paths join: value_origins() */
	VALUE_CPU_BASE	/* the offset of some CPU's area, plus `number` */
};

/* In `size`: an address that something was added to; a stride whose index may be a multiple. */
#define VALUE_MOVED 1
#define VALUE_LOOSE 1
/* In `level`, of what was loaded: its sign was extended to more bits. */
#define VALUE_SIGNED 1

struct value {
	uint8_t kind, size;
	uint16_t level;
	union {
		uint32_t id;	 /* of a type */
		uint32_t stride; /* bytes */
	};
	int64_t number;
	uint64_t from; /* of a pointer or a typed value: the global it was loaded from, 0: none */
};

#define SLOTS_MAX   40
#define ESCAPES_MAX 6

struct slot {
	int32_t offset; /* from the stack pointer at entry */
	uint32_t size;
	struct value value;
};

/* A part of the stack whose address is out of our hands. */
struct escape {
	int32_t start, end;
};

struct state {
	uint8_t slot_count, escape_count;
	struct value registers[LOWER_REGISTERS];
	struct escape escapes[ESCAPES_MAX];
	struct slot slots[SLOTS_MAX];
};

static inline struct value value_unknown(void)
{
	return (struct value){ .kind = VALUE_UNKNOWN };
}

static inline struct kind value_type(const struct value *value)
{
	return (struct kind){ value->level, value->id };
}

bool value_equal(const struct value *a, const struct value *b);
/* What an EITHER may be: two of CONSTANT, LOADED and MEMBER; of any other value, it alone. Returns
 * how many. */
int value_origins(const struct value *value, struct value ret[2]);

void state_reset(struct state *state);
void state_copy(struct state *to, const struct state *from);
/* The value where two paths meet: it may be either. */
struct value value_join(const struct value *a, const struct value *b, enum join how);
/* True: `to` changed. */
bool state_join(struct state *to, const struct state *from, enum join how);

/* The slot of that very place and size. */
struct value state_load(const struct state *state, int64_t offset, uint32_t size);
void state_store(struct state *state, int64_t offset, uint32_t size, struct value value);
/* Forgets [start, end). */
void state_forget(struct state *state, int64_t start, int64_t end);
/* Others may write [start, end) from now on. */
void state_escape(struct state *state, int64_t start, int64_t end);
/* They did. */
void state_forget_escaped(struct state *state);

#endif
