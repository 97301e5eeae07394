// SPDX-License-Identifier: GPL-3.0-or-later
/* See btf/spell.c: a declarator grows around the name, first before it, then behind. */
#include "tests/truth/dwarf_spell.h"

#include <ctype.h>
#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64

#define QUALIFIER_CONST	   1u
#define QUALIFIER_VOLATILE 2u
#define QUALIFIER_RESTRICT 4u

struct spelling {
	FILE *out;
	char last; /* character written */
	int depth;
};

bool dwarf_type_of(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute attribute;
	return dwarf_attr_integrate(die, DW_AT_type, &attribute) &&
	       dwarf_formref_die(&attribute, ret);
}

static void put(struct spelling *spelling, const char *text)
{
	if (!*text)
		return;
	fputs(text, spelling->out);
	spelling->last = text[strlen(text) - 1];
}

static void put_word(struct spelling *spelling, const char *word)
{
	char last = spelling->last;
	if (last && last != '*' && last != '(' && last != ' ')
		put(spelling, " ");
	put(spelling, word);
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

static unsigned int qualifier_of(int tag)
{
	switch (tag) {
	case DW_TAG_const_type:
		return QUALIFIER_CONST;
	case DW_TAG_volatile_type:
		return QUALIFIER_VOLATILE;
	case DW_TAG_restrict_type:
		return QUALIFIER_RESTRICT;
	}
	return 0;
}

/* The type below qualifiers, which are collected; false: void. */
static bool strip_qualifiers(Dwarf_Die *type, unsigned int *qualifiers)
{
	for (unsigned int own; (own = qualifier_of(dwarf_tag(type)));) {
		*qualifiers |= own;
		Dwarf_Die inner;
		if (!dwarf_type_of(type, &inner))
			return false;
		*type = inner;
	}
	return true;
}

static void put_tagged(struct spelling *spelling, const char *keyword, Dwarf_Die *type)
{
	const char *name = dwarf_diename(type);
	put_word(spelling, keyword);
	put_word(spelling, name ? name : "{...}");
}

static void put_base(struct spelling *spelling, Dwarf_Die *type)
{
	const char *name = dwarf_diename(type);
	switch (dwarf_tag(type)) {
	case DW_TAG_structure_type:
		put_tagged(spelling, "struct", type);
		return;
	case DW_TAG_union_type:
		put_tagged(spelling, "union", type);
		return;
	case DW_TAG_enumeration_type:
		put_tagged(spelling, "enum", type);
		return;
	default:
		put_word(spelling, name ? name : "...");
	}
}

static bool wraps_pointer(Dwarf_Die *pointer)
{
	Dwarf_Die target;
	unsigned int ignored = 0;
	if (!dwarf_type_of(pointer, &target) || !strip_qualifiers(&target, &ignored))
		return false;
	return dwarf_tag(&target) == DW_TAG_array_type ||
	       dwarf_tag(&target) == DW_TAG_subroutine_type;
}

/* `owner`: the entry whose type is spelled. */
static void spell_before(struct spelling *spelling, Dwarf_Die *owner, unsigned int qualifiers)
{
	Dwarf_Die type;
	if (++spelling->depth > DEPTH_MAX) {
		put_word(spelling, "...");
	} else if (!dwarf_type_of(owner, &type) || !strip_qualifiers(&type, &qualifiers)) {
		put_qualifiers(spelling, qualifiers);
		put_word(spelling, "void");
	} else if (dwarf_tag(&type) == DW_TAG_pointer_type) {
		spell_before(spelling, &type, 0);
		if (spelling->last != '*' && spelling->last != '(')
			put(spelling, " ");
		put(spelling, wraps_pointer(&type) ? "(*" : "*");
		put_qualifiers(spelling, qualifiers);
	} else if (dwarf_tag(&type) == DW_TAG_array_type) {
		spell_before(spelling, &type, qualifiers);
	} else if (dwarf_tag(&type) == DW_TAG_subroutine_type) {
		spell_before(spelling, &type, 0);
	} else {
		put_qualifiers(spelling, qualifiers);
		put_base(spelling, &type);
	}
	spelling->depth--;
}

static void spell_declarator(struct spelling *spelling, Dwarf_Die *owner);

static void spell_params(struct spelling *spelling, Dwarf_Die *function)
{
	Dwarf_Die child;
	bool first = true;
	put(spelling, "(");
	for (int more = dwarf_child(function, &child); !more;
	     more = dwarf_siblingof(&child, &child)) {
		int tag = dwarf_tag(&child);
		if (tag != DW_TAG_formal_parameter && tag != DW_TAG_unspecified_parameters)
			continue;
		if (!first)
			put(spelling, ", ");
		first = false;
		if (tag == DW_TAG_formal_parameter)
			spell_declarator(spelling, &child);
		else
			put(spelling, "...");
	}
	put(spelling, first ? "void)" : ")");
}

static uint64_t dimension(Dwarf_Die *subrange)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;
	if (dwarf_attr(subrange, DW_AT_count, &attribute) && !dwarf_formudata(&attribute, &value))
		return value;
	if (dwarf_attr(subrange, DW_AT_upper_bound, &attribute) &&
	    !dwarf_formudata(&attribute, &value))
		return value + 1;
	return 0;
}

