/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Layouts of structs and unions: where the members are, and the holes, cache lines, packing and
 * forced alignment that follow from it. What is shown and how is the format of pahole (dwarves
 * 1.24), whose text many know and tools read.
 *
 * BTF keeps neither packing nor alignment; both are inferred from the offsets, and what one type
 * says of another is remembered, so that the order in which types are shown can matter.
 */
#ifndef BTF_LAYOUT_H
#define BTF_LAYOUT_H

#include "base/out.h"
#include "base/strbuf.h"
#include "btf/btf.h"

#define CACHE_LINE 64 /* bytes */
/* Deepest nesting of members that is shown in place. */
#define LAYOUT_NESTING_MAX 24
/* Members shown in one go: hostile types branch without end. */
#define LAYOUT_MEMBERS_MAX (1u << 16)

/* A member in its place. Bytes from the start of the struct, unless it says bits. */
struct btf_layout_member {
	const char *name; /* "" when anonymous */
	struct type type;
	uint32_t bit_offset;
	uint32_t bit_size;  /* 0: not a bit-field */
	uint32_t offset;    /* of a bit-field: of the unit of its type that holds it */
	uint32_t first_bit; /* of a bit-field, in that unit */
	uint64_t size;	    /* of the type; 0 unknown */
	uint32_t alignment; /* forced, as far as the offset shows; 0: none */
	uint64_t hole;	    /* bytes behind the member that nobody has */
	uint32_t bit_hole;  /* bits likewise, before the bytes */
};

struct btf_record_layout {
	struct btf_layout_member *members;
	uint32_t count;
	uint64_t size;			/* of the type */
	uint64_t hole, padding;		/* before the first member, behind the last */
	uint32_t bit_hole, bit_padding; /* likewise, bits */
	uint32_t hole_count, bit_hole_count;
	uint32_t alignment; /* forced, of the whole; 0: none */
};

/* What is known of the types of one BTF while their layouts are asked for. */
struct btf_layouts;

/* NULL without memory. Borrows `btf`. */
struct btf_layouts *btf_layouts_create(const struct btf *btf);
void btf_layouts_destroy(struct btf_layouts *layouts);

/* Of a struct or union record of the BTF. Caller calls btf_layout_deinit(). */
struct error *btf_layout_find(struct btf_layouts *layouts, const struct btf_type *record,
			      struct btf_record_layout *ret) MUST_CHECK;
void btf_layout_deinit(struct btf_record_layout *layout);

/* Bytes that end a struct unused; 0 for other types. */
uint64_t btf_layout_padding(struct btf_layouts *layouts, struct type type);
/* Alignment that the members' types ask for, at least 1. */
uint32_t btf_layout_natural_alignment(struct btf_layouts *layouts, struct type type);
/* Whether a struct must have been packed to look like this. */
bool btf_layout_is_packed(struct btf_layouts *layouts, const struct btf_type *record);
/* A union shows of its members whether they must be packed: remembers these. */
void btf_layout_note_union(struct btf_layouts *layouts, const struct btf_type *record);

struct btf_layout_style {
	bool as_pahole;	   /* text for text; else types are spelled as C has them */
	bool expand;	   /* types of members are shown in place */
	const char *alias; /* "typedef struct {...} ALIAS;", NULL: no typedef */
};

/* The line of one member, with a tab, at an offset of its own choice. */
struct error *btf_layout_member_text(struct btf_layouts *layouts,
				     const struct btf_layout_style *style,
				     const struct type_place *place, const char *name,
				     struct strbuf *ret) MUST_CHECK;
/* "struct x {", members, numbers, "};" and a newline, of a struct or union. */
struct error *btf_layout_text(struct btf_layouts *layouts, const struct btf_layout_style *style,
			      const struct btf_type *record, struct strbuf *ret) MUST_CHECK;
/*
 * The same as fields of the object that is open: kind, name, size, members, numbers. Does nothing
 * where `out` is for people.
 */
struct error *btf_layout_fields(struct btf_layouts *layouts, const struct btf_layout_style *style,
				const struct btf_type *record, struct out *out) MUST_CHECK;

/*
 * Text and fields of one type, into the object that is open. `buffer` is for the text, empty
 * before and after, so that many types can share it.
 */
struct error *btf_layout_render(struct btf_layouts *layouts, const struct btf_layout_style *style,
				const struct btf_type *record, struct strbuf *buffer,
				struct out *out) MUST_CHECK;

/* --- spelling as pahole has it (btf_layout_spell.c) ------------------------------------ */

/* A type's name without declarator. */
void btf_layout_spell(struct strbuf *text, struct type type);
/* A function type around a name: "int                        (*name)(void)". */
void btf_layout_spell_function(struct strbuf *text, struct type type, const char *name,
			       bool is_pointer, int width);
/* The type of a function pointer; false for others. */
bool btf_layout_is_function_pointer(struct type type, struct type *ret);

#endif
