/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * BTF, read out of untrusted bytes. Formats: kernel include/uapi/linux/btf.h and
 * Documentation/bpf/btf.rst; ../shared/KERNEL-FORMATS.md section 4.
 *
 * A `struct btf` is one level: a blob that may continue a base (split BTF), any number of levels
 * deep. Ids below the level's start belong to the base, string offsets likewise; every function
 * here takes the id in the view of the level given. Id 0 is void.
 *
 * btf_open() checks the whole blob once: every record lies within, every id and string offset it
 * mentions exists, every member lies within its struct; a damaged one is taken for void or "". So
 * what follows cannot fail, except that chains of modifiers or nested arrays may still be cyclic:
 * the functions below bound their walks.
 */
#ifndef BTF_BTF_H
#define BTF_BTF_H

#include "base/bytes.h"
#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum btf_kind {
	BTF_VOID = 0,
	BTF_INT,
	BTF_PTR,
	BTF_ARRAY,
	BTF_STRUCT,
	BTF_UNION,
	BTF_ENUM,
	BTF_FWD,
	BTF_TYPEDEF,
	BTF_VOLATILE,
	BTF_CONST,
	BTF_RESTRICT,
	BTF_FUNC,
	BTF_FUNC_PROTO,
	BTF_VAR,
	BTF_DATASEC,
	BTF_FLOAT,
	BTF_DECL_TAG,
	BTF_TYPE_TAG,
	BTF_ENUM64,
	BTF_KIND_COUNT /* higher kinds are unknown to us: skipped when the layout section allows */
};

/* What a register holds: a number or a pointer. */
static inline bool btf_kind_is_scalar(enum btf_kind kind)
{
	return kind == BTF_INT || kind == BTF_PTR || kind == BTF_ENUM || kind == BTF_ENUM64;
}

/* Encoding bits of an integer. */
#define BTF_INT_SIGNED 1
#define BTF_INT_CHAR   2
#define BTF_INT_BOOL   4

struct btf;

/* A type in a level. Plain value; { NULL, 0 } is "no type". */
struct type {
	const struct btf *btf;
	uint32_t id;
};

/* One record, decoded. Borrowed from the btf. */
struct btf_type {
	const struct btf *btf; /* the level that holds the record */
	uint32_t id;
	enum btf_kind kind;
	bool kind_flag;
	uint32_t vlen; /* FUNC: linkage */
	uint32_t size; /* INT, FLOAT, STRUCT, UNION, ENUM, ENUM64, DATASEC: bytes */
	uint32_t
		type; /* PTR, TYPEDEF, modifiers, FUNC, FUNC_PROTO, VAR, tags: id; ARRAY: element */
	const char *name;	/* "" when anonymous, never NULL */
	const uint8_t *payload; /* what follows the 12 bytes */
	/* INT */
	uint8_t int_encoding, int_bits, int_offset;
	/* ARRAY */
	uint32_t array_count, array_index_type;
	/* VAR: linkage; DECL_TAG: component index */
	int32_t extra;
};

struct btf_member {
	const char *name; /* "" when anonymous */
	uint32_t type;
	uint32_t bit_offset;
	/* 0: not a bit-field. Old encoding (kind_flag 0, narrow INT) is folded in. In hostile BTF
	 * up to 255. */
	uint32_t bit_size;
};

struct btf_enumerator {
	const char *name;
	/* Unsigned enums: cast to uint64_t. Where no enum of the BTF is flagged as signed, the
	 * encoder was older than the flag and all 32-bit values are sign-extended. */
	int64_t value;
};

struct btf_param {
	const char *name;
	uint32_t type; /* the last one, with type 0 and no name: `...` */
};

struct btf_section_entry { /* of a DATASEC */
	uint32_t type;	   /* a VAR */
	uint32_t offset;
	uint32_t size;
};

