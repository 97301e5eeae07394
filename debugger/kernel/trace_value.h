/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The text of a record is made by its event's "print fmt": a format of printf's and, behind commas,
 * expressions of C over the members of REC, with a few functions that tracing has for them. Private
 * to trace_text.c, trace_expression.c and what these use.
 */
#ifndef DEBUGGER_KERNEL_TRACE_VALUE_H
#define DEBUGGER_KERNEL_TRACE_VALUE_H

#include "debugger/kernel/trace_buffer.h"
#include "debugger/kernel/trace_events.h"

enum trace_value_kind { TRACE_VALUE_NUMBER, TRACE_VALUE_TEXT, TRACE_VALUE_BYTES };

struct trace_value {
	enum trace_value_kind kind;
	uint64_t number;      /* sign-extended unless is_unsigned */
	bool is_unsigned;     /* of 64 bits */
	bool is_code;	      /* where a probe is */
	bool is_function;     /* and that is where the function begins, or nearly so */
	const char *text;     /* in the printer's arena */
	const uint8_t *bytes; /* of the record */
	size_t size, element; /* of them, and of one of an array */
};

#define TRACE_ARENA_SIZE 16384u

struct trace_printer {
	struct target *target;
	const struct trace_event_call *call;
	const struct trace_record *record;
	const char *at; /* in the format */
	unsigned int depth;
	size_t used; /* of the arena */
	char arena[TRACE_ARENA_SIZE];
};

/* The expression at printer->at, which is then behind it. False: it is beyond us. */
bool trace_expression(struct trace_printer *printer, struct trace_value *ret);
/* The string literals at printer->at, put together. */
bool trace_literal(struct trace_printer *printer, struct trace_value *ret);
/* Skips blanks; true and behind it, if `token` is next. */
bool trace_accept(struct trace_printer *printer, const char *token);
/* Text of the arena, to be filled; NULL: it is full. */
char *trace_room(struct trace_printer *printer, size_t size);
/* An operator of two numbers; the greater level binds closer. */
struct trace_operator {
	char text[3];
	uint8_t level;
};
/* The longest that `text` begins with; NULL: none. */
const struct trace_operator *trace_operator_at(const char *text);
/* left = left OPERATION right; false: it has no value. Both are numbers. */
bool trace_compute(const struct trace_operator *operation, struct trace_value *left,
		   const struct trace_value *right);
/* What a field has. */
bool trace_field_value(struct trace_printer *printer, const struct trace_field *field,
		       struct trace_value *ret);
const struct trace_field *trace_field_named(const struct trace_event_call *call, const char *name,
					    size_t length);
/* A size by a type's name, without BTF where C has it; 0: it is not known. */
uint64_t trace_type_size(struct target *target, const char *name, size_t length, bool *ret_signed);

#endif
