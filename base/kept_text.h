/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is written to a stream, kept in memory out of a budget: open_memstream() with an end. */
#ifndef BASE_KEPT_TEXT_H
#define BASE_KEPT_TEXT_H

#include "base/budget.h"
#include <stdio.h>

struct kept_text {
	char *text; /* `size` bytes; not terminated, NULL while there are none */
	size_t size, capacity;
	size_t limit; /* of bytes; what comes behind them is lost */
	struct budget *budget;
	struct error *error; /* why it is not all: ERROR_BOUND, no memory; NULL: it is */
};

/*
 * Keeps so many bytes at most, out of a budget (borrowed; NULL: without end). A stream to write to,
 * which the caller closes before it looks; NULL without memory. `text` must stay where it is.
 */
FILE *kept_text_open(struct kept_text *text, struct budget *budget, uint64_t limit);
void kept_text_deinit(struct kept_text *text);

#endif
