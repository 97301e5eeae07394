/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What may reach a terminal of the bytes that another process wrote: characters that can be shown
 * (base/escape.h), newlines, tabs and the sequences of our colours (base/styles.h), to the byte.
 * All else is shown escaped, so it does nothing: "\x1b", "\u{202e}". What goes through does not
 * depend on how the bytes are cut into parts.
 */
#ifndef BASE_TERMINAL_FILTER_H
#define BASE_TERMINAL_FILTER_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the longest sequence of a colour, or character. */
#define TERMINAL_FILTER_LONGEST 5
/* Bytes that so many can become, with those held from before and the end. */
#define TERMINAL_FILTER_ROOM(size) (4 * ((size) + TERMINAL_FILTER_LONGEST) + 8)

/* All zeros is one that has seen nothing. */
struct terminal_filter {
	char held[TERMINAL_FILTER_LONGEST]; /* the beginning of what may come whole */
	size_t held_size;
	bool is_styled; /* a colour is on */
};

/* Writes what of the bytes may be seen to `ret` of TERMINAL_FILTER_ROOM(size); how many that is. */
size_t terminal_filter_pass(struct terminal_filter *filter, const char *bytes, size_t size,
			    char *ret);
/*
 * The same at a place where others write to the terminal: what is held is no beginning any more,
 * and a colour ends. `ret` has TERMINAL_FILTER_ROOM(0).
 */
size_t terminal_filter_end(struct terminal_filter *filter, char *ret);

#endif
