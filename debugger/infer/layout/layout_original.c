// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/layout/layout_original.h"

#include <string.h>

/* Arrays of arrays that are compared: hostile BTF nests without end. */
#define DEPTH_MAX 8

static bool is_same_name(const struct btf_type *a, const struct btf_type *b)
{
	return !strcmp(a->name, b->name);
}

/* What a pointer leads to, by its name alone: it may be declared here and defined there. */
static bool is_same_target(struct type a, struct type b)
{
	struct btf_type one, other;
	return type_get_resolved(a, &one) && type_get_resolved(b, &other) &&
	       is_same_name(&one, &other) &&
	       (one.kind == other.kind || one.kind == BTF_FWD || other.kind == BTF_FWD);
}

static bool is_same_type(struct type a, struct type b)
{
	struct btf_type one, other;
	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		if (!type_get_resolved(a, &one) || !type_get_resolved(b, &other) ||
		    one.kind != other.kind || !is_same_name(&one, &other))
			return false;
		a = (struct type){ one.btf, one.type };
		b = (struct type){ other.btf, other.type };
		if (one.kind == BTF_PTR)
			return is_same_target(a, b);
		if (one.kind != BTF_ARRAY)
			return one.size == other.size && one.vlen == other.vlen &&
			       one.int_encoding == other.int_encoding;
		if (one.array_count != other.array_count)
			return false;
	}
	return false;
}

static bool has_same_members(const struct btf_type *a, const struct btf_type *b)
{
	struct btf_member one, other;
	for (uint32_t i = 0; btf_member(a, i, &one); i++)
		if (!btf_member(b, i, &other) || strcmp(one.name, other.name) ||
		    one.bit_offset != other.bit_offset || one.bit_size != other.bit_size ||
		    !is_same_type((struct type){ a->btf, one.type },
				  (struct type){ b->btf, other.type }))
			return false;
	return true;
}

uint32_t layout_find_original(const struct btf *btf, uint32_t id)
{
	const struct btf *base = btf_base(btf);
	struct btf_type copy, original;
	uint64_t cursor = 0;
	uint32_t found;
	if (!base || !btf_get(btf, id, &copy) || !*copy.name ||
	    (copy.kind != BTF_STRUCT && copy.kind != BTF_UNION))
		return 0;
	while ((found = btf_find(base, copy.kind, copy.name, &cursor)))
		if (btf_get(base, found, &original) && original.size == copy.size &&
		    original.vlen == copy.vlen && has_same_members(&copy, &original))
			return found;
	return 0;
}
