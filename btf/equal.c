// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Whether two types are the same, over levels. By value the definitions are compared; behind a
 * pointer a name stands for its type, so that one odd type far away does not make all differ, and
 * cycles end.
 */
#include "btf/btf.h"

#include "btf/level.h"
#include <string.h>

struct comparison {
	uint32_t visits; /* of records, members, enumerators and parameters, that are left */
	int depth;
};

static bool visit(struct comparison *comparison)
{
	return comparison->visits && comparison->visits--;
}

static bool equal(struct comparison *comparison, struct type a, struct type b, bool behind);

static bool equal_members(struct comparison *comparison, const struct btf_type *a,
			  const struct btf_type *b, bool behind)
{
	struct btf_member left, right;
	for (uint32_t i = 0; btf_member(a, i, &left) && btf_member(b, i, &right); i++)
		if (!visit(comparison) || strcmp(left.name, right.name) ||
		    left.bit_offset != right.bit_offset || left.bit_size != right.bit_size ||
		    !equal(comparison, (struct type){ a->btf, left.type },
			   (struct type){ b->btf, right.type }, behind))
			return false;
	return true;
}

static bool equal_enumerators(struct comparison *comparison, const struct btf_type *a,
			      const struct btf_type *b)
{
	struct btf_enumerator left, right;
	for (uint32_t i = 0; btf_enumerator(a, i, &left) && btf_enumerator(b, i, &right); i++)
		if (!visit(comparison) || strcmp(left.name, right.name) ||
		    left.value != right.value)
			return false;
	return true;
}

/* Names of parameters are not part of a function's type. */
static bool equal_params(struct comparison *comparison, const struct btf_type *a,
			 const struct btf_type *b)
{
	struct btf_param left, right;
	for (uint32_t i = 0; btf_param(a, i, &left) && btf_param(b, i, &right); i++)
		if (!visit(comparison) || !equal(comparison, (struct type){ a->btf, left.type },
						 (struct type){ b->btf, right.type }, true))
			return false;
	return true;
}

static bool is_named_type(const struct btf_type *type)
{
	return type->name[0] &&
	       (type->kind == BTF_STRUCT || type->kind == BTF_UNION || type->kind == BTF_ENUM ||
		type->kind == BTF_ENUM64 || type->kind == BTF_TYPEDEF || type->kind == BTF_FWD);
}

/* The kind a forward declaration declares. */
static enum btf_kind declared_kind(const struct btf_type *type)
{
	if (type->kind != BTF_FWD)
		return type->kind;
	return type->kind_flag ? BTF_UNION : BTF_STRUCT;
}

static bool equal_records(struct comparison *comparison, const struct btf_type *a,
			  const struct btf_type *b, bool behind)
{
	struct type left = { a->btf, a->type }, right = { b->btf, b->type };
	if (a->kind != b->kind || a->size != b->size || a->vlen != b->vlen)
		return false;
	switch (a->kind) {
	case BTF_VOID:
	case BTF_FLOAT:
		return true;
	case BTF_FWD:
		return a->kind_flag == b->kind_flag;
	case BTF_INT:
		return a->int_bits == b->int_bits && a->int_offset == b->int_offset &&
		       a->int_encoding == b->int_encoding;
	case BTF_STRUCT:
	case BTF_UNION:
		return equal_members(comparison, a, b, behind);
	case BTF_ENUM:
	case BTF_ENUM64:
		return a->kind_flag == b->kind_flag && equal_enumerators(comparison, a, b);
	case BTF_FUNC_PROTO:
		return equal(comparison, left, right, true) && equal_params(comparison, a, b);
	case BTF_ARRAY:
		return a->array_count == b->array_count && equal(comparison, left, right, behind);
	case BTF_PTR:
		return equal(comparison, left, right, true);
	case BTF_VAR:
	case BTF_DECL_TAG:
		return a->extra == b->extra && equal(comparison, left, right, behind);
	case BTF_DATASEC:
		return false;
	default:
		return a->kind < BTF_KIND_COUNT && equal(comparison, left, right, behind);
	}
}

static bool equal(struct comparison *comparison, struct type a, struct type b, bool behind)
{
	struct btf_type left, right;
	if (!type_get(a, &left) || !type_get(b, &right))
		return false;
	if (left.id == right.id && (!left.id || left.btf == right.btf))
		return true;
	if (strcmp(left.name, right.name))
		return false;
	if (behind && is_named_type(&left))
		return declared_kind(&left) == declared_kind(&right);
	if (comparison->depth >= CHAIN_MAX || !visit(comparison))
		return false;
	comparison->depth++;
	bool result = equal_records(comparison, &left, &right, behind);
	comparison->depth--;
	return result;
}

bool type_equal_within(struct type a, struct type b, uint32_t *visits)
{
	uint32_t most = *visits < VISITS_MAX ? *visits : VISITS_MAX;
	struct comparison comparison = { .visits = most };
	bool result = equal(&comparison, a, b, false);
	*visits -= most - comparison.visits;
	return result;
}

bool type_equal(struct type a, struct type b)
{
	uint32_t visits = VISITS_MAX;
	return type_equal_within(a, b, &visits);
}
