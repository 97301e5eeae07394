/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between base/out.c and the sinks: what a sink has to bring. To add one: out_NAME.c and a
 * constructor in out.h. */
#ifndef BASE_OUT_SINK_H
#define BASE_OUT_SINK_H

#include "base/out.h"

/* One field: its data and its text, both raw bytes that the sink escapes its own way. */
struct out_field {
	const char *key; /* NULL inside arrays */
	bool is_string;	 /* else `data` is a JSON literal: number, true, false, null */
	const char *data;
	size_t data_size;
	const char *text;
	size_t text_size;
	bool is_address;
	bool is_wide; /* a number of a type that JSON's readers may round */
	/* Their backslashes are escapes already. */
	bool data_quoted, text_quoted;
};

/* Those that a sink does not care for are NULL: text, pad, space, item, style, destroy. */
struct out_ops {
	void (*begin)(struct out *out, const char *key, bool is_array);
	void (*end)(struct out *out, bool is_array);
	void (*field)(struct out *out, const struct out_field *field);
	/* `is_literal`: the program's own words, newlines and tabs stay. */
	void (*text)(struct out *out, const char *text, size_t size, bool is_literal);
	void (*pad)(struct out *out, int width);
	void (*space)(struct out *out, int blanks, int width, int indent);
	void (*line)(struct out *out, const char *text, size_t size);
	void (*missing)(struct out *out, const char *key, const struct error *error);
	void (*table_begin)(struct out *out, const char *key, const struct column *columns,
			    size_t count);
	void (*row_begin)(struct out *out);
	void (*row_end)(struct out *out);
	void (*table_end)(struct out *out);
	/* Closes what is deeper than `depth`. */
	void (*finish)(struct out *out, size_t depth);
	void (*item)(struct out *out, const struct out_item *item);
	void (*style)(struct out *out, enum out_style style);
	/* Of what the sink holds; not the sink itself. */
	void (*destroy)(struct out *out);
};

struct out {
	const struct out_ops *ops;
	FILE *file;	       /* NULL: the sink keeps what it gets */
	size_t depth;	       /* objects, arrays, tables and rows that are open; kept by out.c */
	bool failed;	       /* out of memory, or of budget */
	struct budget *budget; /* for what it keeps; borrowed, NULL: without end */
	struct error *bound;   /* why no more is kept; NULL: all is */
	size_t missing_count;
	enum out_quoted quoted;
	int width;	      /* places of a line of text, 0: any number */
	const char *next_key; /* of the next value that has none; NULL */
};

/*
 * Length of the valid, printable UTF-8 character at `text` (1 to 4); 0 when the byte must be
 * escaped: controls (C0, DEL, C1), bidirectional overrides, anything malformed.
 */
size_t out_printable(const char *text, size_t size);

/* budget_reserve(): false when there is no room, and then never again. */
bool out_reserve_bytes(struct out *out, void **items, size_t *capacity, size_t count, size_t size);
#define out_reserve(out, items, capacity, count)                                                   \
	out_reserve_bytes((out), (void **)(items), (capacity), (count), sizeof(**(items)))

/* Places a text takes on the terminal: characters, or the length of their escapes. */
int out_width(const char *text, size_t size, bool is_quoted);

/* out_escape(), of a text whose backslashes may be escapes already. */
void out_escape_rest(FILE *file, const char *text, size_t size, bool is_quoted);

/* Length of the plain ASCII at the start of `text`, up to a backslash: the way most of the text
 * goes, quickly. */
static inline size_t out_plain(const char *text, size_t size)
{
	size_t length = 0;
	while (length < size && (unsigned char)(text[length] - 0x20) < 0x5f && text[length] != '\\')
		length++;
	return length;
}

#endif
