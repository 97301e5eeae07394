/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Machine code as text, in AT&T's syntax as objdump and crash have it. To add a processor: a line
 * in decode.c's table, and where its instructions say addresses.
 */
#ifndef DEBUGGER_DISASSEMBLY_DECODE_H
#define DEBUGGER_DISASSEMBLY_DECODE_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INSTRUCTION_MAX 16 /* bytes, of any processor */

struct instruction {
	uint64_t address;
	uint8_t size;  /* bytes, at least 1 */
	bool is_valid; /* else these bytes are no instruction that is known */
	bool has_target, has_data;
	uint64_t target; /* where it calls or jumps to */
	uint64_t data;	 /* an address of the kernel's half that it reads, writes or makes */
	char mnemonic[32], operands[160];
};

struct disassembler;

/* `arch`: arch.name. ERROR_UNSUPPORTED: not for this processor. */
struct error *disassembler_create(const char *arch, struct disassembler **ret) MUST_CHECK;
void disassembler_destroy(struct disassembler *disassembler);
/* The instruction at the start of `size` (at least 1) bytes, which lie at `address`. */
void disassemble(struct disassembler *disassembler, const uint8_t *bytes, size_t size,
		 uint64_t address, struct instruction *ret);

#endif
