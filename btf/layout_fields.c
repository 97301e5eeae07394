// SPDX-License-Identifier: GPL-3.0-or-later
/* A layout as data: what layout_text.c says, for programs. */
#include "btf/layout.h"

#include "btf/layout_writer.h"
#include "btf/level.h"
#include <stdlib.h>

#define SPELL_SIZE 1024

struct fielding {
	struct btf_layouts *layouts;
	const struct btf_layout_style *style;
	struct out *out;
	uint32_t members;
};

/* Fields that are there only when they say something. */
static void put_if(struct out *out, const char *key, uint64_t value)
{
	if (value)
		out_u64_as(out, key, value, "");
}

static struct error *put_members(struct fielding *fielding, const struct btf_record_layout *layout,
				 uint32_t base, int depth);

/* Members of what has no name are those of the whole, also where its type has one (7.x:
 * pidfs_attr). */
static bool goes_in(const struct fielding *fielding, const struct btf_layout_member *member,
		    struct btf_type *ret)
{
	bool expands = fielding->style->expand;
	if (!type_get(expands ? type_resolve(member->type) : member->type, ret))
		return false;
	return (ret->kind == BTF_STRUCT || ret->kind == BTF_UNION) &&
	       (expands || !*ret->name || !*member->name);
}

static struct error *put_member(struct fielding *fielding, const struct btf_layout_member *member,
				uint32_t base, int depth)
{
	struct out *out = fielding->out;
	struct btf_type record = { 0 };
	struct btf_record_layout inner;
	struct error *error = NULL;
	char spelled[SPELL_SIZE];
	out_object_begin(out, NULL);
	type_spell(member->type, NULL, spelled, sizeof(spelled));
	out_string_as(out, "name", member->name, "");
	out_string_as(out, "type", spelled, "");
	out_u64_as(out, "offset", (uint64_t)base + member->offset, "");
	out_u64_as(out, "size", member->size, "");
	if (member->bit_size) {
		out_u64_as(out, "bit_offset", member->first_bit, "");
		out_u64_as(out, "bit_size", member->bit_size, "");
	}
	put_if(out, "aligned", member->alignment);
	put_if(out, "bit_hole", member->bit_hole);
	put_if(out, "hole", member->hole);
	put_if(out, "padding", btf_layout_padding(fielding->layouts, member->type));
	if (depth < LAYOUT_NESTING_MAX && goes_in(fielding, member, &record))
		error = btf_layout_find(fielding->layouts, &record, &inner);
	else
		record.kind = BTF_VOID;
	if (!error && record.kind != BTF_VOID) {
		error = put_members(fielding, &inner, base + member->offset, depth + 1);
		btf_layout_deinit(&inner);
	}
	out_object_end(out);
	return error;
}

static struct error *put_members(struct fielding *fielding, const struct btf_record_layout *layout,
				 uint32_t base, int depth)
{
	struct error *error = NULL;
	out_array_begin(fielding->out, "members");
	for (uint32_t i = 0; i < layout->count && !error; i++) {
		if (++fielding->members > LAYOUT_MEMBERS_MAX)
			error = error_create(ERROR_FORMAT, "the type nests without end");
		else
			error = put_member(fielding, &layout->members[i], base, depth);
	}
	out_array_end(fielding->out);
	return error;
}

struct error *btf_layout_fields(struct btf_layouts *layouts, const struct btf_layout_style *style,
				const struct btf_type *record, struct out *out)
{
	struct fielding fielding = { .layouts = layouts, .style = style, .out = out };
	struct btf_record_layout layout;
	if (out_is_text(out))
		return NULL;
	struct error *error = btf_layout_find(layouts, record, &layout);
	if (error)
		return error;
	out_string_as(out, "kind", record->kind == BTF_UNION ? "union" : "struct", "");
	out_string_as(out, "name", record->name, "");
	out_u64_as(out, "size", record->size, "");
	out_bool_as(out, "packed", btf_layout_is_packed(layouts, record), "");
	put_if(out, "aligned", layout.alignment);
	put_if(out, "holes", layout.hole_count);
	put_if(out, "bit_holes", layout.bit_hole_count);
	put_if(out, "padding", layout.padding);
	put_if(out, "bit_padding", layout.bit_padding);
	error = put_members(&fielding, &layout, 0, 0);
	btf_layout_deinit(&layout);
	return error;
}

struct error *btf_layout_render(struct btf_layouts *layouts, const struct btf_layout_style *style,
				const struct btf_type *record, struct strbuf *buffer,
				struct out *out)
{
	if (!out_is_text(out))
		return btf_layout_fields(layouts, style, record, out);
	struct error *error = btf_layout_text(layouts, style, record, buffer);
	out_lines(out, buffer->data, buffer->size);
	buffer->size = 0;
	return error;
}
