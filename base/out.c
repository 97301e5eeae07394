// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/digits.h"
#include "base/escape.h"
#include "base/out_sink.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void out_destroy(struct out *out)
{
	if (out && out->ops->destroy)
		out->ops->destroy(out);
	if (out)
		error_free(out->bound);
	free(out);
}

bool out_reserve_bytes(struct out *out, void **items, size_t *capacity, size_t count, size_t size)
{
	if (out->failed)
		return false;
	struct error *error = budget_reserve_bytes(out->budget, items, capacity, count, size);
	if (!error)
		return true;
	out->failed = true;
	out->bound = error;
	return false;
}

struct error *out_check(const struct out *out)
{
	return out->bound ? error_copy(out->bound) : out->failed ? error_no_memory() : NULL;
}

bool out_failed(const struct out *out)
{
	return out->failed || (out->file && ferror(out->file));
}

size_t out_depth(const struct out *out)
{
	return out->depth;
}

void out_finish_to(struct out *out, size_t depth)
{
	out->ops->finish(out, depth);
	out->depth = depth;
}

void out_finish(struct out *out)
{
	out_finish_to(out, 0);
}

bool out_takes_items(const struct out *out)
{
	return out->ops->item;
}

void out_item(struct out *out, const struct out_item *item)
{
	if (out->ops->item)
		out->ops->item(out, item);
}

void out_item_named(struct out *out, uint64_t address, const char *type_name)
{
	out_item(out, &(struct out_item){ .address = address, .type_name = type_name });
}

void out_set_width(struct out *out, int width)
{
	out->width = width;
}

void out_space(struct out *out, int blanks, int width, int indent)
{
	if (out->ops->space)
		out->ops->space(out, blanks, width, indent);
}

void out_style(struct out *out, enum out_style style)
{
	if (out->ops->style)
		out->ops->style(out, style);
}

void out_next_key(struct out *out, const char *key)
{
	out->next_key = key;
}

/* --- escaping -------------------------------------------------------------- */

size_t out_printable(const char *text, size_t size)
{
	return escape_printable(text, size);
}

void out_quoted(struct out *out, enum out_quoted quoted)
{
	out->quoted = quoted;
}

void out_escape_rest(FILE *file, const char *text, size_t size, bool is_quoted)
{
	size_t start = 0;
	for (size_t i = out_plain(text, size); i < size;) {
		char escape[ESCAPE_SIZE];
		size_t length = escape_next(text + i, size - i, is_quoted, escape);
		if (*escape) {
			fwrite(text + start, 1, i - start, file);
			fputs(escape, file);
			start = i + length;
		}
		i += length;
	}
	fwrite(text + start, 1, size - start, file);
}

void out_escape(FILE *file, const char *text, size_t size)
{
	out_escape_rest(file, text, size, false);
}

/* --- structure --------------------------------------------------------------- */

void out_object_begin(struct out *out, const char *key)
{
	out->ops->begin(out, key, false);
	out->depth++;
}

void out_object_end(struct out *out)
{
	out->ops->end(out, false);
	out->depth--;
}

void out_array_begin(struct out *out, const char *key)
{
	out->ops->begin(out, key, true);
	out->depth++;
}

void out_array_end(struct out *out)
{
	out->ops->end(out, true);
	out->depth--;
}

void out_table_begin(struct out *out, const char *key, const struct column *columns, size_t count)
{
	out->ops->table_begin(out, key, columns, count);
	out->depth++;
}

void out_row_begin(struct out *out)
{
	out->ops->row_begin(out);
	out->depth++;
}

void out_row_end(struct out *out)
{
	out->ops->row_end(out);
	out->depth--;
}

void out_table_end(struct out *out)
{
	out->ops->table_end(out);
	out->depth--;
}

/* --- text ----------------------------------------------------------------------- */

/* A conversion of a printf format, cut out of it. */
struct conversion {
	char spec[32]; /* "%-16lx", stars replaced by their values */
	char length;   /* 0, 'h' (h, hh), 'l', 'L' (ll), 'z', 'j', 't' */
	char kind;     /* d i u x X o c s p f g e % */
	size_t size;   /* of it in the format */
};

