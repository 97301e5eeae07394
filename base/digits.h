/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers as text, for output full of them: a tenth of what snprintf() takes. And back. */
#ifndef BASE_DIGITS_H
#define BASE_DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of 64 bits, in any of these forms. */
#define DIGITS_SIZE 24

/* Each returns the length. "-1", "4096", "0xfff". */
size_t digits_u64(uint64_t value, char text[DIGITS_SIZE]);
size_t digits_i64(int64_t value, char text[DIGITS_SIZE]);
size_t digits_hex(uint64_t value, char text[DIGITS_SIZE]);

/*
 * The whole text as a number, "4096" or "0xfff": no sign, no blanks, and a zero in front makes
 * nothing octal. False: it is none, or needs more than 64 bits.
 */
bool digits_parse(const char *text, uint64_t *ret);
/*
 * The number that the text begins with; what stands behind it, or NULL: there is none, or it needs
 * more than 64 bits. `base`: 10, 16 (0x may stand in front), or 0: as C spells it.
 */
const char *digits_scan(const char *text, unsigned int base, uint64_t *ret);

#endif
