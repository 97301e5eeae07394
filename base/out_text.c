// SPDX-License-Identifier: GPL-3.0-or-later
/* The sink for people: values as they are, tables in columns. */
#include "base/escape.h"
#include "base/out_sink.h"
#include "base/styles.h"

#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 32

struct out_text {
	struct out out;
	int pad; /* of the next field */
	/* The table being written: widths by column; count 0: none. */
	int widths[COLUMNS_MAX];
	bool hidden[COLUMNS_MAX];
	size_t count;
	size_t cell;	    /* index of the next field in the row */
	size_t shown;	    /* cells shown in this row */
	int pending_blanks; /* of a left-aligned cell; written only when another follows */
	int column;	    /* where the line is, counted when it has a width */
	bool in_row;
	bool colors;
	enum out_style style; /* of what follows */
};

static struct out_text *text_of(struct out *out)
{
	return (struct out_text *)out;
}

static void text_begin(struct out *out, const char *key, bool is_array)
{
	(void)out, (void)key, (void)is_array;
}

static void text_end(struct out *out, bool is_array)
{
	(void)out, (void)is_array;
}

int out_width(const char *text, size_t size, bool is_quoted)
{
	size_t plain = out_plain(text, size);
	int width = (int)plain;
	for (size_t i = plain; i < size;) {
		char escape[ESCAPE_SIZE];
		i += escape_next(text + i, size - i, is_quoted, escape);
		width += *escape ? (int)strlen(escape) : 1;
	}
	return width;
}

static void blanks(struct out_text *text, int count)
{
	static const char some[] = "                                ";
	if (count <= 0)
		return;
	text->column += count;
	for (int left = count; left > 0; left -= (int)sizeof(some) - 1)
		fwrite(some, 1, left < (int)sizeof(some) ? (size_t)left : sizeof(some) - 1,
		       text->out.file);
}

/* What a dump has, which is escaped. */
static void put_escaped(struct out_text *text, const char *bytes, size_t size, bool is_quoted)
{
	out_escape_rest(text->out.file, bytes, size, is_quoted);
	if (text->out.width)
		text->column += out_width(bytes, size, is_quoted);
}

static void end_line(struct out_text *text)
{
	putc('\n', text->out.file);
	text->column = 0;
}

/* Changes the looks of what follows. The bytes between have been escaped, so nothing of a dump can
 * end or begin a colour. */
static void paint(struct out_text *text, enum out_style style)
{
	static const char *const codes[] = { [OUT_PLAIN] = STYLE_PLAIN,
					     [OUT_HEADING] = STYLE_HEADING,
					     [OUT_ADDRESS] = STYLE_ADDRESS,
					     [OUT_GUESS] = STYLE_GUESS,
					     [OUT_ERROR] = STYLE_ERROR };
	if (text->colors)
		fputs(codes[style], text->out.file);
}

/* A field in a style of its own, unless the command chose one. */
static void painted_field(struct out_text *text, const struct out_field *field)
{
	bool dim = field->is_address && text->style == OUT_PLAIN && field->text_size;
	if (dim)
		paint(text, OUT_ADDRESS);
	put_escaped(text, field->text, field->text_size, field->text_quoted);
	if (dim)
		paint(text, OUT_PLAIN);
}

static void text_style(struct out *out, enum out_style style)
{
	struct out_text *text = text_of(out);
	if (style == text->style)
		return;
	if (text->style != OUT_PLAIN)
		paint(text, OUT_PLAIN);
	if (style != OUT_PLAIN)
		paint(text, style);
	text->style = style;
}

static void text_cell(struct out_text *text, const struct out_field *field, int width)
{
	int missing = !width ? 0
			     : (width < 0 ? -width : width) -
				       out_width(field->text, field->text_size, field->text_quoted);
	if (width > 0)
		blanks(text, missing);
	painted_field(text, field);
	if (width < 0 && text->in_row)
		text->pending_blanks = missing > 0 ? missing : 0;
	else if (width < 0)
		blanks(text, missing);
}

