// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Functions begin at multiples of 16. An assembler fills the room in front of the next one with the
 * longest no-operations that the processors recommend, the largest first (Intel's manual, volume 2,
 * NOP; binutils, gas/config/tc-i386.c), the linker with traps between objects.
 */
#include "debugger/code/lower_x86_64.h"

#include "base/array.h"
#include "base/bytes.h"
#include <string.h>

#define ALIGNMENT 16
#define RETURN	  0xc3
#define TRAP	  0xcc
#define SHORT_JMP 0xeb
#define CALL	  0xe8

static const struct {
	uint8_t size, bytes[11];
} nops[] = {
	{ 11, { 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 } },
	{ 10, { 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 } },
	{ 9, { 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 } },
	{ 8, { 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 } },
	{ 7, { 0x0f, 0x1f, 0x80, 0, 0, 0, 0 } },
	{ 6, { 0x66, 0x0f, 0x1f, 0x44, 0, 0 } },
	{ 5, { 0x0f, 0x1f, 0x44, 0, 0 } },
	{ 4, { 0x0f, 0x1f, 0x40, 0 } },
	{ 3, { 0x0f, 0x1f, 0 } },
	{ 2, { 0x66, 0x90 } },
	{ 1, { 0x90 } },
};

/* Whether all of it is what an assembler fills with. */
static bool is_nops(const uint8_t *bytes, size_t count)
{
	while (count) {
		size_t i = 0;
		while (i < ARRAY_COUNT(nops) &&
		       (nops[i].size > count || memcmp(bytes, nops[i].bytes, nops[i].size) != 0))
			i++;
		if (i == ARRAY_COUNT(nops))
			return false;
		bytes += nops[i].size;
		count -= nops[i].size;
	}
	return true;
}

/* Whether what ends here is a short jump without its distance: `eb`, but not `eb eb`. */
static bool is_cut_jump(const uint8_t *bytes, size_t count)
{
	return bytes[count - 1] == SHORT_JMP && (count < 2 || bytes[count - 2] != SHORT_JMP);
}

/* The `90` of a jump by -112 bytes is no padding, though it looks so. */
static size_t count_nops(const uint8_t *bytes, size_t count)
{
	size_t most = count < ALIGNMENT ? count : ALIGNMENT;
	for (size_t size = most - 1; size; size--)
		if (is_nops(bytes + count - size, size) && !is_cut_jump(bytes, count - size))
			return size;
	return 0;
}

/*
 * A return takes the room of the jump to a thunk that it stands in for, four bytes more; behind a
 * jump through a register or its thunk a trap stops speculation. A call has none.
 */
static size_t traps_of_code(const uint8_t *bytes, size_t count, size_t traps)
{
	bool is_register = count >= 2 && bytes[count - 2] == 0xff && bytes[count - 1] >> 3 == 0x1c;
	if (count && bytes[count - 1] == RETURN)
		return 4;
	if (count >= 5 && bytes[count - 5] == CALL)
		return 0;
	return is_register || traps == 1;
}

size_t lower_x86_64_padding(const uint8_t *bytes, size_t count)
{
	size_t traps = 0;
	/* The room in front of an entry has a symbol of its own since 6.2: nops only. */
	if (!count || is_nops(bytes, count))
		return 0;
	while (traps < count && bytes[count - 1 - traps] == TRAP)
		traps++;
	if (!traps)
		return count_nops(bytes, count);
	size_t own = traps_of_code(bytes, count - traps, traps);
	return traps == count || traps <= own ? 0 : traps - own;
}

/*
 * Perhaps a landing pad, or what the kernel overwrites one with that nothing lands on, then the
 * hook, which is a no-operation until somebody traces the function.
 */
bool lower_x86_64_is_entry(const uint8_t *bytes, size_t count, uint64_t address, uint64_t hook)
{
	static const uint8_t pads[][4] = { { 0xf3, 0x0f, 0x1e, 0xfa },
					   { 0x66, 0x0f, 0x1f, 0x00 },
					   { 0x0f, 0x1f, 0x40, 0xd6 } };
	static const uint8_t nop[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
	for (size_t i = 0; i < ARRAY_COUNT(pads) && count >= sizeof(pads[i]); i++)
		if (!memcmp(bytes, pads[i], sizeof(pads[i]))) {
			bytes += sizeof(pads[i]);
			count -= sizeof(pads[i]);
			address += sizeof(pads[i]);
			break;
		}
	if (count < sizeof(nop))
		return false;
	uint64_t distance = (uint64_t)(int64_t)(int32_t)load_u32(bytes + 1, false);
	return !memcmp(bytes, nop, sizeof(nop)) ||
	       (hook && bytes[0] == CALL && address + sizeof(nop) + distance == hook);
}
