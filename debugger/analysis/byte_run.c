// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/analysis/byte_run.h"

#include "base/ascii.h"
#include <inttypes.h>
#include <stdio.h>

#define SIDE_MAX (64u << 10) /* bytes */
#define WORD	 8u

/* What all of a run are: text, or one byte. */
struct kind {
	bool is_text;
	uint8_t byte;
};

static bool is_kind(struct memory *memory, uint64_t address, const struct kind *kind)
{
	uint8_t byte;
	struct error *error = memory_read_u8(memory, address, &byte);
	bool is = !error && (kind->is_text ? ascii_is_print((char)byte) : byte == kind->byte);
	error_free(error);
	return is;
}

static bool find_kind(uint64_t word, struct kind *ret)
{
	*ret = (struct kind){ .byte = (uint8_t)word };
	if (word == ret->byte * UINT64_C(0x0101010101010101))
		return ret->byte != 0 && ret->byte != UINT8_MAX;
	ret->is_text = true;
	for (unsigned int i = 0; i < WORD; i++)
		if (!ascii_is_print((char)(word >> 8 * i)))
			return false;
	return true;
}

static void take_text(struct memory *memory, struct byte_run *ret)
{
	size_t length = ret->size < sizeof(ret->text) - 1 ? ret->size : sizeof(ret->text) - 1;
	struct error *error = memory_read(memory, ret->start, ret->text, length);
	ret->text[error ? 0 : length] = 0;
	error_free(error);
}

void byte_run_find(struct memory *memory, uint64_t place, struct byte_run *ret)
{
	uint64_t word;
	struct kind kind;
	*ret = (struct byte_run){ 0 };
	struct error *error = memory_read_u64(memory, place, &word);
	bool is_read = !error;
	error_free(error);
	if (!is_read || !find_kind(word, &kind))
		return;
	uint64_t start = place, end = place + WORD;
	while (place - start < SIDE_MAX && is_kind(memory, start - 1, &kind))
		start--;
	while (end - place < SIDE_MAX && is_kind(memory, end, &kind))
		end++;
	/* What is a number by itself may look like eight letters. */
	if (kind.is_text && end - start < 2 * WORD)
		return;
	*ret = (struct byte_run){ start, end - start, kind.is_text ? 0 : kind.byte, "" };
	if (kind.is_text)
		take_text(memory, ret);
}

void byte_run_spell(const struct byte_run *run, char *buffer, size_t size)
{
	bool is_longer = run->size >= sizeof(run->text);
	if (*run->text)
		snprintf(buffer, size,
			 "\"%s%s\" is the text of %" PRIu64 " bytes from 0x%" PRIx64 " on",
			 run->text, is_longer ? "..." : "", run->size, run->start);
	else
		snprintf(buffer, size, "%" PRIu64 " bytes from 0x%" PRIx64 " on are all 0x%02x",
			 run->size, run->start, run->byte);
}
