// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The sink for spreadsheets: tables as RFC 4180 has them, but with the newlines of this system,
 * which every reader takes. Cells hold data, not text: numbers in full, addresses with 0x.
 * Controls, malformed bytes and backslashes are escaped as in text.
 *
 * A spreadsheet takes a cell for a formula that begins with =, +, - or @, full-width ones too, and
 * runs it; quotes do not help. So a text that begins so gets a ' before it, and one that begins
 * with ' another, so that the one can be taken away again. Numbers are left as they are. (Tabs and
 * CRs, which are skipped before a formula, come escaped.)
 */
#include "base/out_sink.h"

#include "base/array.h"
#include <stdlib.h>
#include <string.h>

struct out_csv {
	struct out out;
	bool comma;
};

static struct out_csv *csv_of(struct out *out)
{
	return (struct out_csv *)out;
}

static bool is_formula(const char *text, size_t size)
{
	static const char *const starts[] = {
		"=",	       "+", "-", "@", "'", "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d",
		"\xef\xbc\xa0"
	};
	for (size_t i = 0; i < ARRAY_COUNT(starts); i++)
		if (size >= strlen(starts[i]) && !memcmp(text, starts[i], strlen(starts[i])))
			return true;
	return false;
}

/* Doubled quotes around what would else end the cell, or lose its blanks. */
static void write_cell(FILE *file, const char *text, size_t size, bool is_text, bool is_quoted)
{
	bool in_quotes = memchr(text, ',', size) || memchr(text, '"', size) ||
			 (size && (text[0] == ' ' || text[size - 1] == ' '));
	/* Blanks are skipped before a formula. */
	size_t blanks = 0;
	while (blanks < size && text[blanks] == ' ')
		blanks++;
	const char *mark = is_text && is_formula(text + blanks, size - blanks) ? "'" : "";
	if (!in_quotes) {
		fputs(mark, file);
		out_escape_rest(file, text, size, is_quoted);
		return;
	}
	putc('"', file);
	fputs(mark, file);
	for (const char *end = text + size; text < end;) {
		const char *quote = memchr(text, '"', (size_t)(end - text));
		const char *stop = quote ? quote : end;
		out_escape_rest(file, text, (size_t)(stop - text), is_quoted);
		if (quote)
			fputs("\"\"", file);
		text = stop + (quote != NULL);
	}
	putc('"', file);
}

static void csv_field(struct out *out, const struct out_field *field)
{
	bool is_null = !field->is_string && field->data_size == 4 &&
		       !memcmp(field->data, "null", 4);
	if (csv_of(out)->comma)
		putc(',', out->file);
	csv_of(out)->comma = true;
	write_cell(out->file, field->data, is_null ? 0 : field->data_size, field->is_string,
		   field->data_quoted);
}

static void csv_row_begin(struct out *out)
{
	csv_of(out)->comma = false;
}

static void csv_row_end(struct out *out)
{
	putc('\n', out->file);
}

static void csv_table_begin(struct out *out, const char *key, const struct column *columns,
			    size_t count)
{
	(void)key;
	for (size_t i = 0; i < count; i++) {
		if (i)
			putc(',', out->file);
		write_cell(out->file, columns[i].key, strlen(columns[i].key), true, false);
	}
	putc('\n', out->file);
}

static void csv_table_end(struct out *out)
{
	(void)out;
}

/* Outside of tables nothing comes here. */
static void csv_begin(struct out *out, const char *key, bool is_array)
{
	(void)out, (void)key, (void)is_array;
}

static void csv_end(struct out *out, bool is_array)
{
	(void)out, (void)is_array;
}

static void csv_line(struct out *out, const char *text, size_t size)
{
	write_cell(out->file, text, size, true, false);
	putc('\n', out->file);
}

static void csv_missing(struct out *out, const char *key, const struct error *error)
{
	char word[32];
	int length = snprintf(word, sizeof(word), "<%s>", error_place_word(error));
	struct out_field field = {
		.key = key, .is_string = true, .data = word, .data_size = (size_t)length
	};
	csv_field(out, &field);
}

static void csv_finish(struct out *out, size_t depth)
{
	(void)out, (void)depth;
}

static const struct out_ops csv_ops = {
	.begin = csv_begin,
	.end = csv_end,
	.field = csv_field,
	.line = csv_line,
	.missing = csv_missing,
	.table_begin = csv_table_begin,
	.row_begin = csv_row_begin,
	.row_end = csv_row_end,
	.table_end = csv_table_end,
	.finish = csv_finish,
};

struct out *out_csv_create(FILE *file)
{
	struct out_csv *csv = calloc(1, sizeof(*csv));
	if (!csv)
		return NULL;
	csv->out = (struct out){ .ops = &csv_ops, .file = file };
	return &csv->out;
}
