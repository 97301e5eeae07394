/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes of call frame information, read one after the other; behind the end it is bad for good. */
#ifndef DEBUGGER_USER_STACK_CFI_CURSOR_H
#define DEBUGGER_USER_STACK_CFI_CURSOR_H

#include "base/bytes.h"

struct cfi_cursor {
	const uint8_t *data;
	size_t size, at;
	uint64_t address; /* of the first byte in the process */
	bool is_bad;
};

static inline uint64_t cursor_unsigned(struct cfi_cursor *cursor, size_t size)
{
	if (cursor->is_bad || size > cursor->size - cursor->at) {
		cursor->is_bad = true;
		return 0;
	}
	uint64_t value = load_unsigned(cursor->data + cursor->at, size, false);
	cursor->at += size;
	return value;
}

static inline uint8_t cursor_u8(struct cfi_cursor *cursor)
{
	return (uint8_t)cursor_unsigned(cursor, 1);
}

static inline int64_t cursor_signed(struct cfi_cursor *cursor, size_t size)
{
	uint64_t value = cursor_unsigned(cursor, size);
	unsigned int unused = 64 - (unsigned int)size * 8;
	return (int64_t)(value << unused) >> unused;
}

static inline void cursor_skip(struct cfi_cursor *cursor, uint64_t size)
{
	if (cursor->is_bad || size > cursor->size - cursor->at)
		cursor->is_bad = true;
	else
		cursor->at += (size_t)size;
}

/* A number in LEB128; bits beyond 64 make it bad. */
static inline uint64_t cursor_uleb(struct cfi_cursor *cursor)
{
	uint64_t value = 0;
	for (unsigned int shift = 0; shift < 64; shift += 7) {
		uint8_t byte = cursor_u8(cursor);
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	cursor->is_bad = true;
	return 0;
}

static inline int64_t cursor_sleb(struct cfi_cursor *cursor)
{
	uint64_t value = 0;
	for (unsigned int shift = 0; shift < 64; shift += 7) {
		uint8_t byte = cursor_u8(cursor);
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (byte & 0x40 && shift + 7 < 64)
			value |= UINT64_MAX << (shift + 7);
		return (int64_t)value;
	}
	cursor->is_bad = true;
	return 0;
}

/* Encodings of pointers (DW_EH_PE_*): how wide, and from where they count. */
#define POINTER_FORMAT	   0x0f
#define POINTER_FROM	   0x70
#define POINTER_FROM_PC	   0x10
#define POINTER_FROM_TABLE 0x30
#define POINTER_INDIRECT   0x80
#define POINTER_OMITTED	   0xff

/* `table`: the address of .eh_frame_hdr. What needs more than these bytes is bad. */
static inline uint64_t cursor_pointer(struct cfi_cursor *cursor, uint8_t encoding, uint64_t table)
{
	uint64_t here = cursor->address + cursor->at, value = 0;
	switch (encoding & POINTER_FORMAT) {
	case 0x00:
	case 0x04:
	case 0x0c:
		value = cursor_unsigned(cursor, 8);
		break;
	case 0x01:
		value = cursor_uleb(cursor);
		break;
	case 0x02:
		value = cursor_unsigned(cursor, 2);
		break;
	case 0x03:
		value = cursor_unsigned(cursor, 4);
		break;
	case 0x09:
		value = (uint64_t)cursor_sleb(cursor);
		break;
	case 0x0a:
		value = (uint64_t)cursor_signed(cursor, 2);
		break;
	case 0x0b:
		value = (uint64_t)cursor_signed(cursor, 4);
		break;
	default:
		cursor->is_bad = true;
	}
	if (encoding & POINTER_INDIRECT)
		cursor->is_bad = true;
	if ((encoding & POINTER_FROM) == POINTER_FROM_PC)
		return value + here;
	if ((encoding & POINTER_FROM) == POINTER_FROM_TABLE)
		return value + table;
	if (encoding & POINTER_FROM)
		cursor->is_bad = true;
	return value;
}

#endif
