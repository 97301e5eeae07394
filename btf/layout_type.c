// SPDX-License-Identifier: GPL-3.0-or-later
/* The type of a member in a layout: a name in its column, or the definition in braces. */
#include "btf/layout_writer.h"

#include "btf/level.h"
#include <stdlib.h>

#define SPELL_SIZE 1024
/* Stands for the member's name while its type is spelled. */
#define PLACEHOLDER "\001"
#define BRACES_LESS 8 /* columns that a level of braces takes from the types */

static bool is_aggregate(const struct btf_type *record)
{
	return record->kind == BTF_STRUCT || record->kind == BTF_UNION;
}

static bool is_enum(const struct btf_type *record)
{
	return record->kind == BTF_ENUM || record->kind == BTF_ENUM64;
}

static bool is_anonymous(const struct btf_type *record)
{
	return (is_aggregate(record) || is_enum(record)) && !*record->name;
}

static bool goes_in_braces(const struct layout_writer *writer, const struct btf_type *record)
{
	if (writer->depth >= LAYOUT_NESTING_MAX)
		return false;
	return is_anonymous(record) || (writer->style->expand && is_aggregate(record));
}

/* --- enums ----------------------------------------------------------------------- */

static void put_enum(struct layout_writer *writer, const struct layout_frame *frame,
		     const struct btf_type *record, const char *suffix)
{
	struct btf_enumerator enumerator;
	size_t longest = 0;
	for (uint32_t i = 0; btf_enumerator(record, i, &enumerator); i++) {
		size_t length = strlen(enumerator.name);
		longest = length > longest ? length : longest;
	}
	strbuf_put(writer->text, record->vlen ? "enum {\n" : "enum");
	for (uint32_t i = 0; btf_enumerator(record, i, &enumerator); i++) {
		strbuf_repeat(writer->text, '\t', (size_t)frame->indent + 1);
		size_t from = writer->text->size;
		strbuf_name(writer->text, enumerator.name);
		strbuf_pad(writer->text, from, (int)longest);
		strbuf_put(writer->text, " = ");
		if (btf_enum_is_signed(record))
			strbuf_i64(writer->text, enumerator.value);
		else
			strbuf_u64(writer->text, (uint64_t)enumerator.value);
		strbuf_put(writer->text, ",\n");
	}
	if (record->vlen) {
		strbuf_repeat(writer->text, '\t', (size_t)frame->indent);
		strbuf_char(writer->text, '}');
		if (record->size != 4)
			strbuf_put(writer->text, " __attribute__((__packed__))");
	}
	strbuf_put(writer->text, suffix);
}

static void put_in_braces(struct layout_writer *writer, struct layout_frame frame,
			  const struct btf_type *record, const char *suffix)
{
	if (is_enum(record)) {
		put_enum(writer, &frame, record, suffix);
		return;
	}
	frame.type_width -= BRACES_LESS;
	layout_put_braces(writer, frame, record, suffix);
}

/* A type, padded, and a name. */
static void put_column(struct layout_writer *writer, size_t from, int width, const char *name)
{
	strbuf_pad(writer->text, from, width < 0 ? -width : width);
	strbuf_char(writer->text, ' ');
	strbuf_name(writer->text, name);
}

/* The definition, and what stands behind it. */
static void put_braces_and(struct layout_writer *writer, struct layout_frame frame,
			   const struct btf_type *record, const char *star, const char *name)
{
	struct strbuf suffix = { 0 };
	strbuf_put(&suffix, star);
	strbuf_name(&suffix, name);
	strbuf_bytes(&suffix, "", 1);
	put_in_braces(writer, frame, record, suffix.failed ? "" : suffix.data);
	strbuf_deinit(&suffix);
}

/* --- as pahole --------------------------------------------------------------------- */

static void put_as_pahole(struct layout_writer *writer, struct layout_frame frame, struct type type,
			  const char *name);

