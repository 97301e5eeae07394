/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Typed values: a place in memory with a type, or a scalar that an expression computed.
 */
#ifndef DEBUGGER_EVAL_VALUE_H
#define DEBUGGER_EVAL_VALUE_H

#include "base/out.h"
#include "debugger/target/target.h"

struct value {
	struct target *target;
	/*
	 * { NULL, 0 }: unknown. In memory: raw bytes, `raw_size` of them; else an unsigned word
	 * (only in a target without BTF).
	 */
	struct type type;
	bool in_memory; /* at `address`; else `scalar` */
	uint64_t address;
	uint32_t bit_offset, bit_size; /* of a bit-field, from `address`; bit_size 0: none */
	uint64_t scalar;	       /* zero- or sign-extended to 64 bits as the type says */
	uint64_t raw_size;	       /* bytes up to the next symbol, 0 unknown */
	enum type_origin origin;
};

/* The resolved record; false when the type is unknown. */
bool value_record(const struct value *value, struct btf_type *ret);
/* Scalar of a value: integers, enums, pointers, bools, extended to 64 bits; of arrays and
 * functions, the address. ERROR_USAGE for others. */
struct error *value_u64(const struct value *value, uint64_t *ret) MUST_CHECK;
bool value_is_signed(const struct value *value);
/*
 * A variable whose array ends only where the next symbol begins: its length is at most that, for
 * nobody but BTF proves more.
 */
bool value_fills_room(const struct value *value);
bool type_is_signed(struct type type);
/* "struct list_head", for messages. */
const char *value_type_name(const struct value *value, char *buffer, size_t size);
/*
 * The definition behind a forward declaration, from the kernel or a module: `type` itself when it
 * is complete or nobody has one.
 */
struct type type_completed(struct target *target, struct type type);
/* Element I of an array, the member of a struct: in memory. */
struct error *value_member(const struct value *value, const char *name,
			   struct value *ret) MUST_CHECK;
/* What a pointer points to. ERROR_USAGE when it is none, or points to void. */
struct error *value_follow(const struct value *value, struct value *ret) MUST_CHECK;

/* Bits [bit_offset, bit_offset + bit_size) of bytes in the machine's order, at most 64. */
uint64_t load_bits(const uint8_t *bytes, uint32_t bit_offset, uint32_t bit_size, bool big_endian);
uint64_t sign_extend(uint64_t value, uint32_t bits);

/* --- expressions (expression.c) ---------------------------------------------- */

/* One of the results of an expression. */
struct expression_result {
	const struct value *value; /* NULL: it could not be computed for this CPU */
	const struct error *error; /* then: why. Borrowed */
	bool has_cpu;		   /* it is one of several, by CPU */
	uint32_t cpu;
	const char *note; /* for people: "3 symbols are called x; ...", NULL */
};

/*
 * One C expression of the debugger's grammar. An expression may have several results (var:a): the
 * visitor is called for each. Errors name the column.
 */
typedef struct error *expression_visitor(void *context, const struct expression_result *result);
struct error *expression_evaluate(struct target *target, const char *text,
				  expression_visitor *visit, void *context) MUST_CHECK;
/* The same with exactly one result. */
struct error *expression_value(struct target *target, const char *text,
			       struct value *ret) MUST_CHECK;
/* The type of an expression, without reading memory: ret->type and ret->origin. */
struct error *expression_type(struct target *target, const char *text,
			      struct value *ret) MUST_CHECK;
/*
 * An address operand of a command: symbol, number (hex without 0x too), &expr; +0x10 counts bytes.
 * A variable's address is meant, but a computed or followed pointer's value.
 */
struct error *expression_address(struct target *target, const char *text, uint64_t *ret) MUST_CHECK;

/* --- rendering (render.c) ------------------------------------------------------ */
struct render_options {
	bool hexadecimal;
	unsigned int depth;	   /* levels of nesting shown, 0: all */
	unsigned int array_limit;  /* elements shown, 0: all */
	unsigned int string_limit; /* bytes shown */
};
extern const struct render_options render_defaults;
/*
 * Writes the value: C syntax with designated members in text, objects and arrays in JSON. Parts
 * that cannot be read are shown in their places; an error only when nothing can.
 */
struct error *value_render(struct out *out, const char *key, const struct value *value,
			   const struct render_options *options) MUST_CHECK;

/* --- definitions (definition.c) -------------------------------------------------- */
/* The definition of a struct, union or enum with offsets and sizes; other types are spelled. */
struct error *definition_render(struct out *out, const char *key, struct type type) MUST_CHECK;

#endif
