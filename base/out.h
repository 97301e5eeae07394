/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Output sinks. A command says *what* it found, once, as named fields in objects, arrays
 * and tables; the sink decides *how* it looks: text for people, JSON for programs.
 *
 * - Fields (out_u64, out_string, ...) appear in both. In text a field is just its
 *   value; what stands between the values is out_text(), which JSON leaves out.
 * - A field whose text and data differ has an `_as` form; an empty text shows the field in
 *   JSON only.
 * - The sink escapes: no control character and no invalid UTF-8 that came from a dump gets
 *   through, except the \n and \t of the *format* of out_text().
 * - `key` is NULL inside arrays.
 *
 * Write errors (a closed pipe, a full disk) are remembered: out_failed(). Colours come after the
 * escaping, and only from the sink.
 */
#ifndef BASE_OUT_H
#define BASE_OUT_H

#include "base/budget.h"
#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct out;

struct column {
	const char *key;   /* name in JSON */
	const char *title; /* heading in text; NULL: the column is in JSON only */
	int width;	   /* at least so many places; negative: left-aligned */
};

/* A sink writes to `file` (borrowed). All return NULL without memory. */
struct out *out_text_create(FILE *file);
/* The same in colours (SGR): headings bold, addresses dim, what is missing red, guesses yellow. */
struct out *out_color_create(FILE *file);
struct out *out_json_create(FILE *file);
/*
 * For readers that keep integers of 64 bits: all integers are numbers, and of the strings only an
 * address looks like one ("0x1f"): the 0 of another one is the escape \x30.
 */
struct out *out_json_exact_create(FILE *file);
/* Tables only, as RFC 4180 has them but for a plain newline; behind out_rows_create(). */
struct out *out_csv_create(FILE *file);
/* Writes nothing, keeps what out_item() names, out of a budget (borrowed; NULL: without end). */
struct out *out_items_create(struct budget *budget);
/*
 * Makes one table of what is written, for `inner` (taken): the rows of tables, the objects of
 * arrays; nested members get names with dots, several values of one name stand in one cell.
 * `columns` "pid,comm" (borrowed) chooses and orders them, NULL: all. The table is written by
 * out_finish(); until then rows are kept out of `budget` (borrowed; NULL: without end).
 */
struct out *out_rows_create(struct out *inner, const char *columns, struct budget *budget);
/* After out_finish(): ERROR_USAGE when a chosen column does not exist. */
struct error *out_rows_check(const struct out *out) MUST_CHECK;
void out_destroy(struct out *out);
bool out_failed(const struct out *out);
/*
 * Of a sink that keeps what it gets: ERROR_BOUND or no memory, when that was too much and more need
 * not come; rows that were whole are written all the same.
 */
struct error *out_check(const struct out *out) MUST_CHECK;
/* Closes whatever an error left open, so that the result is whole again. */
void out_finish(struct out *out);
/* Whether the sink makes one table of all: what is nested is then better given as rows. */
bool out_is_rows(const struct out *out);
/*
 * Of such a sink, where no row is open: what is written between these is no row of its own, but
 * begins every row behind it, up to the next of these. 16 cells at most.
 */
void out_rows_repeat_begin(struct out *out);
void out_rows_repeat_end(struct out *out);
/* How many objects, arrays and rows are open; closes those deeper than `depth`. */
size_t out_depth(const struct out *out);
void out_finish_to(struct out *out, size_t depth);

/*
 * "This row or value is about the object at this address, of this C type": what an address pipe
 * hands to the next command. Other sinks take no notice. The type is a word of the program's own
 * ("struct task_struct"), which is parsed as C, or what finds one that the dump has: names in a
 * dump are an attacker's and are never parsed.
 */
struct out_item {
	uint64_t address;
	const char *type_name; /* a literal; NULL: none */
	const void *btf;       /* where `type_id` is, not known here; NULL: none */
	uint32_t type_id;
};
bool out_takes_items(const struct out *out);
void out_item(struct out *out, const struct out_item *item);
/* `type_name`: a literal, or NULL. */
void out_item_named(struct out *out, uint64_t address, const char *type_name);
/* What a sink of out_items_create() holds, in order. Borrowed. */
size_t out_items(const struct out *out, const struct out_item **ret);
/* Something was written to it, but nothing that is about an object. */
bool out_items_lack(const struct out *out);

/*
 * The next value without a key gets this one, for what is written by code that does not know that
 * it stands in an object; NULL: it does not after all. `key` is a literal.
 */
void out_next_key(struct out *out, const char *key);

