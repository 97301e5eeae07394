// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/unwind/scan.h"

#include "base/bytes.h"
#include "debugger/unwind/orc.h"
#include <string.h>

#define PIECE 512

/* Kernel image, modules and other generated text lie in the top two gigabytes on x86-64. */
#define TEXT_LOWEST 0xffffffff80000000u

bool scan_is_text(struct target *target, uint64_t address)
{
	if (target->arch == &arch_x86_64 && address < TEXT_LOWEST)
		return false;
	if (symtab_is_text(target->symbols, address))
		return true;
	if (target->modules_loaded)
		return false;
	struct symbol symbol;
	uint64_t offset;
	return target_symbol_at(target, address, &symbol, &offset) &&
	       symtab_is_text(target->symbols, address);
}

/* --- code before a return address ---------------------------------------------------- */

#define CALL_BYTES_MAX 7

/* `call *operand`, ff /2, that ends where `code` does. */
static bool is_indirect_call(const uint8_t code[CALL_BYTES_MAX])
{
	const uint8_t *end = code + CALL_BYTES_MAX;
	for (size_t size = 2; size <= CALL_BYTES_MAX; size++) {
		const uint8_t *at = end - size;
		if (at[0] != 0xff || (at[1] >> 3 & 7) != 2)
			continue;
		unsigned int mode = at[1] >> 6, operand = at[1] & 7;
		size_t wanted = 2;
		if (mode != 3 && operand == 4) /* a SIB byte */
			wanted++;
		if (mode == 1)
			wanted++;
		else if (mode == 2 || (mode == 0 && operand == 5))
			wanted += 4;
		if (wanted == size)
			return true;
	}
	return false;
}

static bool find_direct_call(struct memory *memory, uint64_t address, uint64_t *ret)
{
	uint8_t code[5];
	struct error *error = memory_read(memory, address - 5, code, sizeof(code));
	error_free(error);
	if (error || code[0] != 0xe8)
		return false;
	*ret = address + (uint64_t)(int64_t)(int32_t)load_u32(code + 1, false);
	return true;
}

static bool find_indirect_call(struct memory *memory, uint64_t address)
{
	uint8_t code[CALL_BYTES_MAX];
	struct error *error = memory_read(memory, address - sizeof(code), code, sizeof(code));
	error_free(error);
	return !error && is_indirect_call(code);
}

bool scan_finds_call(struct memory *memory, uint64_t address, uint64_t *ret_called)
{
	if (find_direct_call(memory, address, ret_called))
		return true;
	*ret_called = 0;
	return find_indirect_call(memory, address);
}

bool scan_call_target(struct target *target, uint64_t address, uint64_t *ret)
{
	return find_direct_call(target->memory, address, ret);
}

bool scan_follows_call(struct target *target, uint64_t address)
{
	uint64_t called;
	if (scan_call_target(target, address, &called) && scan_is_text(target, called))
		return true;
	return find_indirect_call(target->memory, address);
}

/* --- the stack -------------------------------------------------------------------------- */

static bool is_match(struct target *target, uint64_t word, uint64_t function)
{
	uint64_t called;
	if (!scan_is_text(target, word))
		return false;
	if (!function)
		return scan_follows_call(target, word);
	return scan_call_target(target, word, &called) && called == function;
}

bool scan_stack(struct target *target, uint64_t start, uint64_t end, uint64_t function,
		struct scan_result *ret)
{
	uint8_t raw[PIECE];
	for (uint64_t at = start; at < end && end - at >= 8; at += PIECE) {
		size_t wanted = end - at < PIECE ? (size_t)(end - at) : PIECE;
		struct error *error;
		size_t size = memory_read_some(target->memory, at, raw, wanted, &error);
		error_free(error);
		for (size_t i = 0; i + 8 <= size; i += 8) {
			uint64_t word = load_u64(raw + i, target->memory->big_endian);
			if (!is_match(target, word, function))
				continue;
			*ret = (struct scan_result){ .slot = at + i, .pc = word };
			return true;
		}
		if (size < wanted || end - at <= PIECE)
			return false;
	}
	return false;
}
