// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The sink for programs: one line of JSON (RFC 8259). JSON has escapes for all characters. For
 * bytes that are none it has not: a string's value, as a JSON parser gives it, is their text \x9b
 * and has the backslashes doubled that base/escape.h says, so that the text and the byte differ.
 */
#include "base/escape.h"
#include "base/out_sink.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Deeper than any value is rendered; what is nested deeper is written all the same. */
#define DEPTH_MAX 256

struct out_json {
	struct out out;
	bool exact; /* out_json_exact_create() */
	bool comma; /* a value was written at this level */
	size_t depth;
	bool is_array[DEPTH_MAX]; /* what out_finish() has to close */
};

static struct out_json *json_of(struct out *out)
{
	return (struct out_json *)out;
}

/* What is not printable UTF-8: JSON escapes for characters, the text \xNN for stray bytes. Returns
 * how many bytes that were. */
static size_t json_odd(FILE *file, const char *text, size_t size)
{
	unsigned char byte = (unsigned char)*text;
	uint32_t code;
	size_t length = escape_decode(text, size, &code);
	if (byte == '\n')
		fputs("\\n", file);
	else if (byte == '\t')
		fputs("\\t", file);
	else if (length && code > 0xffff)
		fprintf(file, "\\u%04x\\u%04x", 0xd7c0 + (code >> 10), 0xdc00 | (code & 0x3ff));
	else if (length)
		fprintf(file, "\\u%04x", code);
	else
		fprintf(file, "\\\\x%02x", byte);
	return length ? length : 1;
}

static void json_string(FILE *file, const char *text, size_t size, bool is_quoted)
{
	putc('"', file);
	size_t start = 0;
	for (size_t i = 0; i < size;) {
		bool special = text[i] == '"' || text[i] == '\\';
		size_t length = special ? 0 : out_printable(text + i, size - i);
		if (length) {
			i += length;
			continue;
		}
		fwrite(text + start, 1, i - start, file);
		bool is_double = text[i] == '\\' && !is_quoted &&
				 escape_is_ambiguous(text + i, size - i);
		if (special)
			fprintf(file, is_double ? "\\\\\\%c" : "\\%c", text[i]);
		else
			i += json_odd(file, text + i, size - i) - 1;
		start = ++i;
	}
	fwrite(text + start, 1, size - start, file);
	putc('"', file);
}

static void json_key(struct out *out, const char *key)
{
	if (json_of(out)->comma)
		fputs(", ", out->file);
	json_of(out)->comma = true;
	if (!key)
		key = out->next_key;
	out->next_key = NULL;
	if (!key)
		return;
	json_string(out->file, key, strlen(key), false);
	fputs(": ", out->file);
}

static void json_begin(struct out *out, const char *key, bool is_array)
{
	json_key(out, key);
	putc(is_array ? '[' : '{', out->file);
	struct out_json *json = json_of(out);
	json->comma = false;
	if (json->depth < DEPTH_MAX)
		json->is_array[json->depth] = is_array;
	json->depth++;
}

static void json_end(struct out *out, bool is_array)
{
	putc(is_array ? ']' : '}', out->file);
	json_of(out)->comma = true;
	json_of(out)->depth--;
}

static bool looks_like_address(const char *text, size_t size)
{
	size_t i = 2;
	if (size < 3 || text[0] != '0' || text[1] != 'x')
		return false;
	while (i < size && isxdigit((unsigned char)text[i]))
		i++;
	return i == size;
}

static void json_field(struct out *out, const struct out_field *field)
{
	json_key(out, field->key);
	if (json_of(out)->exact && field->is_string && !field->is_address &&
	    looks_like_address(field->data, field->data_size))
		fprintf(out->file, "\"\\\\x30%.*s\"", (int)field->data_size - 1, field->data + 1);
	else if (field->is_string || (field->is_wide && !json_of(out)->exact))
		json_string(out->file, field->data, field->data_size, field->data_quoted);
	else
		fwrite(field->data, 1, field->data_size, out->file);
}

static void json_line(struct out *out, const char *text, size_t size)
{
	json_key(out, NULL);
	json_string(out->file, text, size, false);
}

static void json_missing(struct out *out, const char *key, const struct error *error)
{
	json_begin(out, key, false);
	json_key(out, "error");
	json_string(out->file, error->message, strlen(error->message), false);
	json_end(out, false);
}

static void json_table_begin(struct out *out, const char *key, const struct column *columns,
			     size_t count)
{
	(void)columns, (void)count;
	json_begin(out, key, true);
}

static void json_row_begin(struct out *out)
{
	json_begin(out, NULL, false);
}

static void json_row_end(struct out *out)
{
	json_end(out, false);
}

static void json_table_end(struct out *out)
{
	json_end(out, true);
}

static void json_finish(struct out *out, size_t depth)
{
	struct out_json *json = json_of(out);
	while (json->depth > depth)
		json_end(out, json->depth <= DEPTH_MAX && json->is_array[json->depth - 1]);
	if (!depth)
		json->comma = false;
}

static const struct out_ops json_ops = {
	.begin = json_begin,
	.end = json_end,
	.field = json_field,
	.line = json_line,
	.missing = json_missing,
	.table_begin = json_table_begin,
	.row_begin = json_row_begin,
	.row_end = json_row_end,
	.table_end = json_table_end,
	.finish = json_finish,
};

struct out *out_json_create(FILE *file)
{
	struct out_json *json = calloc(1, sizeof(*json));
	if (!json)
		return NULL;
	json->out = (struct out){ .ops = &json_ops, .file = file };
	return &json->out;
}

struct out *out_json_exact_create(FILE *file)
{
	struct out *out = out_json_create(file);
	if (out)
		json_of(out)->exact = true;
	return out;
}
