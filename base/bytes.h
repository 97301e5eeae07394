/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bytes of a dump, read through checks: either byte order, never past the end,
 * never through a cast of a pointer to a struct.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t load_u16(const void *from, bool big_endian)
{
	uint16_t value;
	memcpy(&value, from, sizeof(value));
	return big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? value
								      : __builtin_bswap16(value);
}

static inline uint32_t load_u32(const void *from, bool big_endian)
{
	uint32_t value;
	memcpy(&value, from, sizeof(value));
	return big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? value
								      : __builtin_bswap32(value);
}

static inline uint64_t load_u64(const void *from, bool big_endian)
{
	uint64_t value;
	memcpy(&value, from, sizeof(value));
	return big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? value
								      : __builtin_bswap64(value);
}

/* An unsigned integer of 1, 2, 4 or 8 bytes; any other size gives 0. */
static inline uint64_t load_unsigned(const void *from, size_t size, bool big_endian)
{
	switch (size) {
	case 1:
		return *(const uint8_t *)from;
	case 2:
		return load_u16(from, big_endian);
	case 4:
		return load_u32(from, big_endian);
	case 8:
		return load_u64(from, big_endian);
	}
	return 0;
}

/* A span of borrowed bytes in the byte order of the machine they came from. */
struct bytes {
	const uint8_t *data;
	size_t size;
	bool big_endian;
};

/* True when [offset, offset + size) lies within; cannot overflow. */
static inline bool bytes_has(const struct bytes *bytes, uint64_t offset, uint64_t size)
{
	return offset <= bytes->size && size <= bytes->size - offset;
}

static inline bool bytes_u8(const struct bytes *bytes, uint64_t offset, uint8_t *ret)
{
	if (!bytes_has(bytes, offset, 1))
		return false;
	*ret = bytes->data[offset];
	return true;
}

static inline bool bytes_u16(const struct bytes *bytes, uint64_t offset, uint16_t *ret)
{
	if (!bytes_has(bytes, offset, 2))
		return false;
	*ret = load_u16(bytes->data + offset, bytes->big_endian);
	return true;
}

static inline bool bytes_u32(const struct bytes *bytes, uint64_t offset, uint32_t *ret)
{
	if (!bytes_has(bytes, offset, 4))
		return false;
	*ret = load_u32(bytes->data + offset, bytes->big_endian);
	return true;
}

static inline bool bytes_u64(const struct bytes *bytes, uint64_t offset, uint64_t *ret)
{
	if (!bytes_has(bytes, offset, 8))
		return false;
	*ret = load_u64(bytes->data + offset, bytes->big_endian);
	return true;
}

/* The NUL-terminated string at `offset`; NULL when it does not end within the span. */
static inline const char *bytes_string(const struct bytes *bytes, uint64_t offset)
{
	if (offset >= bytes->size || !memchr(bytes->data + offset, 0, bytes->size - offset))
		return NULL;
	return (const char *)bytes->data + offset;
}

#endif
