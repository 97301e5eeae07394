// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/eval/definition.h"

#include "base/interrupt.h"
#include "debugger/eval/value.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdio.h>

#define SPELL_SIZE 1024
#define PATH_SIZE  512

const struct btf_layout_style definition_style = { 0 };

/* --- enums ----------------------------------------------------------------------- */

static int longest_name(const struct btf_type *record)
{
	struct btf_enumerator enumerator;
	size_t longest = 0;
	for (uint32_t i = 0; btf_enumerator(record, i, &enumerator); i++) {
		size_t length = strlen(enumerator.name);
		longest = length > longest ? length : longest;
	}
	return longest < 64 ? (int)longest : 64;
}

static void render_enumerators(struct out *out, const struct btf_type *record)
{
	struct btf_enumerator enumerator;
	bool is_signed = btf_enum_is_signed(record);
	int width = longest_name(record);
	out_array_begin(out, "enumerators");
	for (uint32_t i = 0; btf_enumerator(record, i, &enumerator); i++) {
		out_object_begin(out, NULL);
		out_text(out, "\t");
		out_pad(out, -width);
		out_string(out, "name", enumerator.name);
		out_text(out, " = ");
		const struct out_integer value = { (uint64_t)enumerator.value, record->size * 8,
						   is_signed };
		out_integer_as(out, "value", &value, NULL);
		out_text(out, ",\n");
		out_object_end(out);
	}
	out_array_end(out);
}

static void render_enum(struct out *out, const struct btf_type *record, const char *alias)
{
	out_string_as(out, "kind", "enum", "");
	out_string_as(out, "name", record->name, "");
	out_u64_as(out, "size", record->size, "");
	out_text(out, "%senum%s%s", alias ? "typedef " : "", *record->name ? " " : "",
		 record->name);
	if (record->vlen)
		out_text(out, " {\n");
	render_enumerators(out, record);
	if (record->vlen)
		out_text(out, "}");
	out_text(out, "%s%s;  /* size: %u */\n", alias ? " " : "", alias ? alias : "",
		 record->size);
}

/* --- structs and unions ------------------------------------------------------------- */

static struct error *render_layout(struct out *out, const struct btf *btf,
				   const struct btf_type *record,
				   const struct btf_layout_style *style)
{
	struct btf_layouts *layouts = btf_layouts_create(btf);
	struct strbuf buffer = { 0 };
	if (!layouts)
		return error_no_memory();
	struct error *error = btf_layout_render(layouts, style, record, &buffer, out);
	strbuf_deinit(&buffer);
	btf_layouts_destroy(layouts);
	return error;
}

/* --- any type ------------------------------------------------------------------------ */

/*
 * A typedef says what it stands for, before the definition of that. The name of one that has no
 * other stands in the definition itself: *ret_alias.
 */
static struct type render_typedef(struct out *out, struct type type, const char **ret_alias)
{
	struct btf_type record, target;
	char spelled[SPELL_SIZE];
	*ret_alias = NULL;
	if (!type_get(type, &record) || record.kind != BTF_TYPEDEF)
		return type;
	struct type inner = { type.btf, record.type };
	type_spell(inner, record.name, spelled, sizeof(spelled));
	out_string_as(out, "typedef", spelled, "");
	bool is_nameless = type_get(inner, &target) && !*target.name &&
			   (target.kind == BTF_STRUCT || target.kind == BTF_UNION ||
			    target.kind == BTF_ENUM || target.kind == BTF_ENUM64);
	if (is_nameless)
		*ret_alias = record.name;
	else
		out_text(out, "typedef %s;\n", spelled);
	return inner;
}

static void render_other(struct out *out, struct type type)
{
	char spelled[SPELL_SIZE];
	uint64_t size;
	type_spell(type, NULL, spelled, sizeof(spelled));
	out_string(out, "kind", spelled);
	out_text(out, ";");
	if (type_size(type, &size))
		out_text(out, "  /* size: %" PRIu64 " */", size);
	out_text(out, "\n");
}

struct error *definition_render_as(struct out *out, const char *key, struct type type,
				   const struct btf_layout_style *style)
{
	struct btf_layout_style own = *style;
	struct btf_type record;
	struct error *error = NULL;
	if (!type_get_resolved(type, &record))
		return error_create(ERROR_FORMAT, "the type does not exist");
	out_object_begin(out, key);
	render_typedef(out, type, &own.alias);
	if (record.kind == BTF_STRUCT || record.kind == BTF_UNION)
		error = render_layout(out, type.btf, &record, &own);
	else if (record.kind == BTF_ENUM || record.kind == BTF_ENUM64)
		render_enum(out, &record, own.alias);
	else
		render_other(out, type_resolve(type));
	out_object_end(out);
	return error;
}

struct error *definition_render(struct out *out, const char *key, struct type type)
{
	return definition_render_as(out, key, type, &definition_style);
}

/* --- members by path ----------------------------------------------------------------- */

static void render_place(struct out *out, const struct type_place *place, const char *path)
{
	char spelled[SPELL_SIZE];
	uint64_t size;
	out_object_begin(out, NULL);
	type_spell(place->type, NULL, spelled, sizeof(spelled));
	out_string_as(out, "name", path, "");
	out_string_as(out, "type", spelled, "");
	out_u64_as(out, "offset", place->bit_offset / 8, "");
	if (type_size(place->type, &size))
		out_u64_as(out, "size", size, "");
	if (place->bit_size) {
		out_u64_as(out, "bit_offset", place->bit_offset % 8, "");
		out_u64_as(out, "bit_size", place->bit_size, "");
	}
	out_object_end(out);
}

/* Before anything is shown: a member that does not exist leaves no empty struct behind. */
static struct error *check_paths(struct type type, const char *paths)
{
	while (*paths) {
		char path[PATH_SIZE];
		struct type_place place;
		size_t length = strcspn(paths, ",");
		snprintf(path, sizeof(path), "%.*s", (int)length, paths);
		paths += length + (paths[length] == ',');
		TRY(type_find_path(type, path, &place));
	}
	return NULL;
}

static struct error *render_paths(struct out *out, struct btf_layouts *layouts, struct type type,
				  const char *paths, const struct btf_layout_style *style)
{
	struct strbuf buffer = { 0 };
	struct error *error = NULL;
	while (*paths && !error) {
		char path[PATH_SIZE];
		struct type_place place;
		size_t length = strcspn(paths, ",");
		snprintf(path, sizeof(path), "%.*s", (int)length, paths);
		paths += length + (paths[length] == ',');
		error = type_find_path(type, path, &place);
		if (!error) {
			render_place(out, &place, path);
			error = btf_layout_member_text(layouts, style, &place, path, &buffer);
			out_lines(out, buffer.data, buffer.size);
			buffer.size = 0;
		}
	}
	strbuf_deinit(&buffer);
	return error;
}

struct error *definition_render_members(struct out *out, const char *key, struct type type,
					const char *paths, const struct btf_layout_style *style)
{
	TRY(check_paths(type, paths));
	struct btf_layouts *layouts = btf_layouts_create(type.btf);
	char spelled[SPELL_SIZE];
	if (!layouts)
		return error_no_memory();
	type_spell(type, NULL, spelled, sizeof(spelled));
	out_text(out, "%s {\n", spelled);
	out_array_begin(out, key);
	struct error *error = render_paths(out, layouts, type, paths, style);
	out_array_end(out);
	out_text(out, "}\n");
	btf_layouts_destroy(layouts);
	return error;
}
