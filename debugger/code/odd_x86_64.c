// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/code/odd_x86_64.h"

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

/*
 * Of AVX2's and later, what Capstone 4 takes for none: vbroadcasti128 and vpclmulqdq of 32 bytes.
 * Their three bytes of VEX: c4, map, and W, registers, length, prefix.
 */
static bool vex(const uint8_t *bytes, size_t size, struct odd_instruction *ret)
{
	if (size < 5 || bytes[0] != 0xc4 || (bytes[2] & 7) != 5)
		return false;
	uint8_t map = bytes[1] & 0x1f;
	bool is_multiply = map == 3 && bytes[3] == 0x44;
	if (!is_multiply && !(map == 2 && bytes[3] == 0x5a))
		return false;
	size_t place = modrm_length(bytes + 4, size - 4);
	size_t length = 4 + place + is_multiply;
	if (!place || length > size)
		return false;
	*ret = (struct odd_instruction){ .size = (uint8_t)length, .effect = ODD_NOTHING };
	return true;
}

/* movsxd without REX.W, a mov: 4 takes it for the one that widens, 5 for nothing. */
static bool narrow_movsxd(const uint8_t *bytes, size_t size, struct odd_instruction *ret)
{
	size_t at = 0;
	while (at < size && at < 4 && (bytes[at] == 0x66 || bytes[at] == 0x67))
		at++;
	if (at < size && bytes[at] >> 4 == 4) {
		if (bytes[at] & 8)
			return false;
		at++;
	}
	if (at >= size || bytes[at] != 0x63)
		return false;
	size_t place = modrm_length(bytes + at + 1, size - at - 1);
	if (!place)
		return false;
	*ret = (struct odd_instruction){ "movsxd", (uint8_t)(at + 1 + place), ODD_UNKNOWN };
	return true;
}

bool odd_x86_64(const uint8_t *bytes, size_t size, struct odd_instruction *ret)
{
	static const uint8_t ud1[] = { 0x0f, 0xb9 }, wruss[] = { 0x0f, 0x38, 0xf5 },
			     wrss[] = { 0x0f, 0x38, 0xf6 }, tpause[] = { 0x0f, 0xae };
	size_t prefixes = 0;
	bool short_prefix = false;
	if (size && bytes[0] == EVEX)
		return evex(bytes, size, ret);
	if (system_instruction(bytes, size, ret) || vex(bytes, size, ret) ||
	    narrow_movsxd(bytes, size, ret))
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

/* Puts a first operand before the others, where there is room. */
static void put_first(const char *first, char *operands, size_t size)
{
	size_t length = strlen(first), rest = strlen(operands) + 1;
	if (length + rest > size)
		return;
	memmove(operands + length, operands, rest);
	memcpy(operands, first, length);
}

/* "shrb $1, (%rax)": Capstone 5 leaves the 1 out where the place is memory. */
static void mend_shift(const cs_insn *instruction, char *operands, size_t size)
{
	uint8_t opcode = instruction->detail->x86.opcode[0];
	bool is_one = opcode == 0xd0 || opcode == 0xd1;
	if (is_one && !strchr(operands, '$') && strchr(operands, '('))
		put_first("$1, ", operands, size);
}

/* ", %riz, 2" is the index that none is; Capstone 4 leaves it out. */
static void mend_index(char *operands)
{
	char *index = strstr(operands, ", %riz"), *end = index ? strchr(index, ')') : NULL;
	if (!end)
		return;
	/* Without a base, nothing is left in the brackets. */
	if (index > operands && index[-1] == '(') {
		index--;
		end++;
	}
	memmove(index, end, strlen(end) + 1);
}

/* The accumulator of the short form comes first in Capstone 5. */
static void mend_exchange(const cs_insn *instruction, char *operands, size_t size)
{
	char first[16], second[16];
	if (instruction->id != X86_INS_XCHG || instruction->detail->x86.opcode[0] >> 3 != 0x12 ||
	    sscanf(operands, "%15[^,], %15s", first, second) != 2)
		return;
	if (!strcmp(second, "%rax") || !strcmp(second, "%eax") || !strcmp(second, "%ax"))
		snprintf(operands, size, "%s, %s", second, first);
}

static size_t count_operands(const char *text)
{
	size_t count = *text != 0;
	for (int depth = 0; *text; text++) {
		depth += (*text == '(') - (*text == ')');
		count += *text == ',' && !depth;
	}
	return count;
}

/* %xmm0 that these have without naming it: Capstone 5 shows it. */
static void mend_hidden(const cs_insn *instruction, char *operands, size_t size)
{
	unsigned int id = instruction->id;
	bool has_hidden = id == X86_INS_SHA256RNDS2 || id == X86_INS_PBLENDVB ||
			  id == X86_INS_BLENDVPS || id == X86_INS_BLENDVPD;
	if (has_hidden && count_operands(operands) == 2)
		put_first("%xmm0, ", operands, size);
}

void odd_text(const cs_insn *instruction, char *mnemonic, size_t mnemonic_size, char *operands,
	      size_t operands_size)
{
	const char *name = instruction->mnemonic;
	const cs_x86 *x86 = &instruction->detail->x86;
	copy_operands(instruction, operands, operands_size);
	mend_shift(instruction, operands, operands_size);
	mend_index(operands);
	mend_exchange(instruction, operands, operands_size);
	mend_hidden(instruction, operands, operands_size);
	/* Names that Capstone 4 has wrong, as Capstone 5 has them. */
	if (!strcmp(name, "movd") && (x86->rex & 8)) {
		name = "movq";
	} else if (!strcmp(name, "ud2b")) {
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
