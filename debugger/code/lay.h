/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What lies at an offset of a type, for the flow of types through code. It asks a million times
 * from several threads, so types are small (a level of BTF and an id, always of the lowest level
 * that has it), nothing here is made when first asked for, and each thread has a cache.
 */
#ifndef DEBUGGER_CODE_LAY_H
#define DEBUGGER_CODE_LAY_H

#include "btf/btf.h"

/* A type; id 0: none, or void. */
struct kind {
	uint16_t level; /* in levels.items */
	uint32_t id;
};

/*
 * The kernel's BTF, then the scratch level of what declarations made out of it (NULL: nothing yet),
 * then those of modules on top of the kernel's. Borrowed.
 */
#define LEVEL_SCRATCH 1
#define LEVEL_MODULES 2
struct levels {
	const struct btf **items;
	size_t count;
};

#define LAY_CACHE 2048 /* a power of two */
struct lay_answer {
	uint64_t question; /* 0: empty */
	int32_t offset;
	uint32_t size;
	struct kind kind;
};
struct lay {
	const struct levels *levels;
	struct lay_answer answers[LAY_CACHE];
};

static inline bool kind_is(struct kind a, struct kind b)
{
	return a.id == b.id && (a.level == b.level || !a.id);
}

/* `id` in the view of a level. */
struct kind kind_of(const struct levels *levels, uint16_t level, uint32_t id);
struct type kind_type(const struct levels *levels, struct kind kind);
/* The record behind typedefs and qualifiers; BTF_VOID for none. */
struct btf_type kind_record(const struct levels *levels, struct kind kind);
/* Without qualifiers, typedefs stay. */
struct kind kind_unqualified(const struct levels *levels, struct kind kind);
/* Of what a pointer points at; none for void and for what is no pointer. */
struct kind kind_target(const struct levels *levels, struct kind kind);
/* Bytes; 0: none. */
uint32_t kind_size(const struct levels *levels, struct kind kind);

/* The integer, enum or pointer of `size` bytes at `offset`; none when there is none, or unions
 * disagree. */
struct kind lay_scalar(struct lay *lay, struct kind kind, int64_t offset, uint32_t size);
/*
 * The outermost object that begins at `offset`: at 0 the type itself. None inside scalars, and
 * where members of a union disagree.
 */
struct kind lay_object(struct lay *lay, struct kind kind, int64_t offset);
/*
 * The element of the array around `offset` whose elements are `stride` bytes; `*ret_offset`: of
 * the place within the element. None when there is no such array.
 */
struct kind lay_element(struct lay *lay, struct kind kind, int64_t offset, uint32_t stride,
			int64_t *ret_offset);
/* The innermost first member of a struct: what pointers to it may have meant. */
struct kind lay_innermost(struct lay *lay, struct kind kind);

#endif
