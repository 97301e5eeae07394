// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/code/lay.h"

#define DEPTH_MAX 24 /* of structs in structs */

struct kind kind_of(const struct levels *levels, uint16_t level, uint32_t id)
{
	if (level && id < btf_start_id(levels->items[level]))
		level = 0;
	return (struct kind){ level, id };
}

struct type kind_type(const struct levels *levels, struct kind kind)
{
	return (struct type){ levels->items[kind.level], kind.id };
}

static struct kind of_type(const struct levels *levels, struct kind near, struct type type)
{
	return kind_of(levels, near.level, type.id);
}

struct btf_type kind_record(const struct levels *levels, struct kind kind)
{
	struct btf_type record;
	if (!kind.id || !type_get_resolved(kind_type(levels, kind), &record))
		record = (struct btf_type){ .kind = BTF_VOID, .name = "" };
	return record;
}

static struct kind resolve(const struct levels *levels, struct kind kind)
{
	if (!kind.id)
		return kind;
	return of_type(levels, kind, type_resolve(kind_type(levels, kind)));
}

struct kind kind_unqualified(const struct levels *levels, struct kind kind)
{
	if (!kind.id)
		return kind;
	return of_type(levels, kind, type_unqualified(kind_type(levels, kind)));
}

struct kind kind_target(const struct levels *levels, struct kind kind)
{
	struct btf_type record = kind_record(levels, kind);
	if (record.kind != BTF_PTR)
		return (struct kind){ 0, 0 };
	return kind_unqualified(levels, kind_of(levels, kind.level, record.type));
}

uint32_t kind_size(const struct levels *levels, struct kind kind)
{
	uint64_t size;
	if (!kind.id || !type_size(kind_type(levels, kind), &size) || size > UINT32_MAX)
		return 0;
	return (uint32_t)size;
}

/* --- one step down --------------------------------------------------------------------------- */

enum question { ASK_SCALAR, ASK_OBJECT };

struct query {
	const struct levels *levels;
	enum question question;
	uint32_t size;
	int depth;
};

static struct kind find(struct query *query, struct kind kind, uint64_t offset);

/* The member of a struct that covers the offset; of a union all, which must agree. */
static struct kind find_in_members(struct query *query, struct kind kind,
				   const struct btf_type *record, uint64_t offset)
{
	struct kind found = { 0, 0 };
	struct btf_member member;
	for (uint32_t i = 0; btf_member(record, i, &member); i++) {
		uint64_t start = member.bit_offset / 8;
		if (start > offset)
			continue;
		struct kind type = kind_of(query->levels, kind.level, member.type);
		uint32_t size = kind_size(query->levels, type);
		if (offset - start >= size || member.bit_size)
			continue;
		struct kind inner = find(query, type, offset - start);
		if (record->kind == BTF_STRUCT)
			return inner;
		if (!inner.id || (found.id && !kind_is(resolve(query->levels, found),
						       resolve(query->levels, inner))))
			return (struct kind){ 0, 0 };
		found = inner;
	}
	return found;
}

static struct kind find(struct query *query, struct kind kind, uint64_t offset)
{
	struct kind none = { 0, 0 };
	struct btf_type record = kind_record(query->levels, kind);
	if (query->depth >= DEPTH_MAX)
		return none;
	if (query->question == ASK_OBJECT && !offset && record.kind != BTF_ARRAY)
		return kind_unqualified(query->levels, kind);
	struct kind found = none;
	query->depth++;
	if (record.kind == BTF_STRUCT || record.kind == BTF_UNION) {
		found = find_in_members(query, kind, &record, offset);
	} else if (record.kind == BTF_ARRAY) {
		struct kind element = kind_of(query->levels, kind.level, record.type);
		uint32_t size = kind_size(query->levels, element);
		if (size)
			found = find(query, element, offset % size);
	} else if (btf_kind_is_scalar(record.kind) && query->question == ASK_SCALAR && !offset &&
		   kind_size(query->levels, kind) == query->size) {
		found = kind_unqualified(query->levels, kind);
	}
	query->depth--;
	return found;
}

