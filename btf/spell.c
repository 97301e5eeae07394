// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * C spelling. A declarator grows around the name: what a type puts before the name is written on
 * the way in, what it puts behind on the way out.
 */
#include "btf/btf.h"

#include "base/ascii.h"
#include "btf/level.h"
#include <string.h>

/* Enough for any kernel type; nesting that goes on is spelled "...". */
#define SPELL_DEPTH_MAX	 32
#define SPELL_VISITS_MAX 4096

#define QUALIFIER_CONST	   1u
#define QUALIFIER_VOLATILE 2u
#define QUALIFIER_RESTRICT 4u

struct spelling {
	char *buffer;
	size_t size, length;
	char last; /* character written */
	int depth;
	uint32_t visits; /* left */
};

static void put(struct spelling *spelling, const char *text)
{
	for (; *text; text++, spelling->length++) {
		if (spelling->length + 1 < spelling->size)
			spelling->buffer[spelling->length] = *text;
		spelling->last = *text;
	}
}

/* A blank where two words would run together, or where C's habit wants one. */
static void put_word(struct spelling *spelling, const char *word)
{
	char last = spelling->last;
	if (last && last != '*' && last != '(' && last != ' ')
		put(spelling, " ");
	put(spelling, word);
}

static void put_number(struct spelling *spelling, uint32_t number)
{
	char digits[16];
	char *at = digits + sizeof(digits) - 1;
	*at = 0;
	do {
		*--at = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	put(spelling, at);
}

static void put_qualifiers(struct spelling *spelling, unsigned int qualifiers)
{
	if (qualifiers & QUALIFIER_CONST)
		put_word(spelling, "const");
	if (qualifiers & QUALIFIER_VOLATILE)
		put_word(spelling, "volatile");
	if (qualifiers & QUALIFIER_RESTRICT)
		put_word(spelling, "restrict");
}

/* The record below qualifiers and tags, which are collected. False: a cycle, or no such id. */
static bool strip_qualifiers(struct type *type, struct btf_type *ret, unsigned int *qualifiers)
{
	for (int steps = 0; steps < CHAIN_MAX && type_get(*type, ret); steps++) {
		if (!kind_is_modifier(ret->kind))
			return true;
		if (ret->kind == BTF_CONST)
			*qualifiers |= QUALIFIER_CONST;
		else if (ret->kind == BTF_VOLATILE)
			*qualifiers |= QUALIFIER_VOLATILE;
		else if (ret->kind == BTF_RESTRICT)
			*qualifiers |= QUALIFIER_RESTRICT;
		type->id = ret->type;
	}
	return false;
}

static void put_tagged(struct spelling *spelling, const char *keyword, const char *name)
{
	put_word(spelling, keyword);
	put_word(spelling, name[0] ? name : "{...}");
}

/* A type that is one or two words. */
static void put_base(struct spelling *spelling, const struct btf_type *record)
{
	switch (record->kind) {
	case BTF_VOID:
		put_word(spelling, "void");
		return;
	case BTF_STRUCT:
		put_tagged(spelling, "struct", record->name);
		return;
	case BTF_UNION:
		put_tagged(spelling, "union", record->name);
		return;
	case BTF_ENUM:
	case BTF_ENUM64:
		put_tagged(spelling, "enum", record->name);
		return;
	case BTF_FWD:
		put_tagged(spelling, record->kind_flag ? "union" : "struct", record->name);
		return;
	default:
		put_word(spelling, record->name[0] ? record->name : "...");
	}
}

static void spell_declarator(struct spelling *spelling, struct type type, const char *name);

static bool wraps_pointer(struct type target)
{
	struct btf_type record;
	unsigned int ignored = 0;
	return strip_qualifiers(&target, &record, &ignored) &&
	       (record.kind == BTF_ARRAY || record.kind == BTF_FUNC_PROTO);
}

static void spell_before(struct spelling *spelling, struct type type, unsigned int qualifiers)
{
	struct btf_type record;
	if (spelling->depth >= SPELL_DEPTH_MAX || !spelling->visits ||
	    !strip_qualifiers(&type, &record, &qualifiers)) {
		put_word(spelling, "...");
		return;
	}
	spelling->visits--;
	struct type inner = { type.btf, record.type };
	spelling->depth++;
	switch (record.kind) {
	case BTF_PTR:
		spell_before(spelling, inner, 0);
		if (spelling->last != '*' && spelling->last != '(')
			put(spelling, " ");
		put(spelling, wraps_pointer(inner) ? "(*" : "*");
		put_qualifiers(spelling, qualifiers);
		break;
	case BTF_ARRAY:
		/* An array is as const as its elements. */
		spell_before(spelling, inner, qualifiers);
		break;
	case BTF_FUNC_PROTO:
	case BTF_FUNC:
	case BTF_VAR:
	case BTF_DECL_TAG:
		spell_before(spelling, inner, 0);
		break;
	default:
		put_qualifiers(spelling, qualifiers);
		put_base(spelling, &record);
	}
	spelling->depth--;
}

static void spell_params(struct spelling *spelling, struct type type, const struct btf_type *proto)
{
	struct btf_param param;
	put(spelling, "(");
	for (uint32_t i = 0; spelling->visits && btf_param(proto, i, &param); i++) {
		if (i)
			put(spelling, ", ");
		if (!param.type && !param.name[0] && i + 1 == proto->vlen)
			put(spelling, "...");
		else
			spell_declarator(spelling, (struct type){ type.btf, param.type },
					 param.name);
	}
	put(spelling, proto->vlen ? ")" : "void)");
}

/* "int [4]" and "int (void)", but "int x[4]" and "int (*)[4]". */
static void put_suffix_blank(struct spelling *spelling, bool named)
{
	if (!named && (ascii_is_alnum(spelling->last) || spelling->last == '_' ||
		       spelling->last == '}' || spelling->last == '.'))
		put(spelling, " ");
}

static void spell_after(struct spelling *spelling, struct type type, bool named)
{
	struct btf_type record;
	unsigned int ignored = 0;
	if (spelling->depth >= SPELL_DEPTH_MAX || !spelling->visits ||
	    !strip_qualifiers(&type, &record, &ignored))
		return;
	spelling->visits--;
	struct type inner = { type.btf, record.type };
	spelling->depth++;
	switch (record.kind) {
	case BTF_PTR:
		if (wraps_pointer(inner))
			put(spelling, ")");
		spell_after(spelling, inner, true);
		break;
	case BTF_ARRAY:
		put_suffix_blank(spelling, named);
		put(spelling, "[");
		if (record.array_count)
			put_number(spelling, record.array_count);
		put(spelling, "]");
		spell_after(spelling, inner, true);
		break;
	case BTF_FUNC_PROTO:
		put_suffix_blank(spelling, named);
		spell_params(spelling, type, &record);
		spell_after(spelling, inner, true);
		break;
	case BTF_FUNC:
	case BTF_VAR:
	case BTF_DECL_TAG:
		spell_after(spelling, inner, named);
		break;
	default:
		break;
	}
	spelling->depth--;
}

static void spell_declarator(struct spelling *spelling, struct type type, const char *name)
{
	if (spelling->depth >= SPELL_DEPTH_MAX) {
		put(spelling, "...");
		return;
	}
	spelling->depth++;
	spell_before(spelling, type, 0);
	if (name[0])
		put_word(spelling, name);
	spell_after(spelling, type, name[0]);
	spelling->depth--;
}

size_t type_spell(struct type type, const char *declared, char *buffer, size_t size)
{
	struct spelling spelling = {
		.buffer = buffer,
		.size = size,
		.visits = SPELL_VISITS_MAX,
	};
	struct btf_type record;
	if (!declared || !declared[0]) {
		/* Variables and functions bring a name of their own. */
		bool has_name = type_get(type, &record) &&
				(record.kind == BTF_VAR || record.kind == BTF_FUNC);
		declared = has_name ? record.name : "";
	}
	spell_declarator(&spelling, type, declared);
	if (size)
		buffer[spelling.length < size ? spelling.length : size - 1] = 0;
	return spelling.length;
}