static void put_array(struct layout_writer *writer, const struct layout_frame *frame,
		      const struct btf_type *array, const char *name)
{
	struct type element = { array->btf, array->type };
	struct btf_type record = { 0 };
	/* An empty array of constants loses the "const". */
	if (!array->array_count && type_get(element, &record) && record.kind == BTF_CONST)
		element.id = record.type;
	put_as_pahole(writer, *frame, element, name);
	bool is_only = frame->is_first && frame->is_last;
	strbuf_char(writer->text, '[');
	if (array->array_count || !frame->is_last || is_only || frame->in_union)
		strbuf_u64(writer->text, array->array_count);
	strbuf_char(writer->text, ']');
}

/* A pointer to a struct, union or enum without a name; false for others. */
static bool put_pointer_to_braces(struct layout_writer *writer, struct layout_frame frame,
				  const struct btf_type *pointer, const char *name)
{
	struct btf_type target = { 0 };
	struct type type = { pointer->btf, pointer->type };
	if (!type_get(type, &target) || !is_anonymous(&target) ||
	    writer->depth >= LAYOUT_NESTING_MAX)
		return false;
	frame.relative = true;
	frame.with_trailer = false;
	frame.type_width -= BRACES_LESS;
	put_braces_and(writer, frame, &target, " * ", name);
	return true;
}

static void put_tagged(struct layout_writer *writer, const struct layout_frame *frame,
		       const struct btf_type *record, const char *name)
{
	struct strbuf *text = writer->text;
	size_t from = text->size;
	const char *word = is_enum(record)	       ? "enum "
			   : record->kind == BTF_UNION ? "union "
						       : "struct ";
	strbuf_put(text, word);
	size_t behind = text->size;
	strbuf_name(text, record->name);
	/* The word counts, but in columns that it has eaten up. */
	int width = frame->type_width - (int)(behind - from);
	put_column(writer, behind, width, name);
}

/* What is below the constness of the type itself, which stands before the column. */
static struct type put_const(struct layout_writer *writer, struct layout_frame *frame,
			     struct type type)
{
	struct record record;
	for (int steps = 0; steps < CHAIN_MAX; steps++) {
		if (!record_get(type.btf, type.id, &record) || record.kind != BTF_CONST ||
		    !record.type)
			break;
		strbuf_put(writer->text, "const ");
		frame->type_width -= 6;
		type.id = record.type;
	}
	return type;
}

static void put_as_pahole(struct layout_writer *writer, struct layout_frame frame, struct type type,
			  const char *name)
{
	struct btf_type record = { 0 };
	struct type function;
	size_t from;
	uint32_t id = type.id;
	type = put_const(writer, &frame, type);
	/* What is constant keeps its trailer, at the first level. */
	frame.with_trailer &= type.id != id;
	type_get(type, &record);
	switch (record.kind) {
	case BTF_ARRAY:
		if (++writer->depth < CHAIN_MAX)
			put_array(writer, &frame, &record, name);
		writer->depth--;
		return;
	case BTF_FUNC_PROTO:
		btf_layout_spell_function(writer->text, type, name, false, frame.type_width);
		return;
	case BTF_STRUCT:
	case BTF_UNION:
	case BTF_ENUM:
	case BTF_ENUM64:
		if (!goes_in_braces(writer, &record)) {
			put_tagged(writer, &frame, &record, name);
			return;
		}
		put_braces_and(writer, frame, &record, *name ? " " : "", name);
		return;
	case BTF_PTR:
		if (btf_layout_is_function_pointer(type, &function)) {
			btf_layout_spell_function(writer->text, function, name, true,
						  frame.type_width);
			return;
		}
		if (put_pointer_to_braces(writer, frame, &record, name))
			return;
		/* fallthrough */
	default:
		from = writer->text->size;
		btf_layout_spell(writer->text, type);
		put_column(writer, from, frame.type_width, name);
	}
}

/* --- as C has it -------------------------------------------------------------------- */

/*
 * The struct, union or enum below arrays, pointers and qualifiers that goes in braces. Through
 * typedefs only when all is expanded, and then not through pointers.
 */
