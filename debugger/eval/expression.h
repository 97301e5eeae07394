/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * C expressions: from text to typed values. What is computed follows C with the target's sizes;
 * memory is only read, never written, and nothing of the kernel runs.
 */
#ifndef DEBUGGER_EVAL_EXPRESSION_H
#define DEBUGGER_EVAL_EXPRESSION_H

#include "debugger/eval/value.h"

struct variables;

#define EXPRESSION_SLICES_MAX 4

/*
 * A register by its name without the dollar ("rip"). *ret_found false: there is none of this name.
 * Errors: it exists, but its value is not known.
 */
typedef struct error *register_finder(void *context, const char *name, bool *ret_found,
				      struct value *ret);

/* What expressions may name besides what the target has; a session holds one. */
struct scope {
	struct target *target;	     /* borrowed */
	struct variables *variables; /* $name, $1, $; owned. NULL: none */
	uint64_t task; /* task_struct that is `current`; 0: of the CPU that panicked */
	register_finder *find_register; /* of the selected frame; NULL: none is selected */
	register_finder *find_argument; /* by its plain name, of a frame that was chosen; NULL */
	void *register_context;		/* of both */
};

struct error *scope_init(struct scope *scope, struct target *target) MUST_CHECK;
void scope_deinit(struct scope *scope);

/* One of the results of an expression. */
struct expression_result {
	const struct value *value; /* NULL: it could not be computed for this CPU or element */
	const struct error *error; /* then: why. Borrowed */
	bool has_cpu;		   /* it is one of several, by CPU */
	uint32_t cpu;
	size_t index_count; /* it is one of several, by the elements of so many slices */
	int64_t indices[EXPRESSION_SLICES_MAX];
	const char *note; /* for people: "3 symbols are called x; ...", NULL */
};

/*
 * One C expression of the debugger's grammar. An expression may have several results: var:a has one
 * a CPU, a[0..9].x one an element. The visitor is called for each; what is not in the dump is the
 * error of its own result then. Errors name the column.
 */
typedef struct error *expression_visitor(void *context, const struct expression_result *result);
/* A slice with nothing behind it, a[0..9], is an array, or for those who want its parts each. */
enum slice_meaning { SLICE_ARRAY, SLICE_ELEMENTS };
struct error *expression_evaluate(struct scope *scope, const char *text, enum slice_meaning slice,
				  expression_visitor *visit, void *context) MUST_CHECK;
/* Whether the visitor may be called more than once; false for what does not parse. */
bool expression_has_several(struct scope *scope, const char *text, enum slice_meaning slice);
/* The same with exactly one result. */
struct error *expression_value(struct scope *scope, const char *text, struct value *ret) MUST_CHECK;
/* The type of an expression, without reading memory: ret->type and ret->origin. */
struct error *expression_type(struct scope *scope, const char *text, struct value *ret) MUST_CHECK;
/*
 * An address operand of a command: symbol, number (hex without 0x too), &expr; +0x10 counts bytes.
 * A variable's address is meant, but a computed or followed pointer's value.
 */
struct error *expression_address(struct scope *scope, const char *text, uint64_t *ret) MUST_CHECK;

/*
 * A member of a value by the path behind it: "comm", "mm->pgd", "[3].x". Pointers are followed.
 * Columns of errors count within `path`.
 */
struct error *expression_member(struct scope *scope, const struct value *base, const char *path,
				struct value *ret) MUST_CHECK;
/*
 * An expression about a value: a plain name is a member of `base` where that has one so called,
 * else what it is anywhere.
 */
struct error *expression_about(struct scope *scope, const struct value *base, const char *text,
			       struct value *ret) MUST_CHECK;
struct error *expression_about_type(struct scope *scope, const struct value *base, const char *text,
				    struct value *ret) MUST_CHECK;
/* Its type, without reading memory. */
struct error *expression_member_type(struct scope *scope, const struct value *base,
				     const char *path, struct value *ret) MUST_CHECK;

#endif
