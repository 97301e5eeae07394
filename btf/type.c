// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Walking types: through modifiers, into members, along paths. Chains may be cyclic and nesting
 * may branch without end in hostile BTF, so every walk counts its steps.
 */
#include "base/digits.h"
#include "btf/btf.h"

#include "btf/level.h"
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

static struct type strip(struct type type, bool typedefs)
{
	struct record record;
	for (int steps = 0; steps < CHAIN_MAX; steps++) {
		if (!record_get(type.btf, type.id, &record))
			break;
		if (!kind_is_modifier(record.kind) && !(typedefs && record.kind == BTF_TYPEDEF))
			return type;
		type.id = record.type;
	}
	type.id = 0;
	return type;
}

struct type type_resolve(struct type type)
{
	return strip(type, true);
}

struct type type_unqualified(struct type type)
{
	return strip(type, false);
}

bool type_get(struct type type, struct btf_type *ret)
{
	return type.btf && btf_get(type.btf, type.id, ret);
}

bool type_get_resolved(struct type type, struct btf_type *ret)
{
	return type_get(type_resolve(type), ret);
}

/* --- sizes ------------------------------------------------------------------ */

static unsigned int find_pointer_size(const struct btf *btf)
{
	static const char *const names[] = { "long unsigned int", "unsigned long", "long int",
					     "long" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint64_t cursor = 0;
		struct record record;
		uint32_t id = btf_find(btf, BTF_INT, names[i], &cursor);
		if (record_get(btf, id, &record) && (record.type == 4 || record.type == 8))
			return record.type;
	}
	return 8;
}

unsigned int btf_pointer_size(const struct btf *btf)
{
	/* The lowest level knows best, and is asked once for all. */
	while (btf->base)
		btf = btf->base;
	if (!btf->lazy->pointer_size)
		btf->lazy->pointer_size = find_pointer_size(btf);
	return btf->lazy->pointer_size;
}

bool type_size(struct type type, uint64_t *ret)
{
	uint64_t count = 1;
	for (int steps = 0; steps < CHAIN_MAX; steps++) {
		struct record record;
		type = type_resolve(type);
		if (!record_get(type.btf, type.id, &record))
			return false;
		switch (record.kind) {
		case BTF_INT:
		case BTF_FLOAT:
		case BTF_STRUCT:
		case BTF_UNION:
		case BTF_ENUM:
		case BTF_ENUM64:
		case BTF_DATASEC:
			return !__builtin_mul_overflow(count, record.type, ret);
		case BTF_PTR:
			return !__builtin_mul_overflow(count, btf_pointer_size(type.btf), ret);
		case BTF_VAR:
			type.id = record.type;
			break;
		case BTF_ARRAY:
			type.id = level_u32(record.level, record.bytes + RECORD_SIZE);
			if (__builtin_mul_overflow(
				    count, level_u32(record.level, record.bytes + RECORD_SIZE + 8),
				    &count))
				return false;
			break;
		default:
			return false;
		}
	}
	return false;
}

static uint32_t power_of_two_at_most(uint32_t size, uint32_t most)
{
	uint32_t power = 1;
	while (power * 2 <= size && power < most)
		power *= 2;
	return power;
}

static uint32_t alignment_within(struct type type, int depth, uint32_t *visits);

/* Of the members; 1 when one lies where its own alignment forbids, for then all are packed. */
static uint32_t struct_alignment(const struct btf_type *type, int depth, uint32_t *visits)
{
	uint32_t most = 1;
	struct btf_member member;
	for (uint32_t i = 0; btf_member(type, i, &member) && *visits; i++) {
		uint32_t own = alignment_within((struct type){ type->btf, member.type }, depth + 1,
						visits);
		if (!member.bit_size && member.bit_offset % (own * 8))
			return 1;
		if (own > most)
			most = own;
	}
	return type->size % most ? 1 : most;
}