static bool find_braces(const struct layout_writer *writer, struct type type, struct btf_type *ret)
{
	bool behind_pointer = false;
	for (int steps = 0; steps < CHAIN_MAX && type_get(type, ret); steps++) {
		if (is_aggregate(ret) || is_enum(ret))
			return goes_in_braces(writer, ret) && (!behind_pointer || !*ret->name);
		if (ret->kind == BTF_TYPEDEF ? !writer->style->expand || behind_pointer
					     : ret->kind != BTF_PTR && ret->kind != BTF_ARRAY &&
						       !kind_is_modifier(ret->kind))
			return false;
		behind_pointer |= ret->kind == BTF_PTR;
		type.id = ret->type;
	}
	return false;
}

/* Splits "char \001[16]" at the name, or at a function pointer's "(*". */
static void put_declaration(struct layout_writer *writer, const struct layout_frame *frame,
			    struct type type, const char *name)
{
	char spelled[SPELL_SIZE];
	struct strbuf *text = writer->text;
	size_t from = text->size;
	type_spell(type, PLACEHOLDER, spelled, sizeof(spelled));
	char *at = strchr(spelled, *PLACEHOLDER), *group = strstr(spelled, "(*");
	if (!at) { /* too long a name */
		strbuf_name(text, spelled);
		put_column(writer, from, frame->type_width, name);
		return;
	}
	size_t cut = (size_t)((group && group < at ? group : at) - spelled), before = cut;
	while (cut && spelled[cut - 1] == ' ')
		cut--;
	*at = 0;
	strbuf_bytes(text, spelled, cut);
	put_column(writer, from, frame->type_width, spelled + before);
	strbuf_name(text, name);
	strbuf_name(text, at + 1);
}

/* What C puts around the name behind the braces: "*name[2]". */
static void put_declarator(struct layout_writer *writer, struct type type, const char *name)
{
	char spelled[SPELL_SIZE];
	struct btf_type record = { 0 };
	type_spell(type, name, spelled, sizeof(spelled));
	const char *behind = strstr(spelled, "{...}");
	if (behind) {
		strbuf_name(writer->text, behind + strlen("{...}"));
		return;
	}
	if (*name)
		strbuf_char(writer->text, ' ');
	strbuf_name(writer->text, name);
	/* Of a type with a name only its arrays are to be told. */
	for (int steps = 0; steps < CHAIN_MAX && type_get(type, &record); steps++) {
		if (is_aggregate(&record))
			return;
		if (record.kind == BTF_ARRAY)
			strbuf_format(writer->text, "[%u]", record.array_count);
		type.id = record.type;
	}
}

static void put_as_c(struct layout_writer *writer, struct layout_frame frame, struct type type,
		     const char *name)
{
	struct btf_type braces = { 0 }, record = { 0 };
	if (!find_braces(writer, type, &braces)) {
		put_declaration(writer, &frame, type, name);
		return;
	}
	type_get(type, &record);
	if (record.kind == BTF_TYPEDEF) {
		strbuf_put(writer->text, "/* typedef ");
		strbuf_name(writer->text, record.name);
		strbuf_put(writer->text, " */ ");
	}
	frame.relative |= type_is_pointer(type);
	frame.with_trailer = false;
	put_in_braces(writer, frame, &braces, "");
	put_declarator(writer, type, name);
}

bool layout_put_type(struct layout_writer *writer, struct layout_frame frame, struct type type,
		     const char *name)
{
	struct btf_type record = { 0 };
	bool is_inline = type_get(type, &record) && is_anonymous(&record) &&
			 writer->depth < LAYOUT_NESTING_MAX;
	if (!writer->style->as_pahole) {
		put_as_c(writer, frame, type, name);
	} else if (is_inline) {
		/* The name comes behind the attributes. */
		frame.with_trailer = false;
		put_in_braces(writer, frame, &record, "");
		strbuf_put(writer->text, *name ? " " : "");
		strbuf_name(writer->text, name);
	} else {
		put_as_pahole(writer, frame, type, name);
	}
	return is_inline;
}
