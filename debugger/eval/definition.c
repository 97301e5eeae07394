// SPDX-License-Identifier: GPL-3.0-or-later
/* Definitions of types, with offsets and sizes in the columns where pahole has them. */
#include "debugger/eval/value.h"

#include "base/interrupt.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NESTING_MAX 16
#define MEMBERS_MAX (1u << 20)
#define TYPE_WIDTH  26
#define COMMENT_AT  48 /* columns after the indentation */
#define SPELL_SIZE  1024
/* Stands for the member's name while its type is spelled. */
#define PLACEHOLDER "\001"

struct listing {
	struct out *out;
	unsigned int indent;
	uint32_t members; /* written: hostile types may nest without end */
};

static void indent(const struct listing *listing)
{
	for (unsigned int i = 0; i < listing->indent; i++)
		out_text(listing->out, "\t");
}

static struct error *render_members(struct listing *listing, struct type type,
				    const struct btf_type *record, uint64_t base);

/* "/     0     8 /" in C's comment marks, or "19: 5  1" for a bit-field. */
static void show_place(const struct listing *listing, const struct btf_member *member,
		       uint64_t offset, uint64_t size, int width)
{
	int blanks = COMMENT_AT - width;
	out_text(listing->out, "%*s", blanks > 1 ? blanks : 1, "");
	if (member->bit_size)
		out_text(listing->out, "/* %5" PRIu64 ":%2u %2u */\n", offset,
			 (unsigned int)(member->bit_offset % 8), member->bit_size);
	else
		out_text(listing->out, "/* %5" PRIu64 " %5" PRIu64 " */\n", offset, size);
}

static void put_place(const struct listing *listing, const struct btf_member *member,
		      uint64_t offset, uint64_t size)
{
	out_u64_as(listing->out, "offset", offset, "");
	out_u64_as(listing->out, "size", size, "");
	if (member->bit_size) {
		out_u64_as(listing->out, "bit_offset", member->bit_offset % 8, "");
		out_u64_as(listing->out, "bit_size", member->bit_size, "");
	}
}

/* Splits "char \001[16]" into what stands before and behind; a function pointer's "(*" is behind.
 */
static void split_spelling(char *spelled, const char *name, char *declarator, size_t size)
{
	char *at = strchr(spelled, *PLACEHOLDER);
	if (!at) {
		snprintf(declarator, size, "%s", name);
		return;
	}
	char *group = strstr(spelled, "(*");
	char *cut = group && group < at ? group : at;
	snprintf(declarator, size, "%.*s%s%s", (int)(at - cut), cut, name, at + 1);
	*cut = 0;
	size_t length = strlen(spelled);
	while (length && spelled[length - 1] == ' ')
		spelled[--length] = 0;
}

static void show_simple(struct listing *listing, struct type type, const struct btf_member *member,
			uint64_t offset)
{
	char spelled[SPELL_SIZE], declarator[SPELL_SIZE], plain[SPELL_SIZE], line[2 * SPELL_SIZE];
	uint64_t size = 0;
	type_size(type, &size);
	type_spell(type, NULL, plain, sizeof(plain));
	type_spell(type, PLACEHOLDER, spelled, sizeof(spelled));
	split_spelling(spelled, member->name, declarator, sizeof(declarator));
	int width = snprintf(line, sizeof(line), "%-*s %s", TYPE_WIDTH, spelled, declarator);
	if (member->bit_size)
		width += snprintf(line + width, sizeof(line) - width, ":%u", member->bit_size);
	out_object_begin(listing->out, NULL);
	indent(listing);
	out_text(listing->out, "%s;", line);
	out_string_as(listing->out, "name", member->name, "");
	out_string_as(listing->out, "type", plain, "");
	put_place(listing, member, offset, size);
	show_place(listing, member, offset, size, width + 1);
	out_object_end(listing->out);
}

/* An anonymous struct or union: its members in braces, their offsets those of the whole. */
static struct error *show_nested(struct listing *listing, struct type type,
				 const struct btf_type *record, const struct btf_member *member,
				 uint64_t offset)
{
	const char *word = record->kind == BTF_UNION ? "union" : "struct";
	out_object_begin(listing->out, NULL);
	indent(listing);
	out_text(listing->out, "%s {\n", word);
	out_string_as(listing->out, "name", member->name, "");
	out_string_as(listing->out, "type", word, "");
	put_place(listing, member, offset, record->size);
	listing->indent++;
	struct error *error = render_members(listing, type, record, offset);
	listing->indent--;
	indent(listing);
	int width = 2 + (int)strlen(member->name);
	out_text(listing->out, *member->name ? "} %s;" : "}%s;", member->name);
	show_place(listing, member, offset, record->size, width + !!*member->name);
	out_object_end(listing->out);
	return error;
}

