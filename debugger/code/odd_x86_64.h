/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The instructions in kernels that releases of Capstone decode differently, or not at all: answers
 * must not depend on the library. Lengths and registers are from Intel's and AMD's manuals.
 * Capstone 4 knows neither protection keys, nor shadow stacks, nor most of AVX-512, and takes what
 * follows their first byte for other instructions; of ud1, 4 and 5 leave out the operands. Of what
 * both know, the text differs here and there.
 */
#ifndef DEBUGGER_CODE_ODD_X86_64_H
#define DEBUGGER_CODE_ODD_X86_64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum odd_effect {
	ODD_UNKNOWN,  /* may change any register and memory */
	ODD_NOTHING,  /* changes no general register, no memory of the kernel */
	ODD_EAX_EDX,  /* changes these two registers */
	ODD_EXCEPTION /* nothing comes after it */
};

struct cs_insn;

struct odd_instruction {
	const char *mnemonic; /* NULL: Capstone 5 knows it, and its operands */
	uint8_t size;	      /* bytes */
	enum odd_effect effect;
};

/* True if one of them is at the start of `size` bytes, all of it. */
bool odd_x86_64(const uint8_t *bytes, size_t size, struct odd_instruction *ret);
/* The text of what Capstone decoded (with details, in AT&T's syntax), the same of each release. */
void odd_text(const struct cs_insn *instruction, char *mnemonic, size_t mnemonic_size,
	      char *operands, size_t operands_size);

#endif