static uint32_t alignment_within(struct type type, int depth, uint32_t *visits)
{
	if (depth > CHAIN_MAX || !*visits)
		return 1;
	--*visits;
	struct btf_type record;
	if (!type_get_resolved(type, &record))
		return 1;
	switch (record.kind) {
	case BTF_INT:
	case BTF_FLOAT:
	case BTF_ENUM:
	case BTF_ENUM64:
		return power_of_two_at_most(record.size, 16);
	case BTF_PTR:
		return btf_pointer_size(type.btf);
	case BTF_ARRAY:
	case BTF_VAR:
		return alignment_within((struct type){ type.btf, record.type }, depth + 1, visits);
	case BTF_STRUCT:
	case BTF_UNION:
		return struct_alignment(&record, depth, visits);
	default:
		return 1;
	}
}

uint32_t type_alignment(struct type type)
{
	uint32_t visits = VISITS_MAX;
	return alignment_within(type, 0, &visits);
}

bool type_target(struct type type, struct type *ret)
{
	struct btf_type record;
	if (!type_get_resolved(type, &record) ||
	    (record.kind != BTF_PTR && record.kind != BTF_ARRAY))
		return false;
	*ret = (struct type){ type.btf, record.type };
	return true;
}

bool type_is_pointer(struct type type)
{
	struct record record;
	type = type_resolve(type);
	return record_get(type.btf, type.id, &record) && record.kind == BTF_PTR;
}

/* --- members ------------------------------------------------------------------ */

/* The first member from `index` on that is called so, or has no name. */
static uint32_t next_candidate(const struct btf_type *record, uint32_t index, const char *name)
{
	const struct btf *level = record->btf;
	for (; index < record->vlen; index++) {
		const uint8_t *member = record->payload + index * MEMBER_SIZE;
		const char *found = level_string(level, level_u32(level, member));
		if (!*found || (*found == *name && !strcmp(found, name)))
			break;
	}
	return index;
}

static bool find_within(struct type type, const char *name, struct type_place *place, int depth,
			uint32_t *visits)
{
	struct btf_type record;
	if (depth > CHAIN_MAX || !type_get_resolved(type, &record) ||
	    (record.kind != BTF_STRUCT && record.kind != BTF_UNION) || record.vlen > *visits)
		return false;
	*visits -= record.vlen;
	struct btf_member member;
	uint64_t start = place->bit_offset;
	for (uint32_t i = next_candidate(&record, 0, name); i < record.vlen;
	     i = next_candidate(&record, i + 1, name)) {
		btf_member(&record, i, &member);
		place->bit_offset = start + member.bit_offset;
		place->type = (struct type){ type.btf, member.type };
		place->bit_size = member.bit_size;
		if (*member.name || find_within(place->type, name, place, depth + 1, visits))
			return true;
	}
	return false;
}

bool type_find_member(struct type type, const char *name, struct type_place *ret)
{
	struct type_place place = { .bit_offset = 0 };
	uint32_t visits = VISITS_MAX;
	if (!name[0] || !find_within(type, name, &place, 0, &visits))
		return false;
	*ret = place;
	return true;
}

/* --- paths --------------------------------------------------------------------- */

#define NAME_MAX_SIZE 256 /* of a C identifier in a path */

static struct error *path_error(struct type type, const char *path, const char *why)
{
	char spelled[128];
	type_spell(type, NULL, spelled, sizeof(spelled));
	return error_create(ERROR_NOT_FOUND, "%s: %s: %s", spelled, path, why);
}

