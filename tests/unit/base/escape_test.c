// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What the sinks write of foreign bytes is read back: by a decoder that knows README's rule, of
 * JSON and CSV behind a reader of that format.
 */
#include "base/array.h"
#include "base/escape.h"
#include "base/out_sink.h"
#include "tests/unit/chance.h"
#include "tests/unit/test.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 4096

struct bytes {
	char data[SIZE];
	size_t size;
};

static void put_byte(struct bytes *bytes, int byte)
{
	if (bytes->size < SIZE - 1)
		bytes->data[bytes->size++] = (char)byte;
	bytes->data[bytes->size] = 0;
}

static void put_code(struct bytes *bytes, uint32_t code)
{
	if (code < 0x80) {
		put_byte(bytes, (int)code);
		return;
	}
	int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
	put_byte(bytes, (int)((0xff00 >> (more + 1) & 0xff) | code >> 6 * more));
	while (more--)
		put_byte(bytes, (int)(0x80 | (code >> 6 * more & 0x3f)));
}

/* What an escape at `text` stands for; returns its length, 0: it is none. */
static size_t decode_escape(const char *text, struct bytes *ret)
{
	unsigned int code;
	int length = 0;
	if (text[1] == '\\' || text[1] == 'n' || text[1] == 't') {
		put_byte(ret, text[1] == 'n' ? '\n' : text[1] == 't' ? '\t' : '\\');
		return 2;
	}
	if (text[1] == 'x' && isxdigit((unsigned char)text[2]) &&
	    isxdigit((unsigned char)text[3]) && sscanf(text + 2, "%2x%n", &code, &length) == 1) {
		put_byte(ret, (int)code);
		return 2 + (size_t)length;
	}
	if (text[1] == 'u' && text[2] == '{' && sscanf(text + 3, "%x%n", &code, &length) == 1 &&
	    text[3 + length] == '}') {
		put_code(ret, code);
		return 4 + (size_t)length;
	}
	return 0;
}

/* README's rule, backward. */
static void decode(const struct bytes *from, struct bytes *ret)
{
	*ret = (struct bytes){ .size = 0 };
	for (size_t i = 0; i < from->size;) {
		size_t length = from->data[i] == '\\' ? decode_escape(from->data + i, ret) : 0;
		if (!length)
			put_byte(ret, from->data[i]);
		i += length ? length : 1;
	}
}

/* --- formats ------------------------------------------------------------------------------- */

/* The one string of a JSON text, as a JSON parser gives it; surrogates never come alone here. */
static void read_json(const struct bytes *from, struct bytes *ret)
{
	*ret = (struct bytes){ .size = 0 };
	for (size_t i = 1; i + 1 < from->size; i++) {
		unsigned int code, low;
		if (from->data[i] != '\\') {
			put_byte(ret, from->data[i]);
			continue;
		}
		char escape = from->data[++i];
		if (escape != 'u') {
			put_byte(ret, escape == 'n' ? '\n' : escape == 't' ? '\t' : escape);
			continue;
		}
		CHECK(sscanf(from->data + i + 1, "%4x", &code) == 1);
		i += 4;
		if (code >> 10 == 0xd800 >> 10) {
			CHECK(sscanf(from->data + i + 3, "%4x", &low) == 1);
			code = 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
			i += 6;
		}
		put_code(ret, code);
	}
}

/* The one cell of a table of CSV, below its heading. */
static void read_csv(const struct bytes *from, struct bytes *ret)
{
	*ret = (struct bytes){ .size = 0 };
	const char *at = strchr(from->data, '\n') + 1;
	const char *end = from->data + from->size - 1;
	bool in_quotes = at < end && *at == '"';
	end -= in_quotes;
	at += in_quotes;
	at += *at == '\'';
	for (; at < end; at++) {
		put_byte(ret, *at);
		at += in_quotes && *at == '"';
	}
}

/* --- writing ------------------------------------------------------------------------------- */

static struct out *make_text(FILE *file)
{
	return out_text_create(file);
}

static struct out *make_json(FILE *file)
{
	return out_json_create(file);
}

