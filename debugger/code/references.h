/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Places in code that may refer to an address, found without decoding: a 32-bit displacement from
 * the end of its instruction, which is 0, 1, 2 or 4 bytes further, or a 32-bit immediate that is
 * sign-extended. What is found must be confirmed by decoding; what is not found is not there.
 */
#ifndef DEBUGGER_CODE_REFERENCES_H
#define DEBUGGER_CODE_REFERENCES_H

#include <stddef.h>
#include <stdint.h>

#define REFERENCE_SIZE 4

struct reference_scan {
	uint64_t first, size; /* addresses looked for: [first, first + size) */
	void *context;
	void (*visit)(void *context, uint64_t address);
};

/*
 * Calls `visit` with the address of each place among `count` bytes that lie at `address`. The last
 * REFERENCE_SIZE - 1 of them are the ends of places only: chunks of text overlap by so many.
 */
void references_find(const struct reference_scan *scan, const uint8_t *bytes, size_t count,
		     uint64_t address);

#endif
