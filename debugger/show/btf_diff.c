// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/show/btf_diff.h"

#include "base/array.h"
#include "base/interrupt.h"
#include "debugger/target/btf_files.h"
#include "debugger/target/object.h"
#include <stdio.h>
#include <string.h>

static const struct column columns[] = {
	{ "change", "CHANGE", -9 }, { "kind", "KIND", -7 },    { "name", "NAME", -32 },
	{ "size_a", "SIZE A", 8 },  { "size_b", "SIZE B", 8 }, { "what", "WHAT", -1 },
};

/* One side; what had to be opened for it is closed in the end. */
struct side {
	const struct btf *btf;
	struct btf_file *file;
	struct target *dump;
};

/* --- the sides --------------------------------------------------------------------- */

static struct error *open_side(struct target *target, const char *name, struct side *ret)
{
	struct target_options options = { .helper = target->helper };
	struct error *error = target_find_btf(target, name, &ret->btf);
	if (!error || error->kind != ERROR_NOT_FOUND)
		return error;
	error_free(error);
	error = btf_file_open(target, name, &ret->file);
	if (!error) {
		ret->btf = ret->file->btf;
		return NULL;
	}
	/* No BTF and no ELF file that has any: perhaps a dump. */
	if (error->kind != ERROR_NOT_FOUND && error->kind != ERROR_FORMAT)
		return error;
	struct error *second = target_open(&name, 1, &options, &ret->dump);
	if (second) {
		error_free(second);
		return error;
	}
	error_free(error);
	TRY(error_prefix(target_need_btf(ret->dump), "%s", name));
	ret->btf = ret->dump->btf;
	return NULL;
}

static void close_side(struct side *side)
{
	btf_file_close(side->file);
	target_close(side->dump);
}

/* --- one name ---------------------------------------------------------------------- */

static bool is_compared(const struct btf_type *type)
{
	switch (type->kind) {
	case BTF_INT:
	case BTF_STRUCT:
	case BTF_UNION:
	case BTF_ENUM:
	case BTF_ENUM64:
	case BTF_TYPEDEF:
	case BTF_FUNC:
	case BTF_VAR:
	case BTF_FLOAT:
		return type->name[0];
	default:
		return false;
	}
}

static enum btf_kind search_kind(const struct btf_type *type)
{
	return type->kind == BTF_ENUM64 ? BTF_ENUM : type->kind;
}

/* True when one of `other` that is called the same equals it; *ret: the first of that name. */
static bool has_equal(const struct btf *other, const struct btf_type *type, struct btf_type *ret)
{
	uint64_t cursor = 0;
	uint32_t id;
	ret->id = 0;
	while ((id = btf_find(other, search_kind(type), type->name, &cursor))) {
		if (type_equal((struct type){ type->btf, type->id }, (struct type){ other, id }))
			return true;
		if (!ret->id && !btf_get(other, id, ret))
			ret->id = 0;
	}
	return false;
}

/* "member pid", the first that differs; "" where there is nothing short to say. */
static void describe(const struct btf_type *a, const struct btf_type *b, char *buffer, size_t size)
{
	struct btf_member left, right;
	struct btf_enumerator one, other;
	*buffer = 0;
	for (uint32_t i = 0;; i++) {
		bool has_left = btf_member(a, i, &left), has_right = btf_member(b, i, &right);
		if (!has_left && !has_right)
			break;
		if (has_left && has_right && !strcmp(left.name, right.name) &&
		    left.bit_offset == right.bit_offset && left.bit_size == right.bit_size &&
		    type_equal((struct type){ a->btf, left.type },
			       (struct type){ b->btf, right.type }))
			continue;
		snprintf(buffer, size, "member %s", has_left ? left.name : right.name);
		return;
	}
	for (uint32_t i = 0; btf_enumerator(a, i, &one); i++) {
		if (btf_enumerator(b, i, &other) && one.value == other.value &&
		    !strcmp(one.name, other.name))
			continue;
		snprintf(buffer, size, "enumerator %s", one.name);
		return;
	}
}

static void write_size(struct out *out, const char *key, const struct btf_type *type)
{
	uint64_t size;
	struct type of = type->kind == BTF_VAR ? (struct type){ type->btf, type->type }
					       : (struct type){ type->btf, type->id };
	if (type->id && type_size(of, &size))
		out_u64(out, key, size);
	else
		out_null_as(out, key, "");
}

static void write_row(struct out *out, const char *change, const struct btf_type *a,
		      const struct btf_type *b)
{
	char what[600] = "";
	const struct btf_type *named = a->id ? a : b;
	if (a->id && b->id)
		describe(a, b, what, sizeof(what));
	out_row_begin(out);
	out_string(out, "change", change);
	out_string(out, "kind", btf_kind_name(named->kind));
	out_string(out, "name", named->name);
	write_size(out, "size_a", a);
	write_size(out, "size_b", b);
	out_string(out, "what", what);
	out_row_end(out);
}

static bool is_first_of_name(const struct btf *btf, const struct btf_type *type)
{
	uint64_t cursor = 0;
	return btf_find(btf, search_kind(type), type->name, &cursor) == type->id;
}

/* All of one side; `reversed`: that is B, and only what A lacks is told. */
static struct error *compare(struct out *out, const struct btf *from, const struct btf *to,
			     bool reversed)
{
	const struct btf_type none = { .id = 0 };
	for (uint32_t id = btf_start_id(from); id < btf_end_id(from); id++) {
		struct btf_type type, other;
		TRY(interrupt_check());
		if (!btf_get(from, id, &type) || !is_compared(&type) ||
		    has_equal(to, &type, &other))
			continue;
		if (!other.id && is_first_of_name(from, &type))
			write_row(out, reversed ? "only in B" : "only in A",
				  reversed ? &none : &type, reversed ? &type : &none);
		else if (other.id && !reversed)
			write_row(out, "changed", &type, &other);
	}
	return NULL;
}

struct error *btf_diff_write(struct session *session, const char *a, const char *b)
{
	struct side left = { .file = NULL }, right = { .file = NULL };
	struct error *error = open_side(session->target, a, &left);
	if (!error)
		error = open_side(session->target, b, &right);
	if (!error) {
		out_table_begin(session->out, NULL, columns, ARRAY_COUNT(columns));
		error = compare(session->out, left.btf, right.btf, false);
		if (!error)
			error = compare(session->out, right.btf, left.btf, true);
		out_table_end(session->out);
	}
	close_side(&right);
	close_side(&left);
	return error;
}