static struct kind ask(struct lay *lay, enum question question, struct kind kind, int64_t offset,
		       uint32_t size)
{
	struct kind none = { 0, 0 };
	if (!kind.id || offset < 0 || offset > INT32_MAX)
		return none;
	uint64_t key = ((uint64_t)kind.level << 32 | kind.id) << 1 | (question == ASK_OBJECT);
	uint64_t hash = (key + ((uint64_t)offset << 8) + size) * 0x9e3779b97f4a7c15u;
	struct lay_answer *answer = &lay->answers[hash >> 40 & (LAY_CACHE - 1)];
	if (answer->question == key && answer->offset == offset && answer->size == size)
		return answer->kind;
	struct query query = { lay->levels, question, size, 0 };
	struct kind found = none;
	if (offset < kind_size(lay->levels, kind))
		found = find(&query, kind, (uint64_t)offset);
	*answer = (struct lay_answer){ key, (int32_t)offset, size, found };
	return found;
}

struct kind lay_scalar(struct lay *lay, struct kind kind, int64_t offset, uint32_t size)
{
	return ask(lay, ASK_SCALAR, kind, offset, size);
}

struct kind lay_object(struct lay *lay, struct kind kind, int64_t offset)
{
	/* What has no size, a function or a struct that is only declared, is itself. */
	if (!offset && kind_record(lay->levels, kind).kind != BTF_ARRAY)
		return kind;
	return ask(lay, ASK_OBJECT, kind, offset, 0);
}

/* --- arrays ---------------------------------------------------------------------------------- */

/* The member of a struct around the offset; false: none, or a union. */
static bool member_around(const struct levels *levels, struct kind kind,
			  const struct btf_type *record, int64_t *offset, struct kind *ret)
{
	struct btf_member member;
	for (uint32_t i = 0; record->kind == BTF_STRUCT && btf_member(record, i, &member); i++) {
		int64_t start = member.bit_offset / 8;
		struct kind type = kind_of(levels, kind.level, member.type);
		struct btf_type inner = kind_record(levels, type);
		bool is_open = inner.kind == BTF_ARRAY && !inner.array_count;
		if (member.bit_size || *offset < start ||
		    (*offset - start >= kind_size(levels, type) && !is_open))
			continue;
		*offset -= start;
		*ret = type;
		return true;
	}
	return false;
}

struct kind lay_element(struct lay *lay, struct kind kind, int64_t offset, uint32_t stride,
			int64_t *ret_offset)
{
	struct kind none = { 0, 0 };
	const struct levels *levels = lay->levels;
	if (!stride || !kind.id)
		return none;
	/* An array of the objects themselves. */
	if (kind_size(levels, kind) == stride && offset >= 0 && offset < stride) {
		*ret_offset = offset;
		return kind;
	}
	for (int depth = 0; depth < DEPTH_MAX && offset >= 0; depth++) {
		struct btf_type record = kind_record(levels, kind);
		if (record.kind == BTF_ARRAY) {
			kind = kind_of(levels, kind.level, record.type);
			uint32_t size = kind_size(levels, kind);
			if (!size)
				return none;
			offset %= size;
			if (size == stride) {
				*ret_offset = offset;
				return kind;
			}
		} else if (!member_around(levels, kind, &record, &offset, &kind)) {
			return none;
		}
	}
	return none;
}

struct kind lay_innermost(struct lay *lay, struct kind kind)
{
	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		struct btf_type record = kind_record(lay->levels, kind);
		struct btf_member member;
		if (record.kind != BTF_STRUCT || !btf_member(&record, 0, &member) ||
		    member.bit_size)
			break;
		struct kind inner = kind_unqualified(lay->levels,
						     kind_of(lay->levels, kind.level, member.type));
		if (kind_record(lay->levels, inner).kind != BTF_STRUCT)
			break;
		kind = inner;
	}
	return kind;
}