/* "[N]" at *path; moves it behind. */
static struct error *step_index(const char **path, struct type_place *place)
{
	struct btf_type array;
	if (!type_get_resolved(place->type, &array) || array.kind != BTF_ARRAY || place->bit_size)
		return path_error(place->type, *path, "not an array");
	uint64_t index;
	const char *end = digits_scan(*path + 1, 0, &index);
	if (!end || *end != ']')
		return path_error(place->type, *path, "an index is a number in brackets");
	/* Zero elements: as many as there is room for. */
	if (array.array_count && index >= array.array_count)
		return path_error(place->type, *path, "past the end of the array");
	uint64_t size, offset;
	struct type element = { place->type.btf, array.type };
	if (!type_size(element, &size) || __builtin_mul_overflow(index, size, &offset) ||
	    __builtin_mul_overflow(offset, 8, &offset) ||
	    __builtin_add_overflow(place->bit_offset, offset, &place->bit_offset))
		return path_error(place->type, *path, "the elements have no usable size");
	place->type = element;
	*path = end + 1;
	return NULL;
}

/* "name" at *path; moves it behind. */
static struct error *step_member(const char **path, struct type_place *place)
{
	size_t length = strcspn(*path, ".[");
	char name[NAME_MAX_SIZE];
	if (!length || length >= sizeof(name))
		return path_error(place->type, *path, "a member's name should stand here");
	memcpy(name, *path, length);
	name[length] = 0;
	struct type_place inner;
	if (place->bit_size || !type_find_member(place->type, name, &inner)) {
		char spelled[128];
		type_spell(place->type, NULL, spelled, sizeof(spelled));
		return error_create(ERROR_NOT_FOUND, "%s has no member %s%s", spelled, name,
				    type_is_pointer(place->type) ? ", it is a pointer" : "");
	}
	if (__builtin_add_overflow(place->bit_offset, inner.bit_offset, &inner.bit_offset))
		return path_error(place->type, *path, "lies beyond all addresses");
	*place = inner;
	*path += length;
	return NULL;
}

struct error *type_find_path(struct type type, const char *path, struct type_place *ret)
{
	struct type_place place = { .type = type };
	const char *at = path;
	do {
		struct error *error;
		if (*at == '[')
			error = step_index(&at, &place);
		else if (at != path && *at++ != '.')
			error = path_error(place.type, at - 1, "a '.' should stand here");
		else
			error = step_member(&at, &place);
		if (error)
			return error;
	} while (*at);
	*ret = place;
	return NULL;
}

uint64_t btf_load_bits(const uint8_t *data, uint64_t bit_offset, uint32_t bit_size, bool big_endian)
{
	uint64_t value = 0;
	for (uint32_t i = 0; i < bit_size && i < 64; i++) {
		uint64_t at = bit_offset + i;
		if (big_endian)
			value = value << 1 | (data[at / 8] >> (7 - at % 8) & 1);
		else
			value |= (uint64_t)(data[at / 8] >> at % 8 & 1) << i;
	}
	return value;
}

/*
 * pahole before 1.21 flagged no character as signed. Where not even "signed char" is flagged, char
 * is what it was on x86 until 6.2 made it unsigned everywhere (commit 3bc753c06dd0).
 */
static bool unflagged_is_signed(const struct btf_type *record)
{
	struct btf_type other;
	uint64_t cursor = 0;
	if (record->size != 1 || (record->int_encoding & BTF_INT_BOOL))
		return false;
	if (!strcmp(record->name, "signed char"))
		return true;
	if (strcmp(record->name, "char") != 0)
		return false;
	uint32_t id = btf_find(record->btf, BTF_INT, "signed char", &cursor);
	return id && btf_get(record->btf, id, &other) && !(other.int_encoding & BTF_INT_SIGNED);
}

bool btf_int_is_signed(const struct btf_type *record)
{
	return (record->int_encoding & BTF_INT_SIGNED) || unflagged_is_signed(record);
}

bool type_is_signed(struct type type)
{
	struct btf_type record;
	if (!type.btf || !type_get_resolved(type, &record))
		return false;
	if (record.kind == BTF_INT)
		return btf_int_is_signed(&record);
	return (record.kind == BTF_ENUM || record.kind == BTF_ENUM64) &&
	       btf_enum_is_signed(&record);
}
