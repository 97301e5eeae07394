// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Declarations: the declarator grows around the name while the types are gone through from the
 * outermost in, and what is left is the base that stands before it.
 */
#include "btf/header_private.h"

#include "base/array.h"
#include "btf/level.h"
#include <stdio.h>

#define QUALIFIER_CONST	   1u
#define QUALIFIER_VOLATILE 2u
#define QUALIFIER_RESTRICT 4u

static void put_tabs(struct strbuf *text, int count)
{
	strbuf_repeat(text, '\t', (size_t)count);
}

/* --- enums ------------------------------------------------------------------------- */

static void put_enumerators(struct header *header, struct strbuf *text,
			    const struct btf_type *record, int indent)
{
	struct btf_enumerator enumerator;
	bool is_signed = btf_enum_is_signed(record);
	for (uint32_t i = 0; btf_enumerator(record, i, &enumerator) && header_may_go_on(header);
	     i++) {
		uint32_t suffix;
		if (!header_claim(&header->ordinary, enumerator.name, &suffix)) {
			header->error = error_no_memory();
			return;
		}
		put_tabs(text, indent + 1);
		header_put_identifier(text, enumerator.name, suffix);
		strbuf_put(text, " = ");
		/* The smallest number has no literal of its own. */
		if (is_signed && enumerator.value == INT64_MIN)
			strbuf_put(text, "-9223372036854775807LL - 1");
		else if (is_signed)
			strbuf_i64(text, enumerator.value);
		else
			strbuf_u64(text, (uint64_t)enumerator.value);
		if (!is_signed && enumerator.value < 0)
			strbuf_put(text, "ULL");
		strbuf_put(text, ",\n");
	}
}

static const char *mode_of(uint32_t size)
{
	switch (size) {
	case 1:
		return " __attribute__((mode(__QI__)))";
	case 2:
		return " __attribute__((mode(__HI__)))";
	case 8:
		return " __attribute__((mode(__DI__)))";
	}
	return "";
}

void header_put_enum(struct header *header, struct strbuf *text, const struct btf_type *record,
		     int indent)
{
	uint32_t suffix = header->types[record->id].suffix;
	strbuf_put(text, "enum ");
	if (*record->name) {
		header_put_identifier(text, record->name, suffix);
		strbuf_char(text, ' ');
	}
	strbuf_put(text, "{\n");
	put_enumerators(header, text, record, indent);
	if (!record->vlen) { /* only declared, but C wants something in it */
		put_tabs(text, indent + 1);
		strbuf_format(text, "__enum_%u_is_empty,\n", record->id);
	}
	put_tabs(text, indent);
	strbuf_char(text, '}');
	strbuf_put(text, mode_of(record->size));
	header->types[record->id].state = HEADER_DONE;
}

/* --- bases ------------------------------------------------------------------------- */

static const char *integer_of(uint32_t size, bool is_signed)
{
	switch (size) {
	case 1:
		return is_signed ? "signed char" : "unsigned char";
	case 2:
		return is_signed ? "short" : "unsigned short";
	case 8:
		return is_signed ? "long long" : "unsigned long long";
	case 16:
		return is_signed ? "__int128" : "unsigned __int128";
	}
	return is_signed ? "int" : "unsigned int";
}

/* The words of an integer's name, in any order that compilers give them, are C's; else by size. */
static bool is_c_integer(const char *name)
{
	static const char *const words[] = { "char",   "short",	   "int",   "long",
					     "signed", "unsigned", "_Bool", "__int128" };
	while (*name) {
		size_t length = strcspn(name, " "), i = 0;
		while (i < ARRAY_COUNT(words) &&
		       (strlen(words[i]) != length || strncmp(words[i], name, length)))
			i++;
		if (i == ARRAY_COUNT(words))
			return false;
		name += length;
		name += strspn(name, " ");
	}
	return true;
}

static void put_integer(struct strbuf *text, const struct btf_type *record)
{
	if (*record->name && is_c_integer(record->name))
		strbuf_put(text, record->name);
	else if (record->int_encoding & BTF_INT_BOOL && record->size == 1)
		strbuf_put(text, "_Bool");
	else
		strbuf_put(text, integer_of(record->size, record->int_encoding & BTF_INT_SIGNED));
}

static void put_float(struct strbuf *text, const struct btf_type *record)
{
	strbuf_put(text, record->size == 2   ? "_Float16"
			 : record->size == 4 ? "float"
			 : record->size == 8 ? "double"
					     : "long double");
}

/* Without a name it can be written once only; behind that its number goes for it. */
static void put_enum_base(struct header *header, struct strbuf *text, const struct btf_type *record,
			  int indent)
{
	struct header_type *type = &header->types[record->id];
	if (*record->name) {
		strbuf_put(text, "enum ");
		header_put_identifier(text, record->name, type->suffix);
	} else if (type->state == HEADER_DONE) {
		strbuf_put(text, integer_of(record->size, btf_enum_is_signed(record)));
	} else {
		header_put_enum(header, text, record, indent);
	}
}

