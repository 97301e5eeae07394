/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The BTF of one view, laid out for the solver's questions, which come by the million: what lies at
 * an offset of a type, and which types hold a given one. Ids are of the view (a module's are the
 * kernel's and its own); all that come back are resolved: no typedefs, no qualifiers.
 */
#ifndef DEBUGGER_INFER_LAYOUT_LAYOUT_H
#define DEBUGGER_INFER_LAYOUT_LAYOUT_H

#include "base/hash.h"
#include "btf/btf.h"
#include <stddef.h>

/* A member. Of an array: `type` is the element, `offset` the count. Of a pointer: its target. */
/* Structs that hold a type, from which on it is a part of many: a list, a lock, a counter. */
#define HELD_BY_MANY 40

struct field {
	uint32_t type;
	uint32_t offset;   /* bytes */
	uint32_t bit_size; /* 0: not a bit-field */
};

/* A struct or union that has a member of the type asked about, or an array of them. */
struct holder {
	uint32_t type;
	uint32_t size; /* of that */
	uint32_t offset;
	uint32_t count; /* elements; 1: not an array */
	uint32_t next;	/* HOLDER_NONE */
	uint32_t upper; /* the first holder of `type` itself, HOLDER_NONE */
};
#define HOLDER_NONE UINT32_MAX

struct layout_record {
	uint32_t resolved, size; /* size 0: none */
	uint32_t first_field, field_count;
	/* What it is shown as, 0: itself. Of anonymous types a typedef, of the base's a copy. */
	uint32_t named;
	uint32_t name; /* hash of the name, 0: none */
	uint8_t kind;
	uint8_t encoding; /* of integers */
	uint16_t alignment;
	bool is_ordered;  /* a struct whose members begin where the one before ends, or later */
	bool is_referred; /* by other types, not counting const and volatile */
	bool has_const;	  /* something is a constant of this type, or an array of them */
	uint32_t pointer; /* a PTR record to this type, 0: none */
	uint32_t holders; /* first, HOLDER_NONE */
	uint32_t held_by; /* how many holders */
};

struct changes {
	uint32_t *ids;
	size_t count, capacity;
	bool failed; /* no memory */
};

struct layout {
	const struct btf *btf;
	uint32_t end;		   /* ids */
	uint32_t first;		   /* id that is not of the base */
	size_t first_field;	   /* the same of fields */
	const struct layout *base; /* that was copied, NULL */
	struct layout_record *records;
	size_t record_capacity;
	struct changes changes; /* ids of the base whose records are no longer as there */
	struct field *fields;
	size_t field_count, field_capacity;
	struct holder *holders; /* of one type: of this level, then of the base, small ones first */
	size_t holder_count, holder_capacity;
	size_t first_holder; /* that is not of the base */
	uint32_t list_head, hlist_node, raw_spinlock, spinlock, cpumask; /* ids, 0: none */
	uint32_t rwlock;    /* what a rwlock_t consists of */
	uint32_t character; /* `char`: by its name, its sign differs (-funsigned-char since 6.2) */
	struct outlines *outlines;
	struct hash_index prototypes; /* the FUNC_PROTOs that differ */
};

/* `base`: of the level below, copied; NULL: none at hand. */
struct error *layout_create(const struct btf *btf, const struct layout *base,
			    struct layout **ret) MUST_CHECK;
/*
 * The same in place of *layout, which is of another level on that base, or NULL: what was copied of
 * the base is taken over. NULL after an error.
 */
struct error *layout_replace(const struct btf *btf, const struct layout *base,
			     struct layout **layout) MUST_CHECK;
void layout_destroy(struct layout *layout);

static inline uint32_t layout_resolve(const struct layout *layout, uint32_t id)
{
	return id < layout->end ? layout->records[id].resolved : 0;
}

static inline uint32_t layout_size(const struct layout *layout, uint32_t id)
{
	return id < layout->end ? layout->records[id].size : 0;
}

static inline enum btf_kind layout_kind(const struct layout *layout, uint32_t id)
{
	return id < layout->end ? (enum btf_kind)layout->records[id].kind : BTF_VOID;
}

static inline bool layout_is_compound(const struct layout *layout, uint32_t id)
{
	enum btf_kind kind = layout_kind(layout, id);
	return kind == BTF_STRUCT || kind == BTF_UNION;
}

/* Of numbers something is always const, so that is not asked. */
static inline bool layout_lacks_const(const struct layout *layout, uint32_t id)
{
	return (layout_is_compound(layout, id) || layout_kind(layout, id) == BTF_PTR) &&
	       !layout->records[id].has_const;
}

static inline uint32_t layout_alignment(const struct layout *layout, uint32_t id)
{
	return id < layout->end && layout->records[id].alignment ? layout->records[id].alignment
								 : 1;
}

/* NULL past the end. `id` is resolved. */
static inline const struct field *layout_field(const struct layout *layout, uint32_t id,
					       uint32_t index)
{
	if (id >= layout->end || index >= layout->records[id].field_count)
		return NULL;
	return &layout->fields[layout->records[id].first_field + index];
}

/* The target of a pointer, the element of an array, resolved; 0: void or neither. */
static inline uint32_t layout_target(const struct layout *layout, uint32_t id)
{
	enum btf_kind kind = layout_kind(layout, id);
	const struct field *field =
		kind == BTF_PTR || kind == BTF_ARRAY ? layout_field(layout, id, 0) : NULL;
	return field ? layout_resolve(layout, field->type) : 0;
}

static inline uint32_t layout_array_count(const struct layout *layout, uint32_t id)
{
	const struct field *field = layout_field(layout, id, 0);
	return field && layout_kind(layout, id) == BTF_ARRAY ? field->offset : 0;
}

/* As in `name` of a record: not 0. */
uint32_t layout_hash(const char *name, size_t length);
/* "struct x", a typedef's name for what has no tag: what type_spell() then shows. A module's own
 * copy of what the kernel has, too. */
uint32_t layout_shown(const struct layout *layout, uint32_t id);
/* A struct, union or enum that can be spelled: a tag, or a typedef. */
bool layout_has_name(const struct layout *layout, uint32_t id);
/*
 * Can a variable have been declared with it? Of what has no name, that to which no other type
 * refers: it was written down for a variable (tk_core), while the unnamed parts of structs have
 * their struct.
 */
bool layout_is_declared(const struct layout *layout, uint32_t id);
/*
 * The resolved id of a type of this view, or of a pointer that a scratch level makes to one; 0:
 * void, or none here, such as a type of another module.
 */
uint32_t layout_id(const struct layout *layout, struct type type);
/* By name in the view, resolved; 0: none. */
uint32_t layout_find(const struct layout *layout, enum btf_kind kind, const char *name);

enum likeness {
	LIKE_NOT,
	LIKE_WEAKLY, /* as large, but of other sign, void * for T *, a layout twin */
	LIKE_EXACTLY
};
/* Both resolved. */
enum likeness layout_compare(const struct layout *layout, uint32_t a, uint32_t b);
/* How well a `wanted` can lie at `offset` of `id`: the best over unions and first members. */
enum likeness layout_match(const struct layout *layout, uint32_t id, uint32_t offset,
			   uint32_t wanted);
/*
 * The scalar (integer, enum, pointer, float) that covers `offset`; 0: padding, a bit-field, past
 * the end. `*ret_offset`: where it starts. Of a union, the first that covers it.
 */
uint32_t layout_scalar_at(const struct layout *layout, uint32_t id, uint32_t offset,
			  uint32_t *ret_offset);
/* An access of `size` bytes at `offset` is one to a scalar of that size in any union arm. */
bool layout_access_fits(const struct layout *layout, uint32_t id, uint32_t offset, uint32_t size);

#endif