static void put_dimensions(struct spelling *spelling, Dwarf_Die *array)
{
	Dwarf_Die child;
	bool any = false;
	for (int more = dwarf_child(array, &child); !more; more = dwarf_siblingof(&child, &child)) {
		if (dwarf_tag(&child) != DW_TAG_subrange_type)
			continue;
		any = true;
		uint64_t count = dimension(&child);
		if (count)
			fprintf(spelling->out, "[%" PRIu64, count);
		else
			fputs("[", spelling->out);
		put(spelling, "]");
	}
	if (!any)
		put(spelling, "[]");
}

/* "int [4]", but "int (*)[4]". */
static void put_suffix_blank(struct spelling *spelling, bool inside)
{
	char last = spelling->last;
	if (!inside && (isalnum((unsigned char)last) || last == '_' || last == '}' || last == '.'))
		put(spelling, " ");
}

static void spell_after(struct spelling *spelling, Dwarf_Die *owner, bool inside)
{
	Dwarf_Die type;
	unsigned int ignored = 0;
	if (spelling->depth >= DEPTH_MAX || !dwarf_type_of(owner, &type) ||
	    !strip_qualifiers(&type, &ignored))
		return;
	spelling->depth++;
	switch (dwarf_tag(&type)) {
	case DW_TAG_pointer_type:
		if (wraps_pointer(&type))
			put(spelling, ")");
		spell_after(spelling, &type, true);
		break;
	case DW_TAG_array_type:
		put_suffix_blank(spelling, inside);
		put_dimensions(spelling, &type);
		spell_after(spelling, &type, true);
		break;
	case DW_TAG_subroutine_type:
		put_suffix_blank(spelling, inside);
		spell_params(spelling, &type);
		spell_after(spelling, &type, true);
		break;
	}
	spelling->depth--;
}

static void spell_declarator(struct spelling *spelling, Dwarf_Die *owner)
{
	spell_before(spelling, owner, 0);
	spell_after(spelling, owner, false);
}

char *dwarf_spell_type_of(Dwarf_Die *die)
{
	char *text = NULL;
	size_t size;
	struct spelling spelling = { .out = open_memstream(&text, &size) };
	if (!spelling.out)
		return NULL;
	spell_declarator(&spelling, die);
	fclose(spelling.out);
	return text;
}

uint64_t dwarf_size_of(Dwarf_Die *die)
{
	Dwarf_Die type;
	Dwarf_Word size;
	if (!dwarf_type_of(die, &type) || dwarf_aggregate_size(&type, &size))
		return 0;
	return size;
}

static uint64_t member_bit(Dwarf_Die *member)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;
	if (dwarf_attr(member, DW_AT_data_bit_offset, &attribute) &&
	    !dwarf_formudata(&attribute, &value))
		return value;
	if (dwarf_attr(member, DW_AT_data_member_location, &attribute) &&
	    !dwarf_formudata(&attribute, &value))
		return value * 8;
	return 0;
}

static void put_members(FILE *out, Dwarf_Die *type)
{
	Dwarf_Die child;
	bool first = true;
	for (int more = dwarf_child(type, &child); !more; more = dwarf_siblingof(&child, &child)) {
		if (dwarf_tag(&child) != DW_TAG_member)
			continue;
		const char *name = dwarf_diename(&child);
		fprintf(out, "%s%s@%" PRIu64, first ? "" : ",", name ? name : "",
			member_bit(&child));
		first = false;
	}
}

/* Below arrays and qualifiers. */
static bool innermost(Dwarf_Die *die, Dwarf_Die *ret)
{
	if (!dwarf_type_of(die, ret))
		return false;
	for (int steps = 0; steps < DEPTH_MAX; steps++) {
		int tag = dwarf_tag(ret);
		if (tag != DW_TAG_array_type && !qualifier_of(tag))
			return true;
		Dwarf_Die inner;
		if (!dwarf_type_of(ret, &inner))
			return false;
		*ret = inner;
	}
	return false;
}

char *dwarf_members_of(Dwarf_Die *die)
{
	Dwarf_Die type;
	if (!innermost(die, &type) || dwarf_diename(&type) ||
	    (dwarf_tag(&type) != DW_TAG_structure_type && dwarf_tag(&type) != DW_TAG_union_type))
		return NULL;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	put_members(out, &type);
	fclose(out);
	return text;
}
