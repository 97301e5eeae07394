// SPDX-License-Identifier: GPL-3.0-or-later
#include "btf/relocate.h"

#include "btf/level.h"
#include <stdlib.h>
#include <string.h>

struct relocation {
	const struct btf *base, *distilled, *split;
	uint32_t *ids;	 /* by id of the distilled base: the base's */
	uint8_t *output; /* the records of the split, as they will be */
};

/* --- which type of the base is meant ------------------------------------------------------ */

static bool is_distilled_kind(const struct btf_type *type)
{
	switch (type->kind) {
	case BTF_INT:
	case BTF_FLOAT:
	case BTF_STRUCT:
	case BTF_UNION:
	case BTF_ENUM:
	case BTF_ENUM64:
	case BTF_FWD:
		return type->name[0];
	default:
		return false;
	}
}

/* A forward declaration stands for what is only pointed at: its size does not matter. */
static bool fits(const struct btf_type *wanted, const struct btf_type *type)
{
	switch (wanted->kind) {
	case BTF_FWD:
		return type->kind != BTF_FWD || type->kind_flag == wanted->kind_flag;
	case BTF_INT:
		return type->size == wanted->size && type->int_bits == wanted->int_bits &&
		       type->int_encoding == wanted->int_encoding;
	case BTF_STRUCT:
	case BTF_UNION:
	case BTF_ENUM:
	case BTF_ENUM64:
	case BTF_FLOAT:
		return type->size == wanted->size;
	default:
		return false;
	}
}

/* The one type of a kind that fits; *ret_any: one of the name that does not, for the message. */
static struct error *match_kind(const struct relocation *relocation, const struct btf_type *wanted,
				enum btf_kind kind, struct btf_type *ret, struct btf_type *ret_any)
{
	struct btf_type type;
	uint64_t cursor = 0;
	uint32_t id;
	while ((id = btf_find(relocation->base, kind, wanted->name, &cursor))) {
		if (!btf_get(relocation->base, id, &type))
			continue;
		if (!fits(wanted, &type)) {
			*ret_any = type;
			continue;
		}
		struct type one = { relocation->base, ret->id }, other = { relocation->base, id };
		if (!ret->id)
			*ret = type;
		else if (!type_equal(one, other))
			return error_create(ERROR_FORMAT,
					    "%s %s may be type %u or %u of %s: nothing tells which",
					    btf_kind_name(wanted->kind), wanted->name, ret->id, id,
					    btf_name(relocation->base));
	}
	return NULL;
}

static struct error *no_match(const struct relocation *relocation, const struct btf_type *wanted,
			      const struct btf_type *any)
{
	const char *kind = btf_kind_name(wanted->kind);
	if (!any->id)
		return error_create(ERROR_FORMAT, "%s has no %s %s", btf_name(relocation->base),
				    kind, wanted->name);
	return error_create(ERROR_FORMAT, "%s %s has %u bytes in the file's base, %u in %s", kind,
			    wanted->name, wanted->size, any->size, btf_name(relocation->base));
}

static struct error *match(struct relocation *relocation, const struct btf_type *wanted)
{
	struct btf_type found = { .id = 0 }, any = { .id = 0 };
	enum btf_kind kind = wanted->kind == BTF_ENUM64 ? BTF_ENUM : wanted->kind;
	struct error *error = NULL;
	if (!is_distilled_kind(wanted))
		return error_create(ERROR_FORMAT, "type %u (%s) of its base has no name to go by",
				    wanted->id, btf_kind_name(wanted->kind));
	if (kind == BTF_FWD)
		error = match_kind(relocation, wanted, wanted->kind_flag ? BTF_UNION : BTF_STRUCT,
				   &found, &any);
	if (!error && !found.id)
		error = match_kind(relocation, wanted, kind, &found, &any);
	if (error)
		return error;
	if (!found.id)
		return no_match(relocation, wanted, &any);
	relocation->ids[wanted->id] = found.id;
	return NULL;
}