static struct out *make_csv(FILE *file)
{
	return out_rows_create(out_csv_create(file), NULL, NULL);
}

static struct out *make_text_rows(FILE *file)
{
	return out_rows_create(out_text_create(file), NULL, NULL);
}

static void write_to(struct out *(*make)(FILE *file), void (*write)(struct out *, const void *),
		     const void *context, struct bytes *ret)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);
	struct out *out = make(file);
	write(out, context);
	out_finish(out);
	CHECK(!out_failed(out));
	out_destroy(out);
	fclose(file);
	*ret = (struct bytes){ .size = 0 };
	for (size_t i = 0; i < size; i++)
		put_byte(ret, text[i]);
	free(text);
}

static void write_string(struct out *out, const void *context)
{
	const struct bytes *bytes = context;
	out_string_bytes(out, NULL, bytes->data, bytes->size);
}

static struct bytes bytes_of(const char *text)
{
	struct bytes bytes = { .size = 0 };
	while (*text)
		put_byte(&bytes, *text++);
	return bytes;
}

static bool are_equal(const struct bytes *a, const struct bytes *b)
{
	return a->size == b->size && !memcmp(a->data, b->data, a->size);
}

#define CHECK_SHOWN(make, text, wanted)                                                            \
	do {                                                                                       \
		struct bytes raw_ = bytes_of(text), shown_;                                        \
		write_to(make, write_string, &raw_, &shown_);                                      \
		CHECK_STRING(shown_.data, wanted);                                                 \
	} while (0)

/* --- tests --------------------------------------------------------------------------------- */

static void test_looks(void)
{
	CHECK_SHOWN(make_text, "\x9b", "\\x9b");
	CHECK_SHOWN(make_text, "\\x9b", "\\\\x9b");
	CHECK_SHOWN(make_text, "\\\\x9b", "\\\\\\\\x9b");
	CHECK_SHOWN(make_text, "\\\x9b", "\\\\\\x9b");
	CHECK_SHOWN(make_text, "\\n\n\\t\t", "\\\\n\\n\\\\t\\t");
	CHECK_SHOWN(make_text, "\\u{200b}\u200b", "\\\\u{200b}\\u{200b}");
	CHECK_SHOWN(make_text, "DOMAIN\\user \\u \\q \\", "DOMAIN\\user \\u \\q \\");
	CHECK_SHOWN(make_json, "\x9b", "\"\\\\x9b\"");
	CHECK_SHOWN(make_json, "\\x9b", "\"\\\\\\\\x9b\"");
	CHECK_SHOWN(make_json, "DOMAIN\\user", "\"DOMAIN\\\\user\"");
	CHECK_SHOWN(make_csv, "\x9b", "value\n\\x9b\n");
	CHECK_SHOWN(make_csv, "\\x9b", "value\n\\\\x9b\n");
	CHECK_SHOWN(make_csv, "\\x9b,\\", "value\n\"\\\\x9b,\\\"\n");
}

static const struct form {
	struct out *(*make)(FILE *file);
	void (*read)(const struct bytes *from, struct bytes *ret);
} forms[] = { { make_text, NULL }, { make_json, read_json }, { make_csv, read_csv } };

/* Whether a form's reader gets back what was written; columns stand where a text ends. */
static bool comes_back(const struct form *form, const struct bytes *raw)
{
	struct bytes shown, read, back;
	size_t places = 0;
	write_to(form->make, write_string, raw, &shown);
	if (form->read)
		form->read(&shown, &read);
	decode(form->read ? &read : &shown, &back);
	for (size_t i = 0; i < shown.size; i++)
		places += (shown.data[i] & 0xc0) != 0x80;
	return are_equal(&back, raw) &&
	       (form->read || (size_t)out_width(raw->data, raw->size, false) == places);
}

