// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/eval/value.h"

#include "base/bytes.h"
#include "debugger/declare/nearest.h"
#include "debugger/target/object.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool value_record(const struct value *value, struct btf_type *ret)
{
	return value->type.btf && type_get_resolved(value->type, ret);
}

const char *value_type_name(const struct value *value, char *buffer, size_t size)
{
	if (value->type.btf)
		type_spell(value->type, NULL, buffer, size);
	else
		snprintf(buffer, size, "of unknown type");
	return buffer;
}

bool value_is_signed(const struct value *value)
{
	return type_is_signed(value->type);
}

uint64_t sign_extend(uint64_t value, uint32_t bits)
{
	if (!bits || bits >= 64)
		return value;
	value &= ((uint64_t)1 << bits) - 1;
	return value >> (bits - 1) & 1 ? value | ~(uint64_t)0 << bits : value;
}

uint64_t load_bits(const uint8_t *bytes, uint32_t bit_offset, uint32_t bit_size, bool big_endian)
{
	uint64_t value = 0;
	for (uint32_t i = 0; i < bit_size && i < 64; i++) {
		uint32_t at = bit_offset + i;
		uint64_t byte = bytes[at / 8];
		if (big_endian)
			value = value << 1 | (byte >> (7 - at % 8) & 1);
		else
			value |= (byte >> (at % 8) & 1) << i;
	}
	return value;
}

static struct error *load_bit_field(const struct value *value, uint64_t *ret)
{
	uint8_t bytes[16];
	uint32_t size = (value->bit_offset % 8 + value->bit_size + 7) / 8;
	if (value->bit_size > 64)
		return error_create(ERROR_FORMAT, "a bit-field of %u bits", value->bit_size);
	TRY(memory_read(value->target->memory, value->address + value->bit_offset / 8, bytes,
			size));
	*ret = load_bits(bytes, value->bit_offset % 8, value->bit_size,
			 value->target->memory->big_endian);
	return NULL;
}

static struct error *load(const struct value *value, uint64_t size, uint64_t *ret)
{
	TRY(target_need_memory(value->target));
	uint64_t raw;
	uint32_t bits = value->bit_size;
	if (bits) {
		TRY(load_bit_field(value, &raw));
	} else {
		TRY(memory_read_unsigned(value->target->memory, value->address, size, &raw));
		bits = size * 8;
	}
	*ret = value_is_signed(value) ? sign_extend(raw, bits) : raw;
	return NULL;
}

static struct error *not_scalar(const struct value *value)
{
	char name[128];
	return error_create(ERROR_USAGE, "%s is not a number",
			    value_type_name(value, name, sizeof(name)));
}

struct error *value_u64(const struct value *value, uint64_t *ret)
{
	struct btf_type record;
	if (value->bytes)
		return error_create(ERROR_USAGE, "a string of yours has no address in the dump");
	if (!value->in_memory) {
		*ret = value->scalar;
		return NULL;
	}
	if (!value_record(value, &record))
		return error_create(ERROR_USAGE, "its type is not known; cast it: (unsigned long)");
	switch (record.kind) {
	case BTF_ARRAY:
	case BTF_FUNC:
	case BTF_FUNC_PROTO:
		*ret = value->address;
		return NULL;
	case BTF_INT:
	case BTF_PTR:
	case BTF_ENUM:
	case BTF_ENUM64:
		break;
	default:
		return not_scalar(value);
	}
	uint64_t size;
	if (!type_size(value->type, &size) || (size != 1 && size != 2 && size != 4 && size != 8))
		return not_scalar(value);
	return load(value, size, ret);
}

bool value_length_is_open(const struct value *value)
{
	struct btf_type array;
	return value->at_most && value->in_memory && value->raw_size &&
	       value->origin != ORIGIN_CAST && type_get_resolved(value->type, &array) &&
	       array.kind == BTF_ARRAY;
}

/* --- completing forward declarations -------------------------------------------------------- */

struct type type_completed(struct target *target, struct type type)
{
	struct btf_type record;
	struct type found;
	if (!type.btf || !type_get_resolved(type, &record) || record.kind != BTF_FWD)
		return type;
	if (btf_find_definition(type.btf, &record, &found) ||
	    (target->btf && btf_find_definition(target->btf, &record, &found)))
		return found;
	const struct module *modules;
	size_t count = target_modules(target, &modules);
	for (size_t i = 0; i < count; i++) {
		const struct btf *btf = target_module_btf(target, &modules[i]);
		if (btf && btf_find_definition(btf, &record, &found))
			return found;
	}
	return type;
}

/* --- parts --------------------------------------------------------------------------------- */

struct error *value_member(const struct value *value, const char *name, struct value *ret)
{
	struct btf_type record;
	char spelled[128], hint[96];
	struct value whole = *value;
	whole.type = type_completed(value->target, value->type);
	if (!value_record(&whole, &record))
		return error_create(ERROR_USAGE,
				    "its type is not known, so it has no member \"%s\"", name);
	if (record.kind == BTF_FWD)
		return error_create(ERROR_NOT_FOUND,
				    "%s is only declared, its members are not known",
				    value_type_name(&whole, spelled, sizeof(spelled)));
	if (record.kind != BTF_STRUCT && record.kind != BTF_UNION)
		return error_create(ERROR_USAGE, "%s has no members",
				    value_type_name(&whole, spelled, sizeof(spelled)));
	struct type_place place;
	if (!type_find_member(whole.type, name, &place)) {
		struct nearest nearest;
		nearest_init(&nearest, name, strlen(name));
		nearest_offer_members(&nearest, whole.type);
		return error_create(ERROR_NOT_FOUND, "%s has no member \"%s\"%s",
				    value_type_name(&whole, spelled, sizeof(spelled)), name,
				    nearest_hint(&nearest, hint, sizeof(hint)));
	}
	*ret = whole;
	ret->type = place.type;
	ret->address += place.bit_offset / 8;
	ret->bit_offset = place.bit_size ? place.bit_offset % 8 : 0;
	ret->bit_size = place.bit_size;
	ret->raw_size = 0;
	ret->at_most = false;
	ret->is_symbol = false;
	ret->flags = flag_names_of_member(whole.type, name);
	return NULL;
}

struct error *value_follow(const struct value *value, struct value *ret)
{
	struct btf_type record;
	struct type target;
	char spelled[128];
	uint64_t address;
	if (!value_record(value, &record) || (record.kind != BTF_PTR && record.kind != BTF_ARRAY) ||
	    !type_target(value->type, &target))
		return error_create(ERROR_USAGE, "%s is not a pointer",
				    value_type_name(value, spelled, sizeof(spelled)));
	if (!type_get_resolved(target, &record) || record.kind == BTF_VOID)
		return error_create(ERROR_USAGE, "%s points to nothing with a type; cast it",
				    value_type_name(value, spelled, sizeof(spelled)));
	TRY(value_u64(value, &address));
	*ret = (struct value){ .target = value->target,
			       .type = type_completed(value->target, target),
			       .in_memory = true,
			       .address = address,
			       .origin = value->origin };
	return NULL;
}