/* --- the records of the split --------------------------------------------------------------- */

static void store_u32(uint8_t *to, uint32_t value, bool big_endian)
{
	value = load_u32(&value, big_endian);
	memcpy(to, &value, sizeof(value));
}

/*
 * Own strings follow the base's, and the distilled base's follow these; own types follow the
 * base's.
 */
static void relocate_word(void *context, const uint8_t *word, enum word_role role)
{
	struct relocation *relocation = context;
	const struct btf *split = relocation->split, *base = relocation->base;
	uint32_t value = level_u32(split, word), strings = base->string_start + base->string_size;
	uint8_t *to = relocation->output + (word - split->types);
	if (role == WORD_TYPE || role == WORD_ELEMENT_TYPE)
		value = value >= split->start_id ? value - split->start_id + base->end_id
						 : relocation->ids[value];
	else if (value >= split->string_start)
		value = value - split->string_start + strings;
	else if (value)
		value += strings + split->string_size;
	store_u32(to, value, split->big_endian);
}

static struct error *write_split(struct relocation *relocation, void **ret, size_t *ret_size)
{
	const struct btf *split = relocation->split, *distilled = relocation->distilled;
	uint32_t types = split->types_size;
	uint32_t strings = split->string_size + distilled->string_size;
	const uint32_t header[] = { 0, 24, 0, types, types, strings };
	size_t size = sizeof(header) + types + strings;
	uint8_t *data = malloc(size);
	if (!data)
		return error_no_memory();
	for (size_t i = 1; i < sizeof(header) / sizeof(header[0]); i++)
		store_u32(data + i * 4, header[i], split->big_endian);
	memcpy(data, split->big_endian ? "\xeb\x9f\x01" : "\x9f\xeb\x01", 4);
	relocation->output = data + sizeof(header);
	memcpy(relocation->output, split->types, types);
	memcpy(relocation->output + types, split->strings, split->string_size);
	memcpy(relocation->output + types + split->string_size, distilled->strings,
	       distilled->string_size);
	for (uint32_t id = split->start_id; id < split->end_id; id++) {
		const uint8_t *record = level_record(split, id);
		if (info_kind(level_u32(split, record + 4)) < BTF_KIND_COUNT)
			record_words(record, split->big_endian, relocate_word, relocation);
	}
	*ret = data;
	*ret_size = size;
	return NULL;
}

static struct error *relocate(struct relocation *relocation, void **ret, size_t *ret_size)
{
	const struct btf *distilled = relocation->distilled, *base = relocation->base;
	const char *warning = btf_warning(distilled) ? btf_warning(distilled)
						     : btf_warning(relocation->split);
	struct btf_type type;
	if (warning)
		return error_create(ERROR_FORMAT, "%s", warning);
	if (distilled->big_endian != base->big_endian)
		return error_create(ERROR_FORMAT, "its byte order differs from the base's");
	relocation->ids = calloc(distilled->end_id, sizeof(*relocation->ids));
	if (!relocation->ids)
		return error_no_memory();
	for (uint32_t id = 1; id < distilled->end_id; id++) {
		struct error *error = btf_get(distilled, id, &type) ? match(relocation, &type)
								    : NULL;
		if (error)
			return error;
	}
	return write_split(relocation, ret, ret_size);
}

struct error *btf_relocate(const struct bytes *distilled, const struct bytes *split,
			   const struct btf *base, void **ret, size_t *ret_size)
{
	struct btf *below = NULL, *above = NULL;
	struct error *error = btf_open(distilled->data, distilled->size, NULL, ".BTF.base", &below);
	if (!error)
		error = btf_open(split->data, split->size, below, ".BTF", &above);
	if (!error) {
		struct relocation relocation = { .base = base, .distilled = below, .split = above };
		error = relocate(&relocation, ret, ret_size);
		free(relocation.ids);
	}
	btf_close(above);
	btf_close(below);
	return error;
}
