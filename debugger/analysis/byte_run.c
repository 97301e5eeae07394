// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/byte_run.h"

#define SIDE_MAX (64u << 10) /* bytes */
#define WORD	 8u

static bool is_byte(struct memory *memory, uint64_t address, uint8_t wanted)
{
	uint8_t byte;
	struct error *error = memory_read_u8(memory, address, &byte);
	bool is = !error && byte == wanted;
	error_free(error);
	return is;
}

void byte_run_find(struct memory *memory, uint64_t place, struct byte_run *ret)
{
	uint64_t word;
	*ret = (struct byte_run){ 0 };
	struct error *error = memory_read_u64(memory, place, &word);
	bool is_read = !error;
	uint8_t byte = (uint8_t)word;
	error_free(error);
	if (!is_read || byte == 0 || byte == UINT8_MAX ||
	    word != byte * UINT64_C(0x0101010101010101))
		return;
	uint64_t start = place, end = place + WORD;
	while (place - start < SIDE_MAX && is_byte(memory, start - 1, byte))
		start--;
	while (end - place < SIDE_MAX && is_byte(memory, end, byte))
		end++;
	*ret = (struct byte_run){ start, end - start, byte };
}
