// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/target/object.h"

#include "base/bytes.h"
#include "debugger/target/members.h"
#include <inttypes.h>
#include <string.h>

struct error *object_at(struct target *target, const char *type_name, uint64_t address,
			struct object *ret)
{
	struct type type;
	TRY(target_find_type(target, NULL, type_name, &type));
	*ret = (struct object){ .target = target, .type = type, .address = address };
	return NULL;
}

static struct error *find_variable(struct target *target, const char *name, const char *type_name,
				   struct symbol *ret_symbol, struct type *ret_type)
{
	uint64_t cursor = 0;
	TRY(target_need_memory(target));
	if (!target_find_noted(target, name, ret_symbol)) {
		TRY(target_need_symbols(target));
		if (!symtab_find(target->symbols, NULL, name, &cursor, ret_symbol) ||
		    ret_symbol->module)
			return error_create(ERROR_NOT_FOUND, "the kernel has no symbol %s", name);
	}
	if (type_name)
		return target_find_type(target, NULL, type_name, ret_type);
	enum type_origin origin;
	TRY(target_symbol_type(target, ret_symbol, ret_type, &origin));
	if (!ret_type->btf)
		return error_create(ERROR_NOT_FOUND, "the type of %s is not known", name);
	return NULL;
}

struct error *object_variable(struct target *target, const char *name, const char *type_name,
			      struct object *ret)
{
	struct symbol symbol;
	struct type type;
	TRY(find_variable(target, name, type_name, &symbol, &type));
	*ret = (struct object){ .target = target, .type = type, .address = symbol.address };
	return NULL;
}

struct error *object_per_cpu(struct target *target, const char *name, const char *type_name,
			     const struct cpu *cpu, struct object *ret)
{
	TRY(object_variable(target, name, type_name, ret));
	ret->address += cpu->per_cpu_offset;
	return NULL;
}

void object_load(struct object *object, uint8_t *buffer, size_t size)
{
	uint64_t bytes;
	object->bytes = NULL;
	if (!type_size(object->type, &bytes) || bytes > size)
		return;
	struct error *error =
		memory_read(object->target->memory, object->address, buffer, (size_t)bytes);
	if (!error) {
		object->bytes = buffer;
		object->loaded = (uint32_t)bytes;
	}
	error_free(error);
}

/* What is remembered of a type's members: of the kernel's own BTF only, which stays. */
static struct members *members_of(struct target *target, struct type type)
{
	return type.btf == target->btf ? target->members : NULL;
}

bool object_has(const struct object *object, const char *path)
{
	return members_has(members_of(object->target, object->type), object->type, path);
}

static struct error *find_member(const struct object *object, const char *path, struct member *ret)
{
	return members_find(members_of(object->target, object->type), object->type, path, ret);
}

static struct object object_of(const struct object *object, const struct member *member)
{
	uint64_t bit = member->place.bit_offset + object->bit_offset;
	return (struct object){ .target = object->target,
				.type = member->place.type,
				.address = object->address + bit / 8,
				.bit_offset = (uint32_t)(bit % 8),
				.bit_size = member->place.bit_size };
}

struct error *object_member(const struct object *object, const char *path, struct object *ret)
{
	struct member member;
	if (!path) {
		*ret = *object;
		return NULL;
	}
	TRY(find_member(object, path, &member));
	*ret = object_of(object, &member);
	return NULL;
}

static uint64_t sign_extend(uint64_t value, uint32_t bits)
{
	if (bits >= 64 || !bits || !(value >> (bits - 1) & 1))
		return value;
	return value | ~(uint64_t)0 << bits;
}

/* A bit-field of up to 64 bits that may straddle nine bytes. */
static struct error *read_bits(const struct object *object, uint64_t *ret)
{
	uint8_t raw[9] = { 0 };
	uint32_t bits = object->bit_size, first = object->bit_offset;
	if (bits > 64 || first > 7)
		return error_create(ERROR_FORMAT, "a bit-field of %u bits", bits);
	uint32_t bytes = (first + bits + 7) / 8;
	TRY(memory_read(object->target->memory, object->address, raw, bytes));
	uint64_t value = 0;
	for (uint32_t i = 0; i < bits; i++) {
		bool big = object->target->facts->big_endian;
		uint32_t at = first + i;
		uint64_t bit = big ? raw[at / 8] >> (7 - at % 8) & 1 : raw[at / 8] >> (at % 8) & 1;
		value = big ? value << 1 | bit : value | bit << i;
	}
	*ret = value;
	return NULL;
}

