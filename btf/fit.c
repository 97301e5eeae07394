// SPDX-License-Identifier: GPL-3.0-or-later
#include "btf/fit.h"

#include "btf/level.h"
#include <string.h>

#define HEADER_SIZE 24

bool btf_is_split(const struct bytes *blob)
{
	struct bytes bytes = *blob;
	uint32_t header_size, offset, size;
	uint16_t magic;
	uint8_t first;
	if (!bytes_u16(&bytes, 0, &magic) || (magic != 0xeb9f && magic != 0x9feb))
		return false;
	bytes.big_endian = bytes.big_endian != (magic != 0xeb9f);
	if (!bytes_u32(&bytes, 4, &header_size) || !bytes_u32(&bytes, 16, &offset) ||
	    !bytes_u32(&bytes, 20, &size))
		return false;
	return !size || !bytes_u8(&bytes, (uint64_t)header_size + offset, &first) || first;
}

/* --- a base ---------------------------------------------------------------------------------- */

struct fit {
	const struct btf *split;
	uint32_t id;		     /* at work on */
	uint32_t bad_names, bad_ids; /* how many */
	uint32_t name_id, type_id;   /* the first of each */
	bool is_function, is_section, is_tag;
};

/* All names that encoders write begin where a string does. */
static bool begins_string(const struct btf *split, uint32_t offset)
{
	const struct btf *level = split;
	while (offset < level->string_start)
		level = level->base;
	offset -= level->string_start;
	return !offset || (offset < level->string_size && !level->strings[offset - 1]);
}

static bool kind_is_type(enum btf_kind kind)
{
	return kind != BTF_FUNC && kind != BTF_VAR && kind != BTF_DATASEC && kind != BTF_DECL_TAG;
}

static void check_word(void *context, const uint8_t *word, enum word_role role)
{
	struct fit *fit = context;
	uint32_t value = level_u32(fit->split, word);
	struct record record = { .kind = BTF_VOID };
	if (role == WORD_NAME || role == WORD_ELEMENT_NAME) {
		if (!begins_string(fit->split, value) && !fit->bad_names++)
			fit->name_id = fit->id;
		return;
	}
	record_get(fit->split, value, &record);
	bool fits = fit->is_function  ? record.kind == BTF_FUNC_PROTO
		    : fit->is_section ? record.kind == BTF_VAR
				      : fit->is_tag || kind_is_type(record.kind);
	if (!fits && !fit->bad_ids++)
		fit->type_id = fit->id;
}

static struct error *misfit(const struct fit *fit, uint32_t id, const char *what)
{
	const struct btf *split = fit->split, *base = split->base;
	struct btf_type type;
	if (!btf_get(split, id, &type))
		type.kind = BTF_VOID;
	return error_create(ERROR_FORMAT,
			    "its base is not this %s (%u types, %u bytes of strings): type %u (%s) "
			    "%s",
			    base->name, base->end_id - 1, base->string_start + base->string_size,
			    id, btf_kind_name(type.kind), what);
}

struct error *btf_check_base(const struct btf *split)
{
	struct fit fit = { .split = split };
	const struct btf *base = split->base;
	if (split->warning && base)
		return error_create(
			ERROR_FORMAT,
			"its base is not this %s (%u types, %u bytes of strings), or it "
			"is damaged: %s",
			base->name, base->end_id - 1, base->string_start + base->string_size,
			split->warning);
	if (split->warning)
		return error_create(ERROR_FORMAT, "it is damaged: %s", split->warning);
	for (fit.id = split->start_id; fit.id < split->end_id; fit.id++) {
		const uint8_t *record = level_record(split, fit.id);
		enum btf_kind kind = info_kind(level_u32(split, record + 4));
		fit.is_function = kind == BTF_FUNC;
		fit.is_section = kind == BTF_DATASEC;
		fit.is_tag = kind == BTF_DECL_TAG;
		if (kind < BTF_KIND_COUNT)
			record_words(record, split->big_endian, check_word, &fit);
	}
	if (fit.bad_names)
		return misfit(&fit, fit.name_id, "has a name in the middle of a string");
	if (fit.bad_ids)
		return misfit(&fit, fit.type_id, "mentions what cannot be its type");
	return NULL;
}

/* --- the same kernel ----------------------------------------------------------------------------
 */

/* The only definition of its name in a BTF. */
static bool find_only(const struct btf *btf, const struct btf_type *like, struct btf_type *ret)
{
	uint64_t cursor = 0;
	uint32_t id = btf_find(btf, like->kind, like->name, &cursor);
	return id && btf_get(btf, id, ret) && !btf_find(btf, like->kind, like->name, &cursor);
}

static const char *difference(const struct btf_type *a, const struct btf_type *b)
{
	struct btf_member left, right;
	if (a->size != b->size)
		return "another size";
	if (a->vlen != b->vlen)
		return "another number of members";
	for (uint32_t i = 0; btf_member(a, i, &left) && btf_member(b, i, &right); i++)
		if (strcmp(left.name, right.name) || left.bit_offset != right.bit_offset)
			return "other members";
	return NULL;
}

struct error *btf_check_alike(const struct btf *file, const struct btf *kernel)
{
	uint32_t same = 0;
	struct btf_type type, other, again;
	for (uint32_t id = 1; id < file->end_id; id++) {
		if (!btf_get(file, id, &type) || !type.name[0] ||
		    (type.kind != BTF_STRUCT && type.kind != BTF_UNION) ||
		    !find_only(kernel, &type, &other) || !find_only(file, &type, &again))
			continue;
		const char *what = difference(&type, &other);
		if (what)
			return error_create(ERROR_FORMAT,
					    "it is of another kernel: %s %s has %s (%u bytes, here "
					    "%u; %u types, here %u)",
					    type.kind == BTF_STRUCT ? "struct" : "union", type.name,
					    what, type.size, other.size, file->end_id - 1,
					    kernel->end_id - 1);
		same++;
	}
	if (!same)
		return error_create(ERROR_FORMAT, "it has no struct in common with %s",
				    kernel->name);
	return NULL;
}
