// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/kernel/trace_text.h"

#include "base/ascii.h"
#include "base/bytes.h"
#include "debugger/kernel/trace_value.h"
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH_MAX  1024
#define TEXT_MAX   65536u
#define COMMON_END 8u /* of struct trace_entry: the fields that all have */

struct trace_printer *trace_printer_create(struct target *target)
{
	struct trace_printer *printer = malloc(sizeof(*printer));
	if (printer)
		printer->target = target;
	return printer;
}

void trace_printer_destroy(struct trace_printer *printer)
{
	free(printer);
}

/* --- conversions of printf ------------------------------------------------------------------- */

/* "%-08.3lx" taken apart; `letters`: what stands behind %p. */
struct conversion {
	char flags[8];
	int width, precision; /* -1: none */
	unsigned int bits;    /* of a number */
	char letter;
	char letters[8];
};

static void put_symbol(struct strbuf *out, struct target *target, uint64_t address,
		       bool with_offset)
{
	char name[SYMBOL_NAME_SIZE];
	struct symbol symbol;
	uint64_t offset;
	if (!target_symbol_at_into(target, address, name, &symbol, &offset)) {
		strbuf_format(out, "0x%" PRIx64, address);
		return;
	}
	strbuf_put(out, symbol.name);
	if (with_offset)
		strbuf_format(out, "+0x%" PRIx64 "/0x%" PRIx64, offset,
			      symtab_room(target->symbols, &symbol));
	if (symbol.module)
		strbuf_format(out, " [%s]", symbol.module);
}

static bool put_number(struct strbuf *out, const struct conversion *conversion, uint64_t number)
{
	char format[32];
	unsigned int unused = 64 - conversion->bits;
	bool is_signed = conversion->letter == 'd' || conversion->letter == 'i';
	number = is_signed ? (uint64_t)((int64_t)(number << unused) >> unused)
			   : number << unused >> unused;
	if (conversion->letter == 'c') {
		strbuf_char(out, number ? (char)number : ' ');
		return true;
	}
	snprintf(format, sizeof(format), "%%%s*.*ll%c", conversion->flags, conversion->letter);
	/* The kernel writes 0x in front of a zero, too, and C does not: it is written of a 1, whose
	 * digit is changed. */
	bool is_zero = !number && strchr(conversion->flags, '#') &&
		       (conversion->letter == 'x' || conversion->letter == 'X');
	size_t at = out->size;
	/* A precision below 0 is none. */
	strbuf_format(out, format, conversion->width > 0 ? conversion->width : 0,
		      conversion->precision, is_zero ? 1LL : (long long)number);
	for (; is_zero && at < out->size; at++)
		if (out->data[at] == '1')
			out->data[at] = '0';
	return true;
}

static bool put_text(struct strbuf *out, const struct conversion *conversion, const char *text)
{
	size_t length = conversion->precision < 0 ? strlen(text)
						  : strnlen(text, (size_t)conversion->precision);
	size_t width = conversion->width > 0 ? (size_t)conversion->width : 0;
	bool is_left = strchr(conversion->flags, '-');
	if (!is_left && length < width)
		strbuf_repeat(out, ' ', width - length);
	strbuf_bytes(out, text, length);
	if (is_left && length < width)
		strbuf_repeat(out, ' ', width - length);
	return true;
}

static bool put_address(struct strbuf *out, int family, const struct trace_value *value)
{
	char text[INET6_ADDRSTRLEN];
	if (value->kind != TRACE_VALUE_BYTES || value->size < (family == AF_INET ? 4 : 16) ||
	    !inet_ntop(family, value->bytes, text, sizeof(text)))
		return false;
	strbuf_put(out, text);
	return true;
}

/* A struct sockaddr, %pISpc. */
static bool put_socket_address(struct strbuf *out, const struct trace_value *value, bool big)
{
	char text[INET6_ADDRSTRLEN];
	if (value->kind != TRACE_VALUE_BYTES || value->size < 8)
		return false;
	unsigned int family = load_u16(value->bytes, big), port = load_u16(value->bytes + 2, true);
	bool is_inet = family == AF_INET;
	if (!is_inet && (family != AF_INET6 || value->size < 24))
		return false;
	if (!inet_ntop((int)family, value->bytes + (is_inet ? 4 : 8), text, sizeof(text)))
		return false;
	strbuf_format(out, is_inet ? "%s:%u" : "[%s]:%u", text, port);
	return true;
}

