// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/digits.h"

#include <string.h>

/* Writes from the end of `buffer` backwards; returns where the digits begin. */
static inline size_t from_the_end(uint64_t value, unsigned int base, char buffer[DIGITS_SIZE])
{
	size_t at = DIGITS_SIZE;
	do {
		buffer[--at] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	return at;
}

size_t digits_u64(uint64_t value, char text[DIGITS_SIZE])
{
	char buffer[DIGITS_SIZE];
	size_t at = from_the_end(value, 10, buffer), length = DIGITS_SIZE - at;
	memcpy(text, buffer + at, length);
	text[length] = 0;
	return length;
}

size_t digits_i64(int64_t value, char text[DIGITS_SIZE])
{
	if (value >= 0)
		return digits_u64((uint64_t)value, text);
	char digits[DIGITS_SIZE];
	/* The lowest number has no positive counterpart. */
	size_t length = digits_u64((uint64_t) - (value + 1) + 1, digits);
	text[0] = '-';
	memcpy(text + 1, digits, length + 1);
	return length + 1;
}

size_t digits_hex(uint64_t value, char text[DIGITS_SIZE])
{
	char buffer[DIGITS_SIZE];
	size_t at = from_the_end(value, 16, buffer), length = DIGITS_SIZE - at;
	memcpy(text, "0x", 2);
	memcpy(text + 2, buffer + at, length);
	text[2 + length] = 0;
	return 2 + length;
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 'a' - 'A';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/* "0x", and a digit of such a number. */
static bool begins_hex(const char *text)
{
	return text[0] == '0' && (text[1] | ' ') == 'x' && (unsigned int)digit_value(text[2]) < 16;
}

const char *digits_scan(const char *text, unsigned int base, uint64_t *ret)
{
	const char *at = text;
	uint64_t value = 0;
	if (base != 10 && begins_hex(text)) {
		base = 16;
		at += 2;
	} else if (!base) {
		base = *text == '0' ? 8 : 10;
	}
	const char *first = at;
	for (unsigned int digit; (digit = (unsigned int)digit_value(*at)) < base; at++)
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			return NULL;
	if (at == first)
		return NULL;
	*ret = value;
	return at;
}

bool digits_parse(const char *text, uint64_t *ret)
{
	uint64_t value;
	const char *end = digits_scan(text, begins_hex(text) ? 16 : 10, &value);
	if (!end || *end)
		return false;
	*ret = value;
	return true;
}