/*
 * Borrows `data` (which must outlive the btf) and `base` (NULL for a base BTF).
 * `name` is copied: "vmlinux", a module's name, a file. The byte order comes from the magic.
 * Errors: ERROR_FORMAT naming the record and what is wrong with it.
 */
struct error *btf_open(const void *data, size_t size, const struct btf *base, const char *name,
		       struct btf **ret) MUST_CHECK;
/*
 * The same for what libbpf before 1.6 wrote on a base that is itself split: it counts the offsets
 * of own strings from the size of that level's strings alone.
 */
struct error *btf_open_old_strings(const void *data, size_t size, const struct btf *base,
				   const char *name, struct btf **ret) MUST_CHECK;
void btf_close(struct btf *btf);

const char *btf_name(const struct btf *btf);
const struct btf *btf_base(const struct btf *btf);
bool btf_is_big_endian(const struct btf *btf);
/* First id of this level (1 for a base), and one past its last. */
uint32_t btf_start_id(const struct btf *btf);
uint32_t btf_end_id(const struct btf *btf);
/* Length of the type section of this level, bytes. */
uint32_t btf_type_bytes(const struct btf *btf);
/* Length of the string section of this level, and where it starts in the joint offsets. */
uint32_t btf_string_start(const struct btf *btf);
uint32_t btf_string_size(const struct btf *btf);
/* Bytes of a pointer: found in the types ("long unsigned int"), 8 when they do not say. */
unsigned int btf_pointer_size(const struct btf *btf);

/*
 * What was lost when the BTF was opened, NULL: nothing. Names and ids that do not exist, members
 * that leave their struct and numbers of impossible sizes cost the type they are in. A record whose
 * length cannot be known (of a kind that neither we nor the layout section know, or damaged) ends
 * the level before it; ids beyond that end do not exist and count as void, and such a level cannot
 * be a base (btf_is_cut()).
 */
const char *btf_warning(const struct btf *btf);
bool btf_is_cut(const struct btf *btf);
/* "STRUCT", as bpftool says it; "UNKNOWN". */
const char *btf_kind_name(enum btf_kind kind);

/* False when there is no such id. Id 0 gives BTF_VOID. */
bool btf_get(const struct btf *btf, uint32_t id, struct btf_type *ret);
/* For records of the kinds that have them; false past the end. */
bool btf_member(const struct btf_type *type, uint32_t index, struct btf_member *ret);
/* The same with old bit-fields as they are stored: a narrow integer type, bit_size 0. */
bool btf_member_as_stored(const struct btf_type *type, uint32_t index, struct btf_member *ret);
bool btf_enumerator(const struct btf_type *type, uint32_t index, struct btf_enumerator *ret);
/* Of an ENUM or ENUM64: as it says, or for encoders before the flag as its values tell. */
bool btf_enum_is_signed(const struct btf_type *type);
/* Of an integer, also where pahole left the flag out; plain char is what the kernel made it. */
bool btf_int_is_signed(const struct btf_type *type);
bool btf_param(const struct btf_type *type, uint32_t index, struct btf_param *ret);
bool btf_section_entry(const struct btf_type *type, uint32_t index, struct btf_section_entry *ret);

/*
 * Look-up by name and kind, in this level and its bases, own level first. Call with *cursor = 0,
 * again with the same cursor for the next of equal names; 0 when there are no more. Kinds are
 * exact, except that BTF_ENUM finds ENUM64 too. Indexed lazily.
 */
uint32_t btf_find(const struct btf *btf, enum btf_kind kind, const char *name, uint64_t *cursor);
/*
 * The struct or union of a forward declaration's name, which may be a unit's own; false: it is not
 * in this BTF. As btf_find().
 */
bool btf_find_definition(const struct btf *btf, const struct btf_type *forward, struct type *ret);
/*
 * Makes now what is made when first asked for, of all levels: after it any number of threads may
 * ask, as long as none makes derived types.
 */
