// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/show/types_search.h"

#include "base/interrupt.h"
#include "debugger/target/object.h"
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX  24
#define VISITS_MAX 100000 /* members that one type may show */
#define PATH_SIZE  512
#define SPELL_SIZE 512

static const struct column columns[] = {
	{ "btf", "BTF", -10 },	     { "id", "ID", 7 },	      { "kind", "KIND", -7 },
	{ "size", "SIZE", 6 },	     { "name", "NAME", -28 }, { "offset", "OFFSET", 6 },
	{ "member", "MEMBER", -24 }, { "type", "TYPE", -1 },
};

/* Whether a type holds what is looked for, by id. */
enum holding { HOLDING_UNKNOWN, HOLDING_OPEN, HOLDING_NO, HOLDING_YES };

struct hunt {
	struct out *out;
	const struct btf *btf;
	const struct types_search *search;
	struct btf_type wanted; /* record of search->contains */
	uint8_t *holdings;
	const struct btf_type *shown; /* whose row it is */
	const char *shown_name, *shown_kind;
	uint32_t visits;
};

void types_search_begin(struct out *out)
{
	out_table_begin(out, NULL, columns, sizeof(columns) / sizeof(columns[0]));
}

void types_search_end(struct out *out)
{
	out_table_end(out);
}

static bool is_aggregate(const struct btf_type *record)
{
	return record->kind == BTF_STRUCT || record->kind == BTF_UNION;
}

static bool is_enum(const struct btf_type *record)
{
	return record->kind == BTF_ENUM || record->kind == BTF_ENUM64;
}

static bool fits(const char *pattern, const char *name)
{
	return !pattern || !fnmatch(pattern, name, 0);
}

/* --- rows --------------------------------------------------------------------------- */

/* `type`: of the member at `path`; NULL: the row is for the type as a whole. */
static void show(const struct hunt *hunt, const struct type *type, const char *path,
		 uint64_t bit_offset)
{
	struct out *out = hunt->out;
	char spelled[SPELL_SIZE] = "";
	if (type)
		type_spell(*type, NULL, spelled, sizeof(spelled));
	out_row_begin(out);
	out_string(out, "btf", btf_name(hunt->btf));
	out_u64(out, "id", hunt->shown->id);
	out_string(out, "kind", hunt->shown_kind);
	out_u64(out, "size", hunt->shown->size);
	out_string(out, "name", hunt->shown_name);
	if (type)
		out_u64(out, "offset", bit_offset / 8);
	else
		out_null_as(out, "offset", "");
	out_string(out, "member", path);
	out_string(out, "type", spelled);
	out_row_end(out);
}

/* --- containing ------------------------------------------------------------------------ */

/* The type itself, under any of the names it goes by. */
static bool is_wanted(const struct hunt *hunt, struct type type)
{
	struct btf_type record;
	const struct btf_type *wanted = &hunt->wanted;
	for (int steps = 0; steps < DEPTH_MAX && type_get(type, &record); steps++) {
		if (record.kind == wanted->kind && !strcmp(record.name, wanted->name) &&
		    type_equal(type, hunt->search->contains))
			return true;
		if (record.kind != BTF_TYPEDEF && record.kind != BTF_CONST &&
		    record.kind != BTF_VOLATILE && record.kind != BTF_RESTRICT &&
		    record.kind != BTF_TYPE_TAG)
			return false;
		type.id = record.type;
	}
	return false;
}

/* What an array, of arrays perhaps, is made of. */
static struct type element_of(struct type type, bool *ret_array)
{
	struct btf_type record;
	*ret_array = false;
	for (int steps = 0; steps < DEPTH_MAX && type_get_resolved(type, &record); steps++) {
		if (record.kind != BTF_ARRAY)
			break;
		type = (struct type){ type.btf, record.type };
		*ret_array = true;
	}
	return type;
}

static bool holds(struct hunt *hunt, struct type type, int depth)
{
	struct btf_type record;
	struct btf_member member;
	bool is_array, found = false;
	if (is_wanted(hunt, type))
		return true;
	type = element_of(type, &is_array);
	if (is_array && is_wanted(hunt, type))
		return true;
	if (depth > DEPTH_MAX || !type_get_resolved(type, &record) || !is_aggregate(&record))
		return false;
	uint8_t *holding = &hunt->holdings[record.id];
	if (*holding != HOLDING_UNKNOWN)
		return *holding == HOLDING_YES;
	*holding = HOLDING_OPEN;
	for (uint32_t i = 0; !found && btf_member(&record, i, &member); i++)
		found = holds(hunt, (struct type){ hunt->btf, member.type }, depth + 1);
	*holding = found ? HOLDING_YES : HOLDING_NO;
	return found;
}

/*
 * Goes on with `path`, of `length`, to the first place of the wanted type within `type`, which
 * holds it.
 */