static bool is_anonymous(struct type type, struct btf_type *ret)
{
	return type_get(type, ret) && (ret->kind == BTF_STRUCT || ret->kind == BTF_UNION) &&
	       !*ret->name;
}

static struct error *render_members(struct listing *listing, struct type type,
				    const struct btf_type *record, uint64_t base)
{
	struct btf_member member;
	struct error *error = NULL;
	out_array_begin(listing->out, "members");
	for (uint32_t i = 0; !error && btf_member(record, i, &member); i++) {
		struct type part = { type.btf, member.type };
		struct btf_type inner;
		uint64_t offset = base + member.bit_offset / 8;
		if (++listing->members > MEMBERS_MAX)
			error = error_create(ERROR_FORMAT, "the type nests without end");
		else if (is_anonymous(part, &inner) && listing->indent < NESTING_MAX)
			error = show_nested(listing, part, &inner, &member, offset);
		else
			show_simple(listing, part, &member, offset);
		if (!error)
			error = interrupt_check();
	}
	out_array_end(listing->out);
	return error;
}

static void render_enumerators(struct listing *listing, const struct btf_type *record)
{
	struct btf_enumerator enumerator;
	bool is_signed = type_is_signed((struct type){ record->btf, record->id });
	out_array_begin(listing->out, "enumerators");
	for (uint32_t i = 0; btf_enumerator(record, i, &enumerator); i++) {
		out_object_begin(listing->out, NULL);
		out_text(listing->out, "\t");
		out_string(listing->out, "name", enumerator.name);
		out_text(listing->out, " = ");
		if (is_signed)
			out_i64(listing->out, "value", enumerator.value);
		else
			out_u64(listing->out, "value", (uint64_t)enumerator.value);
		out_text(listing->out, ",\n");
		out_object_end(listing->out);
	}
	out_array_end(listing->out);
}

static void show_opening(struct out *out, const char *word, const struct btf_type *record)
{
	out_string_as(out, "kind", word, "");
	out_string_as(out, "name", record->name, "");
	out_u64_as(out, "size", record->size, "");
	out_text(out, *record->name ? "%s %s {\n" : "%s%s {\n", word, record->name);
}

static struct error *render_aggregate(struct out *out, struct type type,
				      const struct btf_type *record)
{
	struct listing listing = { .out = out, .indent = 1 };
	show_opening(out, record->kind == BTF_UNION ? "union" : "struct", record);
	struct error *error = render_members(&listing, type, record, 0);
	out_text(out, "\n\t/* size: %u, members: %u */\n};\n", record->size, record->vlen);
	return error;
}

static void render_enum(struct out *out, const struct btf_type *record)
{
	struct listing listing = { .out = out };
	show_opening(out, "enum", record);
	render_enumerators(&listing, record);
	out_text(out, "};  /* size: %u */\n", record->size);
}

/* A typedef first says what it stands for. */
static void show_typedef(struct out *out, struct type type)
{
	struct btf_type record;
	char spelled[SPELL_SIZE];
	if (!type_get(type, &record) || record.kind != BTF_TYPEDEF)
		return;
	type_spell((struct type){ type.btf, record.type }, record.name, spelled, sizeof(spelled));
	out_text(out, "typedef %s;\n", spelled);
	out_string_as(out, "typedef", spelled, "");
}

struct error *definition_render(struct out *out, const char *key, struct type type)
{
	struct btf_type record;
	char spelled[SPELL_SIZE];
	struct error *error = NULL;
	uint64_t size;
	if (!type_get_resolved(type, &record))
		return error_create(ERROR_FORMAT, "the type does not exist");
	out_object_begin(out, key);
	show_typedef(out, type);
	type_spell(type_resolve(type), NULL, spelled, sizeof(spelled));
	if (record.kind == BTF_STRUCT || record.kind == BTF_UNION) {
		error = render_aggregate(out, type, &record);
	} else if (record.kind == BTF_ENUM || record.kind == BTF_ENUM64) {
		render_enum(out, &record);
	} else {
		out_string(out, "kind", spelled);
		out_text(out, ";");
		if (type_size(type, &size))
			out_text(out, "  /* size: %" PRIu64 " */", size);
		out_text(out, "\n");
	}
	out_object_end(out);
	return error;
}