static bool put_hex(struct strbuf *out, const struct trace_value *value, size_t count, char between)
{
	if (value->kind != TRACE_VALUE_BYTES || count > value->size)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (i && between)
			strbuf_char(out, between);
		strbuf_format(out, "%02x", value->bytes[i]);
	}
	return true;
}

static bool put_uuid(struct strbuf *out, const struct trace_value *value, bool is_little)
{
	static const uint8_t little[] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	if (value->kind != TRACE_VALUE_BYTES || value->size < 16)
		return false;
	for (size_t i = 0; i < 16; i++)
		strbuf_format(out, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			      value->bytes[is_little ? little[i] : i]);
	return true;
}

/* %*pbl: the numbers of the bits that are set. */
static bool put_bits(struct strbuf *out, const struct trace_value *value, size_t count)
{
	bool is_first = true;
	if (value->kind != TRACE_VALUE_BYTES || count > 8 * value->size)
		return false;
	for (size_t i = 0; i < count; i++) {
		size_t last = i;
		if (!(value->bytes[i / 8] >> i % 8 & 1))
			continue;
		while (last + 1 < count && value->bytes[(last + 1) / 8] >> (last + 1) % 8 & 1)
			last++;
		strbuf_format(out, "%s%zu", is_first ? "" : ",", i);
		if (last > i)
			strbuf_format(out, "-%zu", last);
		is_first = false;
		i = last;
	}
	return true;
}

static bool put_pointer(struct trace_printer *printer, const struct conversion *conversion,
			const struct trace_value *value, struct strbuf *out)
{
	const char *letters = conversion->letters;
	bool big = printer->target->memory->big_endian;
	size_t width = conversion->width > 0 ? (size_t)conversion->width : 0;
	switch (*letters) {
	case 'I':
	case 'i':
		return letters[1] == 'S'
			       ? put_socket_address(out, value, big)
			       : put_address(out, letters[1] == '4' ? AF_INET : AF_INET6, value);
	case 'M':
	case 'm':
		return put_hex(out, value, 6, letters[0] == 'M' ? ':' : 0);
	case 'U':
		return put_uuid(out, value, letters[1] == 'l' || letters[1] == 'L');
	case 'h':
		return put_hex(out, value, width,
			       letters[1] == 'C'   ? ':'
			       : letters[1] == 'D' ? '-'
			       : letters[1] == 'N' ? 0
						   : ' ');
	case 'b':
		return letters[1] == 'l' && put_bits(out, value, width);
	}
	if (value->kind != TRACE_VALUE_NUMBER)
		return false;
	if (*letters && strchr("sSfFB", *letters))
		put_symbol(out, printer->target, value->number, *letters != 's' && *letters != 'f');
	else if (!*letters || *letters == 'K' || *letters == 'x')
		strbuf_format(out, *letters == 'x' ? "%" PRIx64 : "%016" PRIx64, value->number);
	else
		return false;
	return true;
}

/* A text of the kernel's own, which records only point at. */
static bool put_pointed(struct trace_printer *printer, const struct conversion *conversion,
			uint64_t address, struct strbuf *out)
{
	char text[256];
	size_t length;
	if (!address)
		return put_text(out, conversion, "(null)");
	struct error *error =
		memory_read_string(printer->target->memory, address, text, sizeof(text), &length);
	error_free(error);
	return !error && put_text(out, conversion, text);
}

static bool put_value(struct trace_printer *printer, const struct conversion *conversion,
		      const struct trace_value *value, struct strbuf *out)
{
	switch (conversion->letter) {
	case 'p':
		return put_pointer(printer, conversion, value, out);
	case 's':
		if (value->kind == TRACE_VALUE_NUMBER)
			return put_pointed(printer, conversion, value->number, out);
		return value->kind == TRACE_VALUE_TEXT && put_text(out, conversion, value->text);
	case 'd':
	case 'i':
	case 'u':
	case 'x':
	case 'X':
	case 'o':
	case 'c':
		if (value->kind != TRACE_VALUE_NUMBER)
			return false;
		if (value->is_code)
			put_symbol(out, printer->target, value->number, !value->is_function);
		else
			put_number(out, conversion, value->number);
		return true;
	}
	return false;
}