static void find_place(struct hunt *hunt, struct type *type, char *path, size_t length,
		       uint64_t *bit_offset)
{
	struct btf_type record;
	struct btf_member member;
	for (int depth = 0; depth < DEPTH_MAX && !is_wanted(hunt, *type); depth++) {
		bool is_array;
		struct type element = element_of(*type, &is_array);
		if (is_array && is_wanted(hunt, element))
			return;
		if (!type_get_resolved(element, &record))
			return;
		uint32_t i = 0;
		while (btf_member(&record, i, &member) &&
		       !holds(hunt, (struct type){ hunt->btf, member.type }, 0))
			i++;
		if (!btf_member(&record, i, &member))
			return;
		*type = (struct type){ hunt->btf, member.type };
		*bit_offset += member.bit_offset;
		if (length < PATH_SIZE)
			length += (size_t)snprintf(path + length, PATH_SIZE - length, "%s%s%s",
						   is_array ? "[0]" : "",
						   *member.name && length ? "." : "", member.name);
	}
}

/* --- members ---------------------------------------------------------------------------- */

static void visit_member(struct hunt *hunt, const struct btf_member *member, uint64_t bit_offset)
{
	char path[PATH_SIZE];
	struct type type = { hunt->btf, member->type };
	if (!fits(hunt->search->member, member->name))
		return;
	snprintf(path, sizeof(path), "%s", member->name);
	if (hunt->search->contains.btf) {
		if (!holds(hunt, type, 0))
			return;
		find_place(hunt, &type, path, strlen(path), &bit_offset);
	}
	show(hunt, &type, path, bit_offset);
}

/* The members, those of anonymous structs and unions as if they were the type's own. */
static void visit_members(struct hunt *hunt, const struct btf_type *record, uint64_t bit_offset,
			  int depth)
{
	struct btf_member member;
	struct btf_type inner;
	for (uint32_t i = 0; hunt->visits && !interrupt_flag && btf_member(record, i, &member);
	     i++) {
		struct type type = { hunt->btf, member.type };
		uint64_t at = bit_offset + member.bit_offset;
		hunt->visits--;
		if (*member.name)
			visit_member(hunt, &member, at);
		else if (depth < DEPTH_MAX && type_get(type, &inner) && is_aggregate(&inner))
			visit_members(hunt, &inner, at, depth + 1);
	}
}

/* --- types ------------------------------------------------------------------------------- */

/*
 * The struct, union or enum that a record is, or that a typedef gives the only name it has; false
 * for what is not searched.
 */
static bool find_shown(const struct hunt *hunt, const struct btf_type *record, struct btf_type *ret)
{
	if (record->kind == BTF_TYPEDEF)
		return btf_get(hunt->btf, record->type, ret) &&
		       (is_aggregate(ret) || is_enum(ret)) && !*ret->name;
	*ret = *record;
	return *record->name && (is_aggregate(record) || is_enum(record));
}

static const char *kind_word(const struct btf_type *record)
{
	return record->kind == BTF_STRUCT  ? "struct"
	       : record->kind == BTF_UNION ? "union"
	       : is_enum(record)	   ? "enum"
					   : "typedef";
}

static void visit_type(struct hunt *hunt, const struct btf_type *record)
{
	const struct types_search *search = hunt->search;
	bool by_member = search->member || search->contains.btf;
	struct btf_type shown;
	if (!fits(search->pattern, record->name))
		return;
	if (!find_shown(hunt, record, &shown)) {
		/* By name alone, typedefs of anything are found too. */
		uint64_t size;
		if (record->kind != BTF_TYPEDEF || by_member || search->has_size ||
		    !search->pattern)
			return;
		shown = *record;
		shown.size = type_size((struct type){ hunt->btf, record->id }, &size)
				     ? (uint32_t)size
				     : 0;
	}
	if (search->has_size && shown.size != search->size)
		return;
	hunt->shown = &shown;
	hunt->shown_name = record->name;
	hunt->shown_kind = kind_word(record);
	hunt->visits = VISITS_MAX;
	if (by_member && is_aggregate(&shown))
		visit_members(hunt, &shown, 0, 0);
	else if (!by_member)
		show(hunt, NULL, "", 0);
}

struct error *types_search_in(struct out *out, const struct btf *btf,
			      const struct types_search *search)
{
	struct hunt hunt = { .out = out, .btf = btf, .search = search };
	struct btf_type record;
	struct error *error = NULL;
	if (search->contains.btf && !type_get(search->contains, &hunt.wanted))
		return NULL;
	hunt.holdings = calloc(btf_end_id(btf), 1);
	if (!hunt.holdings)
		return error_no_memory();
	for (uint32_t id = btf_start_id(btf); !error && btf_get(btf, id, &record); id++) {
		visit_type(&hunt, &record);
		error = interrupt_check();
	}
	free(hunt.holdings);
	return error;
}
