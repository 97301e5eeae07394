/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that was filled with one byte, or with text: what was written over, and from where on. */
#ifndef DEBUGGER_ANALYSIS_BYTE_RUN_H
#define DEBUGGER_ANALYSIS_BYTE_RUN_H

#include "debugger/target/target.h"

struct byte_run {
	uint64_t start, size; /* bytes; 0: there is none */
	uint8_t byte;	      /* of one byte over and over */
	char text[33];	      /* of text the start, printable ASCII; else "" */
};

/*
 * The run of equal bytes that the word at `place` is a part of, or of printable ASCII, of up to
 * 64 KiB to each side. None: the word is no such, is all zeros or ones, which are values, is all of
 * the text that there is, or cannot be read.
 */
void byte_run_find(struct memory *memory, uint64_t place, struct byte_run *ret);

/* "12 bytes from 0x... on are all 0x42", `"LABEL/LABEL/..." is the text of 80 bytes from ... on`.
 */
void byte_run_spell(const struct byte_run *run, char *buffer, size_t size);

#endif