/* --- a format -------------------------------------------------------------------------------- */

static bool next_argument(struct trace_printer *printer, struct trace_value *ret)
{
	return trace_accept(printer, ",") && trace_expression(printer, ret);
}

/* A width or precision: digits, or an argument. */
static bool parse_extent(struct trace_printer *printer, const char **at, int *ret)
{
	struct trace_value value;
	if (**at == '*') {
		(*at)++;
		if (!next_argument(printer, &value) || value.kind != TRACE_VALUE_NUMBER ||
		    value.number > WIDTH_MAX)
			return false;
		*ret = (int)value.number;
		return true;
	}
	for (*ret = 0; **at >= '0' && **at <= '9'; (*at)++)
		if (*ret <= WIDTH_MAX)
			*ret = 10 * *ret + **at - '0';
	return *ret <= WIDTH_MAX;
}

static bool parse_conversion(struct trace_printer *printer, const char **at, struct conversion *ret)
{
	size_t used = 0;
	*ret = (struct conversion){ .width = -1, .precision = -1, .bits = 32 };
	for (; **at && strchr("-+ #0", **at); (*at)++)
		if (used < sizeof(ret->flags) - 1 && !strchr(ret->flags, **at))
			ret->flags[used++] = **at;
	if ((**at >= '0' && **at <= '9') || **at == '*')
		if (!parse_extent(printer, at, &ret->width))
			return false;
	if (**at == '.') {
		(*at)++;
		if (!parse_extent(printer, at, &ret->precision))
			return false;
	}
	for (; **at && strchr("hlLqzt", **at); (*at)++)
		ret->bits = **at == 'h' ? ret->bits / 2 : 64;
	ret->letter = **at;
	*at += **at != 0;
	for (used = 0; ret->letter == 'p' && ascii_is_alnum(**at); (*at)++)
		if (used < sizeof(ret->letters) - 1)
			ret->letters[used++] = **at;
	return ret->letter && ret->bits >= 8;
}

/* The whole of "print fmt"; false: something in it is beyond us. */
static bool put_format(struct trace_printer *printer, struct strbuf *out)
{
	struct trace_value format, value;
	struct conversion conversion;
	if (!trace_literal(printer, &format))
		return false;
	for (const char *at = format.text; *at && out->size < TEXT_MAX;) {
		size_t length = strcspn(at, "%");
		strbuf_bytes(out, at, length);
		at += length;
		if (!*at)
			break;
		if (at[1] == '%') {
			strbuf_char(out, '%');
			at += 2;
			continue;
		}
		at++;
		if (!parse_conversion(printer, &at, &conversion) ||
		    !next_argument(printer, &value) ||
		    !put_value(printer, &conversion, &value, out))
			return false;
	}
	return true;
}

/* --- fields ---------------------------------------------------------------------------------- */

static void put_field(struct trace_printer *printer, const struct trace_field *field,
		      struct strbuf *out)
{
	struct trace_value value;
	if (out->size)
		strbuf_char(out, ' ');
	strbuf_format(out, "%s=", field->name);
	if (!trace_field_value(printer, field, &value))
		strbuf_char(out, '?');
	else if (value.kind == TRACE_VALUE_TEXT)
		strbuf_put(out, value.text);
	else if (value.kind == TRACE_VALUE_BYTES)
		put_hex(out, &value, value.size, 0);
	else if (field->is_signed)
		strbuf_format(out, "%" PRId64, (int64_t)value.number);
	else
		strbuf_format(out, "0x%" PRIx64, value.number);
}

static void put_fields(struct trace_printer *printer, struct strbuf *out)
{
	for (size_t i = 0; i < printer->call->field_count; i++) {
		printer->used = 0;
		if (printer->call->fields[i].offset >= COMMON_END)
			put_field(printer, &printer->call->fields[i], out);
	}
}