enum out_style { OUT_PLAIN, OUT_HEADING, OUT_ADDRESS, OUT_GUESS, OUT_ERROR };
/* How what follows looks where there are colours, until OUT_PLAIN or the end of a row. */
void out_style(struct out *out, enum out_style style);

void out_object_begin(struct out *out, const char *key);
void out_object_end(struct out *out);
void out_array_begin(struct out *out, const char *key);
void out_array_end(struct out *out);

/*
 * Whose backslashes are escapes already and stay as they are, until OUT_RAW: the texts of fields
 * and the arguments of out_text(), as with C's strings in quotes, or the fields' data, too.
 */
enum out_quoted { OUT_RAW, OUT_QUOTED_TEXT, OUT_QUOTED };
void out_quoted(struct out *out, enum out_quoted quoted);

/* For people only. Arguments are escaped, the format's own \n and \t are not. */
void out_text(struct out *out, const char *format, ...) PRINTF_LIKE(2, 3);
/* For people only: lines made elsewhere. Newlines and tabs stay, other controls are escaped. */
void out_lines(struct out *out, const char *text, size_t size);
/* Whether the sink is for people: then fields with an empty text need not be made. */
bool out_is_text(const struct out *out);
/* So many places a line of text has; 0, as at first: it has no end. */
void out_set_width(struct out *out, int width);
/*
 * For people only: blanks before what takes `width` places; where the line has not so many left, a
 * new line, indented by `indent`.
 */
void out_space(struct out *out, int blanks, int width, int indent);
/* Pads the next field in text, as printf's width does (negative: left-aligned). */
void out_pad(struct out *out, int width);

void out_string(struct out *out, const char *key, const char *value);
/* `size` bytes that may hold anything, NULs too. */
void out_string_bytes(struct out *out, const char *key, const char *value, size_t size);
void out_u64(struct out *out, const char *key, uint64_t value);
void out_i64(struct out *out, const char *key, int64_t value);
void out_double(struct out *out, const char *key, double value);
void out_bool(struct out *out, const char *key, bool value);
/* Text: 16 hexadecimal digits without 0x, as crash does; JSON: "0x..." string. */
void out_address(struct out *out, const char *key, uint64_t value);
void out_null_as(struct out *out, const char *key, const char *text);
void out_u64_as(struct out *out, const char *key, uint64_t value, const char *text);
/* A NULL text is all that JSON has. */
void out_double_as(struct out *out, const char *key, double value, const char *text);
void out_i64_as(struct out *out, const char *key, int64_t value, const char *text);
void out_bool_as(struct out *out, const char *key, bool value, const char *text);
void out_string_as(struct out *out, const char *key, const char *value, const char *text);
/*
 * An integer of a type of the kernel's, or one of ours that may need more than 53 bits: jq and
 * JavaScript round from there on. In JSON those of a type of more than 32 bits are strings of
 * decimal digits, whatever their value; others are numbers. A NULL text is the digits.
 */
struct out_integer {
	uint64_t value;
	uint32_t bits; /* of the type */
	bool is_signed;
};
void out_integer_as(struct out *out, const char *key, const struct out_integer *integer,
		    const char *text);
/* The same of more than 64 bits, by its decimal digits. */
void out_digits_as(struct out *out, const char *key, const char *digits, const char *text);
/* out_integer_as() of 64 bits without a sign. */
void out_wide(struct out *out, const char *key, uint64_t value);
void out_wide_as(struct out *out, const char *key, uint64_t value, const char *text);
/* JSON "0x..." string, any text. */
void out_address_as(struct out *out, const char *key, uint64_t value, const char *text);
/* What could not be read: text "<excluded>", JSON {"error": "message"}. Borrows `error`. */
void out_missing(struct out *out, const char *key, const struct error *error);
/* How often that was said until now. */
size_t out_missing_count(const struct out *out);

/*
 * A line of free text: its own line in text, a string in an array in JSON. For commands
 * whose result is lines: out_array_begin(), out_line()..., out_array_end().
 */
void out_line(struct out *out, const char *format, ...) PRINTF_LIKE(2, 3);

/*
 * A table: an array of objects keyed by column in JSON, aligned columns with a heading in
 * text. In a row, fields are given in the order of the columns (their key argument must equal
 * the column's); text pads each by its column and puts one space between.
 */
void out_table_begin(struct out *out, const char *key, const struct column *columns, size_t count);
void out_row_begin(struct out *out);
void out_row_end(struct out *out);
void out_table_end(struct out *out);

/* Escapes for a terminal into `file`, as base/escape.h has it. */
void out_escape(FILE *file, const char *text, size_t size);

#endif
