// SPDX-License-Identifier: GPL-3.0-or-later
/* Records decoded: what btf_open() has proved to lie within is read without further ado. */
#include "btf/btf.h"

#include "btf/level.h"

const char *btf_string(const struct btf *btf, uint32_t offset)
{
	while (offset < btf->string_start)
		btf = btf->base;
	offset -= btf->string_start;
	if (btf->arena)
		return (const char *)btf->arena->chunks[offset / ARENA_CHUNK] +
		       offset % ARENA_CHUNK;
	return offset < btf->string_size ? btf->strings + offset : "";
}

bool record_get(const struct btf *btf, uint32_t id, struct record *ret)
{
	const struct btf *level = btf && id ? level_of(btf, id) : NULL;
	if (!level)
		return false;
	const uint8_t *bytes = level_record(level, id);
	*ret = (struct record){
		.level = level,
		.bytes = bytes,
		.kind = info_kind(level_u32(level, bytes + 4)),
		.type = level_u32(level, bytes + 8),
	};
	return true;
}

bool kind_is_modifier(enum btf_kind kind)
{
	return kind == BTF_CONST || kind == BTF_VOLATILE || kind == BTF_RESTRICT ||
	       kind == BTF_TYPE_TAG;
}

static void decode_int(struct btf_type *type)
{
	uint32_t data = level_u32(type->btf, type->payload);
	type->int_encoding = data >> 24 & 0xf;
	type->int_offset = data >> 16 & 0xff;
	type->int_bits = data & 0xff;
}

static void decode_array(struct btf_type *type)
{
	type->type = level_u32(type->btf, type->payload);
	type->array_index_type = level_u32(type->btf, type->payload + 4);
	type->array_count = level_u32(type->btf, type->payload + 8);
}

static void decode_rest(struct btf_type *type, uint32_t size_or_type)
{
	switch (type->kind) {
	case BTF_INT:
		decode_int(type);
		type->size = size_or_type;
		return;
	case BTF_ARRAY:
		decode_array(type);
		return;
	case BTF_STRUCT:
	case BTF_UNION:
	case BTF_ENUM:
	case BTF_ENUM64:
	case BTF_DATASEC:
	case BTF_FLOAT:
		type->size = size_or_type;
		return;
	case BTF_VAR:
	case BTF_DECL_TAG:
		type->extra = (int32_t)level_u32(type->btf, type->payload);
		type->type = size_or_type;
		return;
	case BTF_FWD:
		return;
	default:
		/* Of an unknown kind nothing is known, not even that this is an id. */
		type->type = type->kind < BTF_KIND_COUNT ? size_or_type : 0;
	}
}

bool btf_get(const struct btf *btf, uint32_t id, struct btf_type *ret)
{
	if (!id) {
		*ret = (struct btf_type){ .btf = btf, .kind = BTF_VOID, .name = "" };
		return true;
	}
	struct record record;
	if (!record_get(btf, id, &record))
		return false;
	uint32_t info = level_u32(record.level, record.bytes + 4);
	*ret = (struct btf_type){
		.btf = record.level,
		.id = id,
		.kind = record.kind,
		.kind_flag = info >> 31,
		.vlen = info_vlen(info),
		.name = btf_string(record.level, level_u32(record.level, record.bytes)),
		.payload = record.bytes + RECORD_SIZE,
	};
	decode_rest(ret, record.type);
	return true;
}

/* Element `index` of the payload; NULL when the kind has none or not so many. */
static const uint8_t *element_at(const struct btf_type *type, uint32_t index, bool kind_fits,
				 size_t size)
{
	return kind_fits && index < type->vlen ? type->payload + index * size : NULL;
}

/*
 * Before Linux 5.0 (9d5f9f701b18 "bpf: btf: fix struct/union/fwd types with kind_flag") a bit-field
 * had an integer type of its own, as narrow as the field and shifted by the integer's offset.
 */
static void fold_narrow_int(const struct btf *btf, struct btf_member *member)
{
	struct record record;
	struct type resolved = type_resolve((struct type){ btf, member->type });
	if (!record_get(btf, resolved.id, &record) || record.kind != BTF_INT)
		return;
	uint32_t data = level_u32(record.level, record.bytes + RECORD_SIZE);
	uint32_t bits = data & 0xff, offset = data >> 16 & 0xff;
	if (bits == record.type * 8 && !offset)
		return;
	member->bit_size = bits;
	if (member->bit_offset <= UINT32_MAX - offset)
		member->bit_offset += offset;
}

bool btf_member_as_stored(const struct btf_type *type, uint32_t index, struct btf_member *ret)
{
	const uint8_t *at = element_at(
		type, index, type->kind == BTF_STRUCT || type->kind == BTF_UNION, MEMBER_SIZE);
	if (!at)
		return false;
	ret->name = btf_string(type->btf, level_u32(type->btf, at));
	ret->type = level_u32(type->btf, at + 4);
	ret->bit_offset = level_u32(type->btf, at + 8);
	ret->bit_size = 0;
	if (type->kind_flag) {
		ret->bit_size = ret->bit_offset >> 24;
		ret->bit_offset &= 0xffffff;
	}
	return true;
}

bool btf_member(const struct btf_type *type, uint32_t index, struct btf_member *ret)
{
	if (!btf_member_as_stored(type, index, ret))
		return false;
	if (!type->kind_flag)
		fold_narrow_int(type->btf, ret);
	return true;
}

bool btf_enumerator(const struct btf_type *type, uint32_t index, struct btf_enumerator *ret)
{
	bool wide = type->kind == BTF_ENUM64;
	const uint8_t *at = element_at(type, index, wide || type->kind == BTF_ENUM,
				       wide ? ENUMERATOR64_SIZE : ENUMERATOR_SIZE);
	if (!at)
		return false;
	uint64_t value = level_u32(type->btf, at + 4);
	if (wide)
		value |= (uint64_t)level_u32(type->btf, at + 8) << 32;
	/* Encoders older than the flag (Linux 6.0, pahole 1.24) meant all values as signed. */
	else if (type->kind_flag || !type->btf->signs_enums)
		value = (uint64_t)(int64_t)(int32_t)value;
	ret->name = btf_string(type->btf, level_u32(type->btf, at));
	ret->value = (int64_t)value;
	return true;
}

bool btf_enum_is_signed(const struct btf_type *type)
{
	struct btf_enumerator enumerator;
	if (type->kind_flag)
		return true;
	/* Without the flag: gcc makes an enum signed when one value is negative. 0xffffffff of an
	 * unsigned one looks the same there, and is rarer. */
	for (uint32_t i = 0; type->kind == BTF_ENUM && btf_enumerator(type, i, &enumerator); i++)
		if (enumerator.value < 0)
			return true;
	return false;
}

bool btf_param(const struct btf_type *type, uint32_t index, struct btf_param *ret)
{
	const uint8_t *at = element_at(type, index, type->kind == BTF_FUNC_PROTO, PARAM_SIZE);
	if (!at)
		return false;
	ret->name = btf_string(type->btf, level_u32(type->btf, at));
	ret->type = level_u32(type->btf, at + 4);
	return true;
}

bool btf_section_entry(const struct btf_type *type, uint32_t index, struct btf_section_entry *ret)
{
	const uint8_t *at = element_at(type, index, type->kind == BTF_DATASEC, ENTRY_SIZE);
	if (!at)
		return false;
	ret->type = level_u32(type->btf, at);
	ret->offset = level_u32(type->btf, at + 4);
	ret->size = level_u32(type->btf, at + 8);
	return true;
}
