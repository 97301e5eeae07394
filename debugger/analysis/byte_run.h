/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that was filled with one byte: what was written over, and from where on. */
#ifndef DEBUGGER_ANALYSIS_BYTE_RUN_H
#define DEBUGGER_ANALYSIS_BYTE_RUN_H

#include "debugger/target/target.h"

struct byte_run {
	uint64_t start, size; /* bytes; 0: there is none */
	uint8_t byte;
};

/*
 * The run of equal bytes that the word at `place` is a part of, of up to 64 KiB to each side. None:
 * the word is no such, is all zeros or ones, which are values, or cannot be read.
 */
void byte_run_find(struct memory *memory, uint64_t place, struct byte_run *ret);

#endif
