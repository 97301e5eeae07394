/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Typed values: a place in memory with a type, or a scalar that an expression computed.
 */
#ifndef DEBUGGER_EVAL_VALUE_H
#define DEBUGGER_EVAL_VALUE_H

#include "base/out.h"
#include "debugger/eval/flag_names.h"
#include "debugger/eval/render.h"
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
	const char *bytes;	       /* a string literal: not in memory; of the type's size */
	uint64_t raw_size;	       /* bytes up to the next symbol, 0 unknown */
	bool at_most;		       /* an array whose length nothing proves */
	enum type_origin origin;
	/* The symbol that all of it is, not a part, cast or copy of one: its number in the table.
	 */
	bool is_symbol;
	uint32_t symbol;
	const struct flag_names *flags; /* of a member's bits; NULL: they have none */
};

/* The resolved record; false when the type is unknown. */
bool value_record(const struct value *value, struct btf_type *ret);
/* Scalar of a value: integers, enums, pointers, bools, extended to 64 bits; of arrays and
 * functions, the address. ERROR_USAGE for others. */
struct error *value_u64(const struct value *value, uint64_t *ret) MUST_CHECK;
bool value_is_signed(const struct value *value);
/* A variable whose array may be shorter: nothing proves its length. */
bool value_length_is_open(const struct value *value);
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

/* --- definitions (definition.c) -------------------------------------------------- */
/* The definition of a struct, union or enum with offsets and sizes; other types are spelled. */
struct error *definition_render(struct out *out, const char *key, struct type type) MUST_CHECK;

#endif
