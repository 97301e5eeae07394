// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/infer/odd_x86_64.h"

#include "base/array.h"
#include <capstone/capstone.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define EVEX		   0x62
#define EVEX_PREFIX_LENGTH 4
#define EVEX_MAP	   7 /* bits of its second byte */

/* 0f 01 and a byte. */
static const struct {
	uint8_t byte;
	const char *mnemonic;
	enum odd_effect effect;
} system_instructions[] = {
	{ 0xee, "rdpkru", ODD_EAX_EDX },
	{ 0xef, "wrpkru", ODD_NOTHING },
	{ 0xfa, "monitorx", ODD_NOTHING },
	{ 0xfb, "mwaitx", ODD_NOTHING },
};

/* Of the ModRM byte at the start, and of what belongs to it; 0: there are not so many bytes. */
static size_t modrm_length(const uint8_t *bytes, size_t size)
{
	if (!size)
		return 0;
	uint8_t mode = bytes[0] >> 6, base = bytes[0] & 7;
	size_t length = 1;
	if (mode == 3)
		return length;
	if (base == 4) {
		if (size < 2)
			return 0;
		base = bytes[1] & 7;
		length++;
	}
	if (mode == 1)
		length += 1;
	else if (mode == 2 || base == 5)
		length += 4;
	return length <= size ? length : 0;
}

/* Those with an immediate: all of map 3, and the shifts, comparisons and shuffles of map 1. */
static bool has_evex_immediate(uint8_t map, uint8_t opcode)
{
	return map == 3 || (map == 1 && ((opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 ||
					 (opcode >= 0xc4 && opcode <= 0xc6)));
}

static bool evex(const uint8_t *bytes, size_t size, struct odd_instruction *ret)
{
	/* In 64-bit mode 0x62 is nothing else. */
	if (size < EVEX_PREFIX_LENGTH + 2 || !(bytes[1] & EVEX_MAP))
		return false;
	size_t length = EVEX_PREFIX_LENGTH + 1;
	size_t place = modrm_length(bytes + length, size - length);
	length += place + has_evex_immediate(bytes[1] & EVEX_MAP, bytes[EVEX_PREFIX_LENGTH]);
	if (!place || length > size)
		return false;
	*ret = (struct odd_instruction){ .size = (uint8_t)length, .effect = ODD_UNKNOWN };
	return true;
}

/* rdpkru and its like; without prefixes. */
static bool system_instruction(const uint8_t *bytes, size_t size, struct odd_instruction *ret)
{
	for (size_t i = 0; i < ARRAY_COUNT(system_instructions) && size >= 3; i++) {
		if (bytes[0] != 0x0f || bytes[1] != 0x01 || bytes[2] != system_instructions[i].byte)
			continue;
		*ret = (struct odd_instruction){ system_instructions[i].mnemonic, 3,
						 system_instructions[i].effect };
		return true;
	}
	return false;
}

/* With the prefixes before it; size 0: there is none at all. */
static struct odd_instruction with_place(size_t prefixes, const uint8_t *bytes, size_t size,
					 const uint8_t *opcode, size_t opcode_size)
{
	struct odd_instruction ret = { .effect = ODD_UNKNOWN };
	if (size < prefixes + opcode_size || memcmp(bytes + prefixes, opcode, opcode_size))
		return ret;
	size_t length = prefixes + opcode_size;
	size_t place = modrm_length(bytes + length, size - length);
	if (place)
		ret.size = (uint8_t)(length + place);
	return ret;
}

bool odd_x86_64(const uint8_t *bytes, size_t size, struct odd_instruction *ret)
{
	static const uint8_t ud1[] = { 0x0f, 0xb9 }, wruss[] = { 0x0f, 0x38, 0xf5 },
			     wrss[] = { 0x0f, 0x38, 0xf6 }, tpause[] = { 0x0f, 0xae };
	size_t prefixes = 0;
	bool short_prefix = false;
	if (size && bytes[0] == EVEX)
		return evex(bytes, size, ret);
	if (system_instruction(bytes, size, ret))
		return true;
	while (prefixes < size && prefixes < 4 &&
	       (bytes[prefixes] == 0x66 || bytes[prefixes] == 0x67)) {
		short_prefix |= bytes[prefixes] == 0x66;
		prefixes++;
	}
	if (prefixes < size && bytes[prefixes] >> 4 == 4)
		prefixes++;
	*ret = with_place(prefixes, bytes, size, ud1, sizeof(ud1));
	if (ret->size) {
		ret->mnemonic = "ud1";
		ret->effect = ODD_EXCEPTION;
		return true;
	}
	if (short_prefix)
		*ret = with_place(prefixes, bytes, size, wruss, sizeof(wruss));
	else
		*ret = with_place(prefixes, bytes, size, wrss, sizeof(wrss));
	/* clflushopt and its like have the same opcode, and a place in memory. */
	if (!ret->size && short_prefix && size > prefixes + 2 && bytes[prefixes + 2] >> 3 == 0x1e)
		*ret = with_place(prefixes, bytes, size, tpause, sizeof(tpause));
	return ret->size != 0;
}

/* --- text ------------------------------------------------------------------------------------- */

/* The immediate of 8 bytes, NULL: it has none. */
static const cs_x86_op *find_large_immediate(const cs_insn *instruction)
{
	const cs_x86 *x86 = &instruction->detail->x86;
	const cs_x86_op *immediate = NULL;
	if (instruction->id != X86_INS_MOV && instruction->id != X86_INS_MOVABS)
		return NULL;
	for (uint8_t i = 0; i < x86->op_count; i++)
		if (x86->operands[i].type == X86_OP_IMM && x86->operands[i].size == 8)
			immediate = &x86->operands[i];
	return immediate;
}

/* An immediate of 8 bytes is decimal and without a sign in Capstone 5: "$18446744073709551594". */
static void copy_operands(const cs_insn *instruction, char *ret, size_t size)
{
	const char *text = instruction->op_str, *dollar = strchr(text, '$');
	const cs_x86_op *immediate = find_large_immediate(instruction);
	if (!dollar || !immediate) {
		snprintf(ret, size, "%s", text);
		return;
	}
	int64_t value = immediate->imm;
	bool is_negative = value < 0 && value >= INT32_MIN;
	uint64_t shown = is_negative ? -(uint64_t)value : (uint64_t)value;
	snprintf(ret, size, shown > 9 ? "%.*s$%s0x%" PRIx64 "%s" : "%.*s$%s%" PRIu64 "%s",
		 (int)(dollar - text), text, is_negative ? "-" : "", shown,
		 dollar + strcspn(dollar, ","));
}

void odd_text(const cs_insn *instruction, char *mnemonic, size_t mnemonic_size, char *operands,
	      size_t operands_size)
{
	const char *name = instruction->mnemonic;
	const cs_x86 *x86 = &instruction->detail->x86;
	copy_operands(instruction, operands, operands_size);
	/* Names that Capstone 4 has wrong, as Capstone 5 has them. */
	if (!strcmp(name, "ud2b")) {
		name = "ud1";
	} else if (!strcmp(name, "rol") && x86->operands[1].size == 4) {
		name = "roll";
	} else if (x86->prefix[2] == X86_PREFIX_OPSIZE && !strcmp(name, "rep stosl") &&
		   !strcmp(operands, "%eax, (%rdi)")) {
		name = "rep stosw";
		snprintf(operands, operands_size, "%%ax, (%%rdi)");
	}
	snprintf(mnemonic, mnemonic_size, "%s", name);
}
