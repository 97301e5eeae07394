// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/hints/unnamed_types.h"

#include "base/array.h"
#include <stdlib.h>
#include <string.h>

void unnamed_types_deinit(struct unnamed_types *types)
{
	free(types->items);
	free(types->listed);
}

/* The names behind "struct {" or "union {"; NULL: it is something else. */
static const char *spelled_names(const char *text, enum btf_kind *ret_kind)
{
	static const struct {
		const char *text;
		enum btf_kind kind;
	} heads[] = { { "struct {", BTF_STRUCT }, { "union {", BTF_UNION } };
	for (size_t i = 0; i < ARRAY_COUNT(heads); i++) {
		if (strncmp(text, heads[i].text, strlen(heads[i].text)) != 0)
			continue;
		*ret_kind = heads[i].kind;
		return text + strlen(heads[i].text);
	}
	return NULL;
}

bool unnamed_is_spelled(const char *text)
{
	enum btf_kind kind;
	return spelled_names(text, &kind);
}

/* False without memory: then they are not found. */
static bool list(struct unnamed_types *types, const struct btf *btf)
{
	struct btf_type record;
	struct btf_member first;
	for (size_t i = 0; i < types->listed_count; i++)
		if (types->listed[i] == btf)
			return true;
	if (!array_reserve(&types->listed, &types->listed_capacity, types->listed_count + 1))
		return false;
	types->listed[types->listed_count++] = btf;
	for (uint32_t id = btf_start_id(btf); id < btf_end_id(btf); id++) {
		if (!btf_get(btf, id, &record) || *record.name ||
		    (record.kind != BTF_STRUCT && record.kind != BTF_UNION) ||
		    !btf_member(&record, 0, &first))
			continue;
		if (!array_reserve(&types->items, &types->capacity, types->count + 1))
			return false;
		types->items[types->count++] = (struct unnamed_type){ { btf, id }, first.name };
	}
	return true;
}

/* "a,b,c}": all members in their order, and nothing behind the brace. */
static bool has_members(const struct btf_type *record, const char *names)
{
	struct btf_member member;
	for (uint32_t i = 0; btf_member(record, i, &member); i++) {
		size_t length = strlen(member.name);
		char end = i + 1 < record->vlen ? ',' : '}';
		if (strncmp(names, member.name, length) != 0 || names[length] != end)
			return false;
		names += length + 1;
	}
	return record->vlen && !*names;
}

static bool is_below(const struct btf *level, const struct btf *btf)
{
	while (btf && btf != level)
		btf = btf_base(btf);
	return btf;
}

struct type unnamed_find(struct unnamed_types *types, const struct btf *btf, const char *text)
{
	static const struct type none = { NULL, 0 };
	struct type found = none;
	enum btf_kind kind;
	const char *names = spelled_names(text, &kind);
	for (const struct btf *level = btf; names && level; level = btf_base(level))
		if (!list(types, level))
			return none;
	for (size_t i = 0; names && i < types->count; i++) {
		struct type type = types->items[i].type;
		const char *first = types->items[i].first;
		struct btf_type record;
		if (strncmp(names, first, strlen(first)) != 0 || !is_below(type.btf, btf) ||
		    !btf_get(type.btf, type.id, &record) || record.kind != kind ||
		    !has_members(&record, names))
			continue;
		if (found.btf && !type_equal(found, type))
			return none;
		found = found.btf ? found : type;
	}
	return found;
}
