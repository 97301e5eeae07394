// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/escape.h"

#include "base/array.h"
#include <stdio.h>
#include <string.h>

static const uint32_t bounds[] = {
#include "base/escape_table.h"
};

/* In the table's ranges; what lies beyond its last bound is in none. */
static bool is_escaped_code(uint32_t code)
{
	return array_bound(ARRAY_COUNT(bounds), i, bounds[i] <= code) % 2;
}

size_t escape_decode(const char *text, size_t size, uint32_t *ret)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *at = (const unsigned char *)text;
	size_t length = at[0] < 0x80			? 1
			: at[0] >= 0xf0 && at[0] < 0xf5 ? 4
			: at[0] >= 0xe0 && at[0] < 0xf0 ? 3
			: at[0] >= 0xc2 && at[0] < 0xe0 ? 2
							: 0;
	if (!length || length > size)
		return 0;
	uint32_t code = length == 1 ? at[0] : at[0] & (0xff >> (length + 1));
	for (size_t i = 1; i < length; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3f);
	}
	if (code < smallest[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	*ret = code;
	return length;
}

size_t escape_printable(const char *text, size_t size)
{
	uint32_t code;
	size_t length = escape_decode(text, size, &code);
	if (length == 1)
		return code >= 0x20 && code != 0x7f;
	return length && !is_escaped_code(code) ? length : 0;
}

bool escape_is_ambiguous(const char *text, size_t size)
{
	if (size < 2)
		return false;
	return strchr("ntx\\", text[1]) || (text[1] == 'u' && size > 2 && text[2] == '{') ||
	       !escape_printable(text + 1, size - 1);
}

size_t escape_next(const char *text, size_t size, bool is_quoted, char ret[ESCAPE_SIZE])
{
	uint32_t code;
	size_t length = escape_printable(text, size);
	*ret = 0;
	if (*text == '\\' && !is_quoted && escape_is_ambiguous(text, size))
		strcpy(ret, "\\\\");
	if (length)
		return length;
	length = escape_decode(text, size, &code);
	if (*text == '\n' || *text == '\t')
		snprintf(ret, ESCAPE_SIZE, "\\%c", *text == '\n' ? 'n' : 't');
	else if (length > 1)
		snprintf(ret, ESCAPE_SIZE, "\\u{%x}", code);
	else
		snprintf(ret, ESCAPE_SIZE, "\\x%02x", (unsigned char)*text);
	return length ? length : 1;
}
