/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Machine code by hand, from TEXT on, each instruction behind the one before. */
#ifndef TESTS_UNIT_CODE_BY_HAND_H
#define TESTS_UNIT_CODE_BY_HAND_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define TEXT 0xffffffff81000000u

static uint8_t machine_code[4096];
static size_t code_size;

/* In hexadecimal: "48 89 c7". */
static inline void bytes(const char *text)
{
	for (unsigned int byte; sscanf(text, "%2x", &byte) == 1; text += text[2] ? 3 : 2)
		machine_code[code_size++] = (uint8_t)byte;
}

static inline void word(uint64_t value)
{
	uint32_t low = (uint32_t)value;
	memcpy(machine_code + code_size, &low, sizeof(low));
	code_size += sizeof(low);
}

/* An instruction that ends in a displacement from its end. */
static inline void relative(const char *text, uint64_t target)
{
	bytes(text);
	word(target - (TEXT + code_size + 4));
}

/* An instruction that ends in an immediate, or a displacement from nothing. */
static inline void absolute(const char *text, uint64_t value)
{
	bytes(text);
	word(value);
}

static inline void call(uint64_t target)
{
	relative("e8", target);
}

#endif
