/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is shown of foreign text. A byte that is no UTF-8 and a control character are "\x9b", a
 * character that nobody would see or that moves others is "\u{200b}", newline and tab are "\n" and
 * "\t". A backslash is doubled where it could be taken for the beginning of one of these: before n,
 * t, x, u{, another backslash and what is itself escaped. Any other stays alone ("DOMAIN\user"). So
 * no two texts look the same: from left to right, "\\" is a backslash, what looks like an escape is
 * one, all else is itself.
 */
#ifndef BASE_ESCAPE_H
#define BASE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ESCAPE_SIZE 16

/*
 * Length of the valid UTF-8 character at `text` (1 to 4), and its code; 0 where there is none:
 * malformed, overlong, a surrogate, beyond Unicode, or cut off by the end.
 */
size_t escape_decode(const char *text, size_t size, uint32_t *ret);

/* Length of the character at `text` if it can be shown as it is; 0: it has to be escaped. */
size_t escape_printable(const char *text, size_t size);

/* Whether the backslash at `text` has to be doubled. */
bool escape_is_ambiguous(const char *text, size_t size);

/*
 * Writes what stands for the character or byte at `text` to `ret`: "" where that is itself. Returns
 * how many bytes that were. `is_quoted`: the text's backslashes are escapes already, and stay.
 */
size_t escape_next(const char *text, size_t size, bool is_quoted, char ret[ESCAPE_SIZE]);

#endif