/* An integer or a pointer, and no bit-field. */
static struct error *read_scalar(const struct object *object, const char *path, uint64_t address,
				 const struct member *member, uint64_t *ret)
{
	uint64_t value, offset = address - object->address;
	if (object->bytes && offset < object->loaded && member->size <= object->loaded - offset)
		value = load_unsigned(object->bytes + offset, member->size,
				      object->target->facts->big_endian);
	else
		TRY(error_prefix(memory_read_unsigned(object->target->memory, address, member->size,
						      &value),
				 "%s", path));
	*ret = member->is_signed ? sign_extend(value, member->size * 8u) : value;
	return NULL;
}

/* The same of what is at the object itself, or a bit-field. */
static struct error *read_other(struct object member, const char *path, uint64_t *ret)
{
	uint64_t size = 0, value;
	uint32_t bits = member.bit_size;
	if (bits) {
		TRY(read_bits(&member, &value));
	} else {
		if (!type_size(member.type, &size) || size > 8)
			return error_create(ERROR_OTHER, "%s is not a scalar", path ? path : "it");
		TRY(error_prefix(memory_read_unsigned(member.target->memory, member.address,
						      (size_t)size, &value),
				 "%s", path ? path : "value"));
		bits = (uint32_t)size * 8;
	}
	*ret = type_is_signed(member.type) ? sign_extend(value, bits) : value;
	return NULL;
}

struct error *object_u64(const struct object *object, const char *path, uint64_t *ret)
{
	struct member member;
	if (!path)
		return read_other(*object, path, ret);
	TRY(find_member(object, path, &member));
	struct object place = object_of(object, &member);
	if (!member.size || place.bit_offset)
		return read_other(place, path, ret);
	return read_scalar(object, path, place.address, &member, ret);
}

struct error *object_pointer(const struct object *object, const char *path, uint64_t *ret)
{
	TRY(object_u64(object, path, ret));
	return *ret ? NULL
		    : error_create(ERROR_FORMAT, "%s at 0x%" PRIx64 " is NULL: it is damaged", path,
				   object->address);
}

struct error *object_follow(const struct object *object, const char *path, struct object *ret)
{
	struct object place = *object;
	struct member member;
	struct type pointed;
	uint64_t address;
	if (path) {
		TRY(find_member(object, path, &member));
		place = object_of(object, &member);
		pointed = member.pointed;
	} else if (!type_is_pointer(object->type) || !type_target(object->type, &pointed)) {
		pointed.btf = NULL;
	}
	if (!pointed.btf)
		return error_create(ERROR_OTHER, "%s is not a pointer", path ? path : "it");
	if (path && member.size && !place.bit_offset)
		TRY(read_scalar(object, "value", place.address, &member, &address));
	else
		TRY(read_other(place, NULL, &address));
	*ret = (struct object){ .target = object->target, .type = pointed, .address = address };
	return NULL;
}

struct error *object_string(const struct object *object, const char *path, char *buffer,
			    size_t size)
{
	struct object member;
	uint64_t bytes;
	TRY(object_member(object, path, &member));
	if (!size || !type_size(member.type, &bytes))
		return error_create(ERROR_OTHER, "%s is not an array", path ? path : "it");
	size_t wanted = bytes < size - 1 ? (size_t)bytes : size - 1;
	TRY(memory_read(member.target->memory, member.address, buffer, wanted));
	buffer[wanted] = 0;
	return NULL;
}

struct error *object_container(struct target *target, const char *type_name, const char *path,
			       uint64_t address, struct object *ret)
{
	uint64_t offset;
	TRY(object_offset(target, type_name, path, &offset));
	return object_at(target, type_name, address - offset, ret);
}

struct error *object_offset(struct target *target, const char *type_name, const char *path,
			    uint64_t *ret)
{
	struct type type;
	struct member member;
	TRY(target_find_type(target, NULL, type_name, &type));
	TRY(members_find(members_of(target, type), type, path, &member));
	*ret = member.place.bit_offset / 8;
	return NULL;
}