void btf_make_indexes(const struct btf *btf);
/* The first enumerator of the name, own level first, and its ENUM or ENUM64. A scan each time. */
bool btf_find_enumerator(const struct btf *btf, const char *name, uint32_t *ret_id,
			 struct btf_enumerator *ret);

/* --- walking types ------------------------------------------------------ */

/* Strips typedefs, const, volatile, restrict and type tags. A cycle gives void. */
struct type type_resolve(struct type type);
/* The same without typedefs. */
struct type type_unqualified(struct type type);
bool type_get(struct type type, struct btf_type *ret);		/* the record itself */
bool type_get_resolved(struct type type, struct btf_type *ret); /* of type_resolve() */
/* Integers and enums whose values may be negative. Not every encoder flags signed characters. */
bool type_is_signed(struct type type);
/* Size in bytes; false for void, functions, forward declarations, unknown kinds. */
bool type_size(struct type type, uint64_t *ret);
/* Natural alignment in bytes (of the members, recursively), 1 when unknown. */
uint32_t type_alignment(struct type type);
/* Target of a pointer, element of an array (through typedefs); false for others. */
bool type_target(struct type type, struct type *ret);
bool type_is_pointer(struct type type);
/*
 * Equal by structure and names, over levels: same definition even when a module repeats it. Named
 * types behind a pointer are not gone into: there the name decides.
 */
bool type_equal(struct type a, struct type b);
/* The same for many pairs: takes the records and members that it compared off *visits, and is false
 * at 0. */
bool type_equal_within(struct type a, struct type b, uint32_t *visits);

/*
 * Where a member is. Bits are numbered as the target does: bit 0 is the least significant of the
 * first byte, on big-endian targets its most significant.
 */
struct type_place {
	struct type type;
	uint64_t bit_offset;
	uint32_t bit_size; /* 0: not a bit-field */
};
/*
 * A direct member by name, through anonymous structs and unions. False when there is none.
 */
bool type_find_member(struct type type, const char *name, struct type_place *ret);
/*
 * A member path: "signal.thread_head", "mem[0].base"; never through pointers.
 * Errors: ERROR_NOT_FOUND naming the type and the member.
 */
struct error *type_find_path(struct type type, const char *path, struct type_place *ret) MUST_CHECK;

/*
 * The `bit_size` (at most 64) bits from `bit_offset` on, zero-extended; the caller has checked that
 * `data` holds them.
 */
uint64_t btf_load_bits(const uint8_t *data, uint64_t bit_offset, uint32_t bit_size,
		       bool big_endian);

/*
 * Types that the BTF does not spell out: pointers, arrays, constants of a type, built-in integers.
 * They live in a scratch level on top of `type.btf`, made when first asked for, owned by the btf,
 * and are interned (the same question gives the same id). Existing records are not searched.
 */
struct error *type_pointer_to(struct type type, struct type *ret) MUST_CHECK;
/* BTF_CONST, BTF_VOLATILE or BTF_RESTRICT of a type. */
struct error *type_qualified(struct type type, enum btf_kind modifier, struct type *ret) MUST_CHECK;
struct error *type_array_of(struct type type, uint32_t count, struct type *ret) MUST_CHECK;
/* An integer of `size` bytes: the BTF's own when it has one of the name. */
struct error *type_integer(const struct btf *btf, const char *name, uint32_t size, int encoding,
			   struct type *ret) MUST_CHECK;
/* Of types from one chain of levels; those of two modules do not mix. */
struct error *type_function(struct type result, const struct type *params, uint32_t count,
			    bool varargs, struct type *ret) MUST_CHECK;

/*
 * The C spelling of a type with an optional declared name: "struct list_head *",
 * "int (*fn)(void *)", "char comm[16]". Truncates at `size`, always terminated; returns the full
 * length as snprintf() does. Anonymous structs show as "struct {...}".
 */
size_t type_spell(struct type type, const char *declared, char *buffer, size_t size);

#endif
