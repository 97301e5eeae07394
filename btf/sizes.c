// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Whether records keep to the sizes that they state: members lie within their struct, variables
 * within their section, enums and floating point numbers are as wide as compilers make them. Who
 * adds up the offsets of nested members relies on it: the sum stays within the outermost size.
 */
#include "btf/level.h"

#define FLOAT_SIZE_MAX 16

/* Bytes of the integer, enum, float or compound at the end of a chain; false: not known. */
static bool size_of(const struct btf *btf, uint32_t id, uint64_t *ret)
{
	return type_size((struct type){ btf, id }, ret);
}

static bool enum_is_sane(uint32_t size)
{
	return size && size <= 8 && !(size & (size - 1));
}

/*
 * `bits`: of the struct. Of a forward declaration or void nobody knows the size; an array without
 * elements at the end has none.
 */
static bool member_fits(const struct btf_type *type, const struct btf_member *member, uint64_t bits)
{
	uint64_t size;
	if (member->bit_offset > bits)
		return false;
	uint64_t room = bits - member->bit_offset;
	if (member->bit_size)
		return member->bit_size <= room;
	return !size_of(type->btf, member->type, &size) || size <= room / 8;
}

static bool entry_fits(const struct btf_section_entry *entry, uint32_t section_size)
{
	/* Compilers leave the size of a section to the loader, which fills it in. */
	return !section_size || (uint64_t)entry->offset + entry->size <= section_size;
}

bool element_fits(const struct btf_type *type, uint32_t index)
{
	struct btf_member member;
	struct btf_section_entry entry;
	if (btf_member(type, index, &member))
		return member_fits(type, &member, (uint64_t)type->size * 8);
	return !btf_section_entry(type, index, &entry) || entry_fits(&entry, type->size);
}

bool scalar_is_sane(const struct btf_type *type)
{
	if (type->kind == BTF_ENUM || type->kind == BTF_ENUM64)
		return enum_is_sane(type->size);
	return type->kind != BTF_FLOAT || (type->size && type->size <= FLOAT_SIZE_MAX);
}

bool array_is_sane(const struct btf_type *type)
{
	uint64_t size, bits;
	return type->kind != BTF_ARRAY || !size_of(type->btf, type->type, &size) ||
	       (!__builtin_mul_overflow(size, type->array_count, &size) &&
		!__builtin_mul_overflow(size, 8, &bits));
}

/*
 * A member that one look proves to lie within: most are, and a kernel has 100,000 of them. An old
 * bit-field lies within its integer.
 */
static bool fits_plainly(const struct btf *btf, const uint8_t *element, bool has_bits,
			 uint64_t bits)
{
	struct record record;
	uint32_t offset = level_u32(btf, element + 8), bit_size = has_bits ? offset >> 24 : 0;
	struct type type = type_resolve((struct type){ btf, level_u32(btf, element + 4) });
	if (!record_get(btf, type.id, &record))
		return false;
	bool has_size = record.kind == BTF_INT || record.kind == BTF_STRUCT ||
			record.kind == BTF_UNION || record.kind == BTF_ENUM;
	if (!has_size && record.kind != BTF_PTR)
		return false;
	uint64_t size = has_size ? (uint64_t)record.type * 8 : 64;
	return (has_bits ? offset & 0xffffff : offset) + (bit_size ? bit_size : size) <= bits;
}

static bool members_fit(const struct btf_type *type)
{
	const uint8_t *element = type->payload;
	for (uint32_t i = 0; i < type->vlen; i++, element += MEMBER_SIZE)
		if (!fits_plainly(type->btf, element, type->kind_flag, (uint64_t)type->size * 8) &&
		    !element_fits(type, i))
			return false;
	return true;
}

bool level_fits(const struct btf *btf)
{
	struct btf_type type;
	for (uint32_t id = btf->start_id; id < btf->end_id; id++) {
		switch (info_kind(level_u32(btf, level_record(btf, id) + 4))) {
		case BTF_STRUCT:
		case BTF_UNION:
			if (!btf_get(btf, id, &type) || !members_fit(&type) ||
			    !nesting_is_sane(&type))
				return false;
			break;
		case BTF_DATASEC:
			btf_get(btf, id, &type);
			for (uint32_t i = 0; i < type.vlen; i++)
				if (!element_fits(&type, i))
					return false;
			break;
		case BTF_ENUM:
		case BTF_ENUM64:
		case BTF_FLOAT:
		case BTF_ARRAY:
			btf_get(btf, id, &type);
			if (!scalar_is_sane(&type) || !array_is_sane(&type))
				return false;
			break;
		default:
			break;
		}
	}
	return true;
}