/* Copies the conversion at `format`, taking stars from the arguments. */
static void conversion_parse(const char *format, va_list *arguments, struct conversion *ret)
{
	size_t used = 0;
	const char *at = format;
	*ret = (struct conversion){ 0 };
	ret->spec[used++] = *at++;
	for (; *at && used < 20 && strchr("-+ #0123456789.*", *at); at++) {
		if (*at == '*')
			used += (size_t)snprintf(ret->spec + used, sizeof(ret->spec) - used, "%d",
						 va_arg(*arguments, int));
		else
			ret->spec[used++] = *at;
	}
	for (; *at && strchr("hlzjt", *at) && used < 28; at++) {
		ret->length = ret->length == 'l' ? 'L' : *at;
		ret->spec[used++] = *at;
	}
	ret->kind = *at;
	ret->spec[used++] = *at;
	ret->size = (size_t)(at - format) + (*at != 0);
}

static uint64_t conversion_integer(const struct conversion *conversion, va_list *arguments)
{
	switch (conversion->length) {
	case 'l':
		return va_arg(*arguments, unsigned long);
	case 'L':
		return va_arg(*arguments, unsigned long long);
	case 'z':
		return va_arg(*arguments, size_t);
	case 'j':
		return va_arg(*arguments, uintmax_t);
	case 't':
		return (uint64_t)va_arg(*arguments, ptrdiff_t);
	}
	return va_arg(*arguments, unsigned int);
}

/* Formats one conversion; the result is malloc()ed. */
static char *conversion_format(const struct conversion *conversion, va_list *arguments)
{
	char *result = NULL;
	int length = -1;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
	switch (conversion->kind) {
	case 's':
		length = asprintf(&result, conversion->spec, va_arg(*arguments, const char *));
		break;
	case 'p':
		length = asprintf(&result, conversion->spec, va_arg(*arguments, void *));
		break;
	case 'f':
	case 'g':
	case 'e':
		length = asprintf(&result, conversion->spec, va_arg(*arguments, double));
		break;
	case 'd':
	case 'i':
	case 'u':
	case 'x':
	case 'X':
	case 'o':
	case 'c': {
		uint64_t value = conversion_integer(conversion, arguments);
		if (conversion->length && conversion->length != 'h')
			length = asprintf(&result, conversion->spec, value);
		else
			length = asprintf(&result, conversion->spec, (unsigned int)value);
		break;
	}
	}
#pragma GCC diagnostic pop
	return length < 0 ? NULL : result;
}

/*
 * printf() into `emit`, the format's own words apart from what the arguments brought in.
 */
static void format_split(struct out *out, const char *format, va_list *arguments)
{
	while (*format) {
		size_t literal = strcspn(format, "%");
		if (literal)
			out->ops->text(out, format, literal, true);
		format += literal;
		if (!*format)
			break;
		struct conversion conversion;
		conversion_parse(format, arguments, &conversion);
		format += conversion.size;
		if (conversion.kind == '%') {
			out->ops->text(out, "%", 1, true);
			continue;
		}
		if (conversion.kind == 's' && conversion.size == 2) {
			const char *plain = va_arg(*arguments, const char *);
			if (plain)
				out->ops->text(out, plain, strlen(plain), false);
			continue;
		}
		char *text = conversion_format(&conversion, arguments);
		if (text)
			out->ops->text(out, text, strlen(text), false);
		free(text);
	}
}

void out_text(struct out *out, const char *format, ...)
{
	va_list arguments;
	if (!out->ops->text)
		return;
	va_start(arguments, format);
	format_split(out, format, &arguments);
	va_end(arguments);
}

bool out_is_text(const struct out *out)
{
	return out->ops->text;
}

void out_lines(struct out *out, const char *text, size_t size)
{
	size_t start = 0;
	if (!out->ops->text)
		return;
	for (size_t i = 0; i < size;) {
		i += out_plain(text + i, size - i);
		if (i < size && (text[i] == '\n' || text[i] == '\t')) {
			i++;
			continue;
		}
		out->ops->text(out, text + start, i - start, true);
		for (start = i; i < size && text[i] != '\n' && text[i] != '\t';)
			i++;
		out->ops->text(out, text + start, i - start, false);
		start = i;
	}
	out->ops->text(out, text + start, size - start, true);
}

void out_line(struct out *out, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	char *text;
	int length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		return;
	out->ops->line(out, text, (size_t)length);
	free(text);
}

void out_pad(struct out *out, int width)
{
	if (out->ops->pad)
		out->ops->pad(out, width);
}

/* --- fields ---------------------------------------------------------------------- */

