/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What <ctype.h> asks the locale for, where a byte from 0x80 on may be a letter; here none is. */
#ifndef BASE_ASCII_H
#define BASE_ASCII_H

#include <stdbool.h>
#include <stddef.h>

static inline bool ascii_is_alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool ascii_is_alnum(char c)
{
	return ascii_is_alpha(c) || (c >= '0' && c <= '9');
}

static inline bool ascii_is_print(char c)
{
	return c >= ' ' && c <= '~';
}

static inline bool ascii_is_text(char c)
{
	return ascii_is_print(c) || c == '\n' || c == '\t';
}

/* Length of the text that the bytes begin with, if a NUL ends it; 0: there is none. */
static inline size_t ascii_text_length(const char *bytes, size_t size)
{
	size_t length = 0;
	while (length < size && ascii_is_text(bytes[length]))
		length++;
	return length < size && !bytes[length] ? length : 0;
}

#endif
