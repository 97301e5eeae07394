// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/evidence/counted.h"

#include "base/array.h"
#include "base/bytes.h"
#include <string.h>

#define MEMBERS_MAX 512

static bool is_word_and(const char *name, const char *before, const char *word, const char *after)
{
	size_t head = strlen(before), length = strlen(word);
	return !strncmp(name, before, head) && !strncmp(name + head, word, length) &&
	       !strcmp(name + head + length, after);
}

/* Is `name` what counts what `pointer` points at? */
static bool is_count_of(const char *name, const char *pointer)
{
	static const struct {
		const char *before, *after;
	} frames[] = {
		{ "n_", "" },	{ "nr_", "" }, { "num_", "" }, { "", "_count" },
		{ "", "_num" }, { "", "_nr" }, { "n", "" },    { "", "_cnt" },
	};
	for (size_t i = 0; i < ARRAY_COUNT(frames); i++)
		if (is_word_and(name, frames[i].before, pointer, frames[i].after))
			return true;
	return false;
}

/* Behind the pointer a plain word is enough. */
static bool is_plain_count(const char *name)
{
	return !strcmp(name, "count") || !strcmp(name, "num") || !strcmp(name, "nr") ||
	       !strcmp(name, "cnt");
}

static uint64_t read_member(const struct layout *layout, const struct btf_member *member,
			    const uint8_t *object, uint32_t room, bool big_endian)
{
	uint32_t type = layout_resolve(
		layout, layout_id(layout, (struct type){ layout->btf, member->type }));
	uint32_t size = layout_size(layout, type), offset = member->bit_offset / 8;
	if (layout_kind(layout, type) != BTF_INT || member->bit_size || member->bit_offset % 8 ||
	    (size != 1 && size != 2 && size != 4 && size != 8) || offset > room ||
	    size > room - offset)
		return 0;
	return load_unsigned(object + offset, size, big_endian);
}

uint64_t counted_by(const struct layout *layout, uint32_t type, uint32_t offset,
		    const uint8_t *object, bool big_endian)
{
	struct btf_type record;
	struct btf_member pointer = { 0 }, member, before = { 0 };
	uint32_t shown = layout_shown(layout, type), size = layout_size(layout, type);
	if (!btf_get(layout->btf, shown, &record) || record.kind != BTF_STRUCT)
		return 0;
	for (uint32_t i = 0; i < MEMBERS_MAX && btf_member(&record, i, &member); i++)
		if (member.bit_offset == (uint64_t)offset * 8 && member.name[0])
			pointer = member;
	if (!pointer.name)
		return 0;
	for (uint32_t i = 0; i < MEMBERS_MAX && btf_member(&record, i, &member); i++) {
		bool is_behind = before.name && before.bit_offset == pointer.bit_offset;
		if (is_count_of(member.name, pointer.name) ||
		    (is_behind && is_plain_count(member.name)))
			return read_member(layout, &member, object, size, big_endian);
		before = member;
	}
	return 0;
}