/* All texts of three of the pieces that escapes are made of, and many longer ones. */
static void test_decodable(void)
{
	static const char *const pieces[] = { "\\",   "x",	"9",	      "b",    "n",    "t",
					      "u",    "{",	"}",	      "\x9b", "\n",   "\t",
					      "\x1b", "\u200b", "\U000e0041", "\xf0", "\x9f", "\"",
					      ",",    " ",	"'",	      "0" };
	uint64_t state = 13, base = ARRAY_COUNT(pieces), short_ones = base * base * base;
	for (uint64_t n = 0; n < short_ones + 20000; n++) {
		struct bytes raw = { .size = 0 };
		uint64_t length = n < short_ones ? 3 : next_random(&state) % 20, digits = n;
		for (uint64_t i = 0; i < length; i++, digits /= base) {
			uint64_t which = n < short_ones ? digits : next_random(&state);
			for (const char *at = pieces[which % base]; *at; at++)
				put_byte(&raw, *at);
		}
		for (size_t i = 0; i < ARRAY_COUNT(forms); i++) {
			if (comes_back(&forms[i], &raw))
				continue;
			CHECK_STRING(raw.data, "read back");
			return;
		}
	}
}

/* Texts in C's quotes have their backslashes doubled, and get no more of them. */
static void write_quoted(struct out *out, const void *context)
{
	(void)context;
	out_object_begin(out, NULL);
	out_quoted(out, OUT_QUOTED_TEXT);
	out_string_as(out, "text", "\\x9b", "\"\\\\x9b\"");
	out_quoted(out, OUT_QUOTED);
	out_string(out, "both", "\\x9b");
	out_text(out, "|%s|", "\\x9b\x9b");
	out_quoted(out, OUT_RAW);
	out_string(out, "raw", "\\x9b");
	out_object_end(out);
}

static void test_quoted(void)
{
	struct bytes shown;
	write_to(make_text, write_quoted, NULL, &shown);
	CHECK_STRING(shown.data, "\"\\\\x9b\"\\x9b|\\x9b\\x9b|\\\\x9b");
	write_to(make_json, write_quoted, NULL, &shown);
	CHECK_STRING(shown.data, "{\"text\": \"\\\\\\\\x9b\", \"both\": \"\\\\x9b\", "
				 "\"raw\": \"\\\\\\\\x9b\"}");
	write_to(make_csv, write_quoted, NULL, &shown);
	CHECK_STRING(shown.data, "text,both,raw\n\\\\x9b,\\x9b,\\\\x9b\n");
	write_to(make_text_rows, write_quoted, NULL, &shown);
	CHECK_STRING(shown.data, "text    both raw\n\"\\\\x9b\" \\x9b \\\\x9b\n");
}

/* Values of one name share a cell, whatever is escaped of each. */
static void write_joined(struct out *out, const void *context)
{
	bool first = *(const bool *)context;
	out_object_begin(out, NULL);
	out_array_begin(out, "cell");
	for (int i = 0; i < 2; i++) {
		out_quoted(out, first == !i ? OUT_QUOTED : OUT_RAW);
		out_string(out, NULL, first == !i ? "\\n" : "\\t\\q\t");
	}
	out_quoted(out, OUT_RAW);
	out_array_end(out);
	out_object_end(out);
}

static void test_joined(void)
{
	struct bytes shown;
	write_to(make_csv, write_joined, &(bool){ true }, &shown);
	CHECK_STRING(shown.data, "cell\n\\n \\\\t\\q\\t\n");
	write_to(make_csv, write_joined, &(bool){ false }, &shown);
	CHECK_STRING(shown.data, "cell\n\\\\t\\q\\t \\n\n");
	write_to(make_text_rows, write_joined, &(bool){ true }, &shown);
	CHECK_STRING(shown.data, "cell\n\\n \\\\t\\q\\t\n");
}

/* Lines made elsewhere: newlines and tabs are theirs. */
static void write_lines(struct out *out, const void *context)
{
	const char *text = context;
	out_lines(out, text, strlen(text));
}

static void test_lines(void)
{
	struct bytes shown;
	write_to(make_text, write_lines, "a\n\tb\\n\\q\n\\x1b\x1b\n", &shown);
	CHECK_STRING(shown.data, "a\n\tb\\\\n\\q\n\\\\x1b\\x1b\n");
}

int main(void)
{
	RUN(test_looks);
	RUN(test_decodable);
	RUN(test_quoted);
	RUN(test_joined);
	RUN(test_lines);
	return test_finish();
}