static void text_field(struct out *out, const struct out_field *field)
{
	struct out_text *text = text_of(out);
	if (!text->in_row) {
		text_cell(text, field, text->pad);
		text->pad = 0;
		return;
	}
	size_t cell = text->cell++;
	if (cell >= text->count || text->hidden[cell])
		return;
	if (text->shown++) {
		blanks(text, text->pending_blanks + 1);
		text->pending_blanks = 0;
	}
	text_cell(text, field, text->widths[cell]);
}

static void text_text(struct out *out, const char *text, size_t size, bool is_literal)
{
	if (!is_literal) {
		put_escaped(text_of(out), text, size, out->quoted != OUT_RAW);
		return;
	}
	fwrite(text, 1, size, out->file);
	for (size_t i = 0; i < size && out->width; i++)
		text_of(out)->column = text[i] == '\n' ? 0 : text_of(out)->column + 1;
}

static void text_space(struct out *out, int count, int width, int indent)
{
	struct out_text *text = text_of(out);
	bool fits = !out->width || text->column + count + width <= out->width;
	if (fits || text->column <= indent) {
		blanks(text, count);
		return;
	}
	end_line(text);
	blanks(text, indent);
}

static void text_pad(struct out *out, int width)
{
	text_of(out)->pad = width;
}

static void text_line(struct out *out, const char *text, size_t size)
{
	out_escape(out->file, text, size);
	end_line(text_of(out));
}

static void text_missing(struct out *out, const char *key, const struct error *error)
{
	char word[32];
	snprintf(word, sizeof(word), "<%s>", error_place_word(error));
	struct out_field field = { .key = key, .text = word, .text_size = strlen(word) };
	enum out_style before = text_of(out)->style;
	text_style(out, OUT_ERROR);
	text_field(out, &field);
	text_style(out, before);
}

static void text_row_begin(struct out *out)
{
	struct out_text *text = text_of(out);
	text->in_row = true;
	text->cell = text->shown = 0;
	text->pending_blanks = 0;
}

static void text_row_end(struct out *out)
{
	text_of(out)->in_row = false;
	text_style(out, OUT_PLAIN);
	end_line(text_of(out));
}

static void text_table_begin(struct out *out, const char *key, const struct column *columns,
			     size_t count)
{
	struct out_text *text = text_of(out);
	(void)key;
	text->count = count < COLUMNS_MAX ? count : COLUMNS_MAX;
	bool titled = false;
	for (size_t i = 0; i < text->count; i++) {
		text->widths[i] = columns[i].width;
		text->hidden[i] = !columns[i].title;
		titled |= columns[i].title && *columns[i].title;
	}
	if (!titled)
		return;
	text_row_begin(out);
	text_style(out, OUT_HEADING);
	for (size_t i = 0; i < text->count; i++) {
		const char *title = columns[i].title ? columns[i].title : "";
		struct out_field field = { .text = title, .text_size = strlen(title) };
		text_field(out, &field);
	}
	text_row_end(out);
}

static void text_table_end(struct out *out)
{
	text_of(out)->count = 0;
}

static void text_finish(struct out *out, size_t depth)
{
	(void)depth;
	if (text_of(out)->in_row)
		text_row_end(out);
	text_style(out, OUT_PLAIN);
	text_of(out)->count = 0;
	text_of(out)->pad = 0;
}

static const struct out_ops text_ops = {
	.begin = text_begin,
	.end = text_end,
	.field = text_field,
	.text = text_text,
	.pad = text_pad,
	.space = text_space,
	.line = text_line,
	.missing = text_missing,
	.table_begin = text_table_begin,
	.row_begin = text_row_begin,
	.row_end = text_row_end,
	.table_end = text_table_end,
	.finish = text_finish,
	.style = text_style,
};

struct out *out_text_create(FILE *file)
{
	struct out_text *text = calloc(1, sizeof(*text));
	if (!text)
		return NULL;
	text->out = (struct out){ .ops = &text_ops, .file = file };
	return &text->out;
}

struct out *out_color_create(FILE *file)
{
	struct out *out = out_text_create(file);
	if (out)
		text_of(out)->colors = true;
	return out;
}
