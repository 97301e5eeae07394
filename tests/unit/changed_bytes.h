/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Damage for tests: every byte of some memory in turn is 0, the largest signed and the largest
 * unsigned number; then it is what it was.
 *
 *	struct changed_bytes change = { .bytes = data, .size = sizeof(data) };
 *	while (changed_bytes_next(&change))
 *		CHECK(...);
 */
#ifndef TESTS_UNIT_CHANGED_BYTES_H
#define TESTS_UNIT_CHANGED_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct changed_bytes {
	void *bytes;
	size_t size;
	size_t at;	     /* which is changed now */
	unsigned int number; /* of the value that comes next */
	uint8_t was;
};

/* False: all had their turn, and all is as before. */
static inline bool changed_bytes_next(struct changed_bytes *change)
{
	static const uint8_t values[] = { 0, 0x7f, 0xff };
	uint8_t *bytes = change->bytes;
	if (change->number == sizeof(values)) {
		bytes[change->at++] = change->was;
		change->number = 0;
	}
	if (change->at == change->size)
		return false;
	if (!change->number)
		change->was = bytes[change->at];
	bytes[change->at] = values[change->number++];
	return true;
}

#endif
