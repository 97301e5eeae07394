// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/known/ubsan.h"

#include "base/ascii.h"
#include "base/bytes.h"
#include "debugger/target/object.h"

#define CHUNK_SIZE   4096
#define RECORD_SIZE  24 /* the least: a place in the source, and a type */
#define NAME_START   4	/* of a type: behind its kind and what that means */
#define NAME_LEAST   4	/* of its bytes, looked at */
#define LINE_MAX     1000000
#define COLUMN_MAX   10000
#define REPORTED_BIT ((uint32_t)1 << 31) /* of the line, or of the column */
#define DETAILS_MAX  256

/* lib/ubsan.h has the records' types. */
bool ubsan_exists(const struct target *target)
{
	uint64_t cursor = 0;
	return btf_find(target->btf, BTF_STRUCT, "type_descriptor", &cursor) != 0;
}

/* struct type_descriptor: { integer, float or other; its size and sign; "'long int'" }. */
static bool is_type(const uint8_t *bytes, bool big_endian)
{
	if (bytes[NAME_START] != '\'')
		return false;
	uint16_t kind = load_u16(bytes, big_endian), details = load_u16(bytes + 2, big_endian);
	if ((kind > 2 && kind != UINT16_MAX) || details > DETAILS_MAX)
		return false;
	for (int i = 1; i < NAME_LEAST; i++)
		if (!ascii_is_text((char)bytes[NAME_START + i]))
			return false;
	return true;
}

/* { { file, line, column }, type, ... } */
static bool is_record(const struct target *target, const uint8_t *bytes)
{
	bool big_endian = target->facts->big_endian;
	uint8_t type[NAME_START + NAME_LEAST];
	uint32_t line = load_u32(bytes + 8, big_endian) & ~REPORTED_BIT;
	uint32_t column = load_u32(bytes + 12, big_endian) & ~REPORTED_BIT;
	uint64_t file = load_u64(bytes, big_endian), named = load_u64(bytes + 16, big_endian);
	return line && line < LINE_MAX && column && column < COLUMN_MAX && file >> 63 &&
	       named >> 63 &&
	       memory_read_some(target->memory, named, type, sizeof(type), NULL) == sizeof(type) &&
	       is_type(type, big_endian);
}

uint64_t ubsan_start(struct target *target, uint64_t address, uint64_t room)
{
	uint8_t bytes[CHUNK_SIZE + RECORD_SIZE];
	for (uint64_t start = 0; start < room; start += CHUNK_SIZE) {
		uint64_t left = room - start;
		size_t size = left < sizeof(bytes) ? (size_t)left : sizeof(bytes);
		size = memory_read_some(target->memory, address + start, bytes, size, NULL);
		/* Types are aligned to 2 bytes, records to 8. */
		for (size_t at = (address + start) % 2; at < CHUNK_SIZE; at += 2) {
			uint64_t offset = start + at;
			if (offset && ((at + NAME_START + NAME_LEAST <= size &&
					is_type(bytes + at, target->facts->big_endian)) ||
				       (at + RECORD_SIZE <= size && (address + offset) % 8 == 0 &&
					is_record(target, bytes + at))))
				return offset;
		}
	}
	return room;
}
