/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Kinds of trace events: their names, the fields of their records, and the text that the kernel
 * would make of these (kernel include/linux/trace_events.h).
 */
#ifndef DEBUGGER_KERNEL_TRACE_EVENTS_H
#define DEBUGGER_KERNEL_TRACE_EVENTS_H

#include "debugger/target/object.h"

enum trace_field_kind {
	TRACE_NUMBER,
	TRACE_BYTES,	/* an array or a struct, in place; of chars a text */
	TRACE_DATA_LOC, /* a word says where in the record it is, and how long */
	TRACE_REL_LOC	/* the same from behind that word */
};

struct trace_field {
	char *name;
	char *type; /* in C, as `format` of tracefs has it */
	enum trace_field_kind kind;
	uint32_t offset, size;
	bool is_signed;
	bool is_text;
};

enum trace_event_kind {
	TRACE_EVENT_PLAIN,
	TRACE_EVENT_SYSCALL_ENTER,
	TRACE_EVENT_SYSCALL_EXIT,
	TRACE_EVENT_STACK,
	TRACE_EVENT_FUNCTION
};

struct trace_event_call {
	uint64_t address; /* of its struct trace_event_call */
	uint32_t type;	  /* the number that records have */
	uint64_t flags;	  /* TRACE_EVENT_FL_* */
	enum trace_event_kind kind;
	char *name, *system;
	/* Below: after trace_event_load(). */
	bool is_loaded;
	struct error *problem; /* why fields are missing; NULL */
	char *format;	       /* as `format` of tracefs has it behind "print fmt:" */
	char *syscall;	       /* its name, with sys_ in front */
	bool has_user_data;    /* what its arguments point at, too: its format prints that */
	struct trace_field *fields;
	size_t field_count;
};

struct trace_events;

/* All kinds, in the kernel's order. What is broken is told through walk.h's `broken`. */
struct trace_events_visitor {
	struct error *(*broken)(void *context, struct error *problem);
	void *context;
};
struct error *trace_events_load(struct target *target, const struct trace_events_visitor *visitor,
				struct trace_events **ret) MUST_CHECK;
void trace_events_destroy(struct trace_events *events);
size_t trace_events_count(const struct trace_events *events);
struct trace_event_call *trace_events_at(const struct trace_events *events, size_t index);
/* By the number of records; NULL: there is none. */
struct trace_event_call *trace_events_find(const struct trace_events *events, uint32_t type);
/* Its fields and format. Fatal errors only; else call->problem says what is missing. */
struct error *trace_event_load(struct target *target, struct trace_event_call *call) MUST_CHECK;

#endif
