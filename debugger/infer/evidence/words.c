// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/evidence/words.h"

#include "base/ascii.h"
#include "base/bytes.h"

#define TEXT_BYTES     24 /* that are looked at */
#define IMAGE_TEXT_MIN 2
#define HEAP_TEXT_MIN  7 /* six may be a pointer of a process, or half of a number */

uint64_t word_load(const struct question *question, uint32_t offset, uint32_t size)
{
	if (offset > question->size || question->size - offset < size)
		return 0;
	return load_unsigned(question->bytes + offset, size,
			     question->knowledge->target->facts->big_endian);
}

static bool read_word(const struct question *question, uint64_t address, uint64_t *ret)
{
	uint64_t offset = address - question->subject->address;
	if (offset < question->size && question->size - offset >= 8) {
		*ret = word_load(question, (uint32_t)offset, 8);
		return true;
	}
	struct error *error = memory_read_u64(question->knowledge->target->memory, address, ret);
	error_free(error);
	return !error;
}

enum list_head_state word_list_head(const struct question *question, uint32_t offset)
{
	uint64_t next = word_load(question, offset, 8);
	uint64_t previous = word_load(question, offset + 8, 8);
	uint64_t self = question->subject->address + offset, back, forth;
	if (!next && !previous)
		return LIST_HEAD_EMPTY;
	/* Removed: LIST_POISON1, LIST_POISON2 of include/linux/poison.h. */
	if (next >> 32 == 0xdead0000 && previous >> 32 == 0xdead0000)
		return LIST_HEAD_EMPTY;
	if (!is_kernel_pointer(next) || !is_kernel_pointer(previous) || next % 8 || previous % 8)
		return LIST_HEAD_NOT;
	if (!read_word(question, next + 8, &back) || !read_word(question, previous, &forth))
		return LIST_HEAD_NOT;
	return back == self && forth == self ? LIST_HEAD_LINKED : LIST_HEAD_NOT;
}

bool word_is_text(const struct question *question, uint64_t address)
{
	struct target *target = question->knowledge->target;
	char bytes[TEXT_BYTES];
	size_t size = memory_read_some(target->memory, address, bytes, sizeof(bytes), NULL);
	size_t length = 0;
	while (length < size && ascii_is_text(bytes[length]))
		length++;
	size_t least = symtab_is_text(target->symbols, address) ? sizeof(bytes)
		       : address >= IMAGE_START			? IMAGE_TEXT_MIN
								: HEAP_TEXT_MIN;
	return length == sizeof(bytes) || (length >= least && length < size && !bytes[length]);
}