static bool put_named(struct trace_printer *printer, const char *name, uint64_t *ret)
{
	struct trace_value value;
	const struct trace_field *field = trace_field_named(printer->call, name, strlen(name));
	if (!field || !trace_field_value(printer, field, &value) ||
	    value.kind != TRACE_VALUE_NUMBER)
		return false;
	*ret = value.number;
	return true;
}

/*
 * "sys_openat(dfd: ffffff9c, filename: 7ffd...)"; the kernel does not use the format, which said
 * the same until it got what user space passes by pointers.
 */
static bool put_enter(struct trace_printer *printer, struct strbuf *out)
{
	const struct trace_event_call *call = printer->call;
	const char *between = "";
	strbuf_format(out, "%s(", call->syscall);
	if (call->has_user_data && call->format) {
		if (!put_format(printer, out))
			return false;
		strbuf_char(out, ')');
		return true;
	}
	for (size_t i = 0; i < call->field_count; i++) {
		struct trace_value value;
		const struct trace_field *field = &call->fields[i];
		if (field->offset < COMMON_END || !strcmp(field->name, "__syscall_nr"))
			continue;
		if (!trace_field_value(printer, field, &value) || value.kind != TRACE_VALUE_NUMBER)
			return false;
		strbuf_format(out, "%s%s: %" PRIx64, between, field->name, value.number);
		between = ", ";
	}
	strbuf_char(out, ')');
	return true;
}

static bool put_exit(struct trace_printer *printer, struct strbuf *out)
{
	uint64_t number;
	if (!put_named(printer, "ret", &number))
		return false;
	strbuf_format(out, "%s -> 0x%" PRIx64, printer->call->syscall, number);
	return true;
}

static bool put_function(struct trace_printer *printer, struct strbuf *out)
{
	uint64_t function, caller;
	if (!put_named(printer, "ip", &function) || !put_named(printer, "parent_ip", &caller))
		return false;
	put_symbol(out, printer->target, function, false);
	strbuf_put(out, " <-");
	put_symbol(out, printer->target, caller, false);
	return true;
}

/* The words at the record's end, until one is nothing. */
static bool put_stack(struct trace_printer *printer, struct strbuf *out)
{
	const struct trace_record *record = printer->record;
	const struct trace_field *field = trace_field_named(printer->call, "caller", 6);
	bool big = printer->target->memory->big_endian;
	if (!field)
		return false;
	for (size_t at = field->offset; at + 8 <= record->size; at += 8) {
		uint64_t address = load_u64(record->data + at, big);
		if (!address || address == UINT64_MAX)
			break;
		strbuf_put(out, out->size ? " => " : "=> ");
		put_symbol(out, printer->target, address, false);
	}
	return true;
}

static bool put_known(struct trace_printer *printer, struct strbuf *out)
{
	switch (printer->call->kind) {
	case TRACE_EVENT_SYSCALL_ENTER:
		return printer->call->syscall && put_enter(printer, out);
	case TRACE_EVENT_SYSCALL_EXIT:
		return printer->call->syscall && put_exit(printer, out);
	case TRACE_EVENT_FUNCTION:
		return put_function(printer, out);
	case TRACE_EVENT_STACK:
		return put_stack(printer, out);
	case TRACE_EVENT_PLAIN:
		break;
	}
	return printer->call->format && put_format(printer, out);
}

void trace_text(struct trace_printer *printer, const struct trace_event_call *call,
		const struct trace_record *record, struct strbuf *out)
{
	printer->call = call;
	printer->record = record;
	printer->at = call->format;
	printer->depth = 0;
	printer->used = 0;
	out->size = 0;
	if (!put_known(printer, out)) {
		out->size = 0;
		put_fields(printer, out);
	}
	/* A mark ends its line itself. */
	while (out->size && out->data[out->size - 1] == '\n')
		out->size--;
	strbuf_bytes(out, "", 1);
}

bool trace_text_is_whole(struct trace_printer *printer, const struct trace_event_call *call)
{
	static const uint8_t zeros[4096];
	const struct trace_record record = { .data = zeros, .size = sizeof(zeros) };
	struct strbuf out = { 0 };
	printer->call = call;
	printer->record = &record;
	printer->at = call->format;
	printer->depth = 0;
	printer->used = 0;
	bool is_whole = put_known(printer, &out);
	strbuf_deinit(&out);
	return is_whole;
}