static void put_base(struct header *header, struct strbuf *text, const struct btf_type *record,
		     int indent)
{
	bool is_union = record->kind == BTF_UNION || (record->kind == BTF_FWD && record->kind_flag);
	switch (record->kind) {
	case BTF_INT:
		put_integer(text, record);
		return;
	case BTF_FLOAT:
		put_float(text, record);
		return;
	case BTF_STRUCT:
	case BTF_UNION:
	case BTF_FWD:
		if (!*record->name && record->kind != BTF_FWD) {
			header_put_record(header, text, record, indent);
			return;
		}
		strbuf_put(text, is_union ? "union " : "struct ");
		header_put_identifier(text, record->name, header->types[record->id].suffix);
		return;
	case BTF_ENUM:
	case BTF_ENUM64:
		put_enum_base(header, text, record, indent);
		return;
	case BTF_TYPEDEF:
		header_put_identifier(text, record->name, header->types[record->id].suffix);
		return;
	default:
		strbuf_put(text, "void");
	}
}

/* --- declarators --------------------------------------------------------------------- */

static void prepend(struct strbuf *text, const char *before)
{
	size_t length = strlen(before);
	if (!strbuf_room(text, length))
		return;
	if (text->size)
		memmove(text->data + length, text->data, text->size);
	memcpy(text->data, before, length);
	text->size += length;
}

static void put_qualifiers(struct strbuf *text, unsigned int qualifiers)
{
	if (qualifiers & QUALIFIER_CONST)
		strbuf_put(text, "const ");
	if (qualifiers & QUALIFIER_VOLATILE)
		strbuf_put(text, "volatile ");
}

static void put_params(struct header *header, struct strbuf *name, const struct btf_type *proto)
{
	struct btf_param param;
	strbuf_char(name, '(');
	for (uint32_t i = 0; btf_param(proto, i, &param) && header_may_go_on(header); i++) {
		struct strbuf nameless = { 0 };
		if (i)
			strbuf_put(name, ", ");
		if (param.type)
			header_put_declaration(header, name, param.type, &nameless, 0);
		else if (i) /* and alone it may not stand in C */
			strbuf_put(name, "...");
		strbuf_deinit(&nameless);
	}
	strbuf_put(name, proto->vlen ? ")" : "void)");
}

static void put_star(struct strbuf *name, unsigned int qualifiers)
{
	char star[32];
	snprintf(star, sizeof(star), "*%s%s%s", qualifiers & QUALIFIER_CONST ? " const " : "",
		 qualifiers & QUALIFIER_VOLATILE ? " volatile " : "",
		 qualifiers & QUALIFIER_RESTRICT ? " __restrict " : "");
	prepend(name, star);
}

/* One step from the outside in; false: `record` is the base. */
static bool step(struct header *header, const struct btf_type *record, struct strbuf *name,
		 unsigned int *qualifiers, bool *is_behind_star)
{
	bool binds = record->kind == BTF_ARRAY || record->kind == BTF_FUNC_PROTO;
	if (binds && *is_behind_star) {
		prepend(name, "(");
		strbuf_char(name, ')');
	}
	*is_behind_star = record->kind == BTF_PTR || (*is_behind_star && !binds);
	switch (record->kind) {
	case BTF_CONST:
		*qualifiers |= QUALIFIER_CONST;
		return true;
	case BTF_VOLATILE:
		*qualifiers |= QUALIFIER_VOLATILE;
		return true;
	case BTF_RESTRICT:
		*qualifiers |= QUALIFIER_RESTRICT;
		return true;
	case BTF_TYPE_TAG:
		return true;
	case BTF_PTR:
		put_star(name, *qualifiers);
		*qualifiers = 0;
		return true;
	case BTF_ARRAY:
		strbuf_format(name, "[%u]", record->array_count);
		return true;
	case BTF_FUNC_PROTO:
		put_params(header, name, record);
		*qualifiers = 0;
		return true;
	default:
		return false;
	}
}

void header_put_declaration(struct header *header, struct strbuf *text, uint32_t id,
			    struct strbuf *name, int indent)
{
	struct btf_type record = { 0 };
	unsigned int qualifiers = 0;
	bool is_behind_star = false;
	if (++header->depth > HEADER_DEPTH_MAX && !header->error)
		header->error = error_create(ERROR_FORMAT, "type %u nests without end", id);
	int steps = 0;
	while (!header->error && steps++ < CHAIN_MAX && btf_get(header->btf, id, &record) &&
	       step(header, &record, name, &qualifiers, &is_behind_star))
		id = record.type;
	if (!header->error) {
		put_qualifiers(text, qualifiers);
		put_base(header, text, &record, indent);
		if (name->size)
			strbuf_char(text, ' ');
		if (name->data)
			strbuf_bytes(text, name->data, name->size);
	}
	if (name->failed && !header->error)
		header->error = error_no_memory();
	name->size = 0;
	header->depth--;
}