static void emit(struct out *out, struct out_field *field)
{
	field->text_quoted = out->quoted != OUT_RAW;
	field->data_quoted = out->quoted == OUT_QUOTED;
	out->ops->field(out, field);
}

static void field(struct out *out, const char *key, bool is_string, const char *data,
		  const char *text)
{
	struct out_field f = { .key = key,
			       .is_string = is_string,
			       .data = data,
			       .data_size = strlen(data),
			       .text = text,
			       .text_size = strlen(text) };
	emit(out, &f);
}

void out_string_bytes(struct out *out, const char *key, const char *value, size_t size)
{
	struct out_field f = { .key = key,
			       .is_string = true,
			       .data = value,
			       .data_size = size,
			       .text = value,
			       .text_size = size };
	emit(out, &f);
}

void out_string(struct out *out, const char *key, const char *value)
{
	field(out, key, true, value, value);
}

void out_string_as(struct out *out, const char *key, const char *value, const char *text)
{
	field(out, key, true, value, text);
}

void out_u64_as(struct out *out, const char *key, uint64_t value, const char *text)
{
	char number[DIGITS_SIZE];
	digits_u64(value, number);
	field(out, key, false, number, text ? text : number);
}

void out_u64(struct out *out, const char *key, uint64_t value)
{
	out_u64_as(out, key, value, NULL);
}

void out_i64_as(struct out *out, const char *key, int64_t value, const char *text)
{
	char number[DIGITS_SIZE];
	digits_i64(value, number);
	field(out, key, false, number, text ? text : number);
}

void out_i64(struct out *out, const char *key, int64_t value)
{
	out_i64_as(out, key, value, NULL);
}

#define WIDE_BITS 32 /* an integer of more of them is wide */

static void number_field(struct out *out, const char *key, bool is_wide, const char *number,
			 const char *text)
{
	struct out_field f = { .key = key,
			       .data = number,
			       .data_size = strlen(number),
			       .text = text ? text : number,
			       .text_size = strlen(text ? text : number),
			       .is_wide = is_wide };
	emit(out, &f);
}

void out_digits_as(struct out *out, const char *key, const char *digits, const char *text)
{
	number_field(out, key, true, digits, text);
}

void out_integer_as(struct out *out, const char *key, const struct out_integer *integer,
		    const char *text)
{
	char number[DIGITS_SIZE];
	if (integer->is_signed)
		digits_i64((int64_t)integer->value, number);
	else
		digits_u64(integer->value, number);
	number_field(out, key, integer->bits > WIDE_BITS, number, text);
}

void out_wide_as(struct out *out, const char *key, uint64_t value, const char *text)
{
	out_integer_as(out, key, &(struct out_integer){ .value = value, .bits = 64 }, text);
}

void out_wide(struct out *out, const char *key, uint64_t value)
{
	out_wide_as(out, key, value, NULL);
}

void out_double_as(struct out *out, const char *key, double value, const char *text)
{
	char number[40];
	snprintf(number, sizeof(number), "%.6f", value);
	field(out, key, false, number, text ? text : number);
}

void out_double(struct out *out, const char *key, double value)
{
	out_double_as(out, key, value, NULL);
}

void out_bool_as(struct out *out, const char *key, bool value, const char *text)
{
	field(out, key, false, value ? "true" : "false", text);
}

void out_bool(struct out *out, const char *key, bool value)
{
	out_bool_as(out, key, value, value ? "true" : "false");
}

void out_null_as(struct out *out, const char *key, const char *text)
{
	field(out, key, false, "null", text);
}

void out_address_as(struct out *out, const char *key, uint64_t value, const char *text)
{
	char number[DIGITS_SIZE];
	size_t length = digits_hex(value, number);
	struct out_field f = { .key = key,
			       .is_string = true,
			       .data = number,
			       .data_size = length,
			       .text = text,
			       .text_size = strlen(text),
			       .is_address = true };
	emit(out, &f);
}

void out_address(struct out *out, const char *key, uint64_t value)
{
	char digits[24];
	snprintf(digits, sizeof(digits), "%016" PRIx64, value);
	out_address_as(out, key, value, digits);
}

void out_missing(struct out *out, const char *key, const struct error *error)
{
	out->missing_count++;
	out->ops->missing(out, key, error);
}

size_t out_missing_count(const struct out *out)
{
	return out->missing_count;
}
