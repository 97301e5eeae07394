// SPDX-License-Identifier: GPL-3.0-or-later
/* Numbers, enums, pointers, strings: what becomes one field of the output. */
#include "base/ascii.h"
#include "base/bytes.h"
#include "base/digits.h"
#include "debugger/eval/render_private.h"
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Counts what a field takes on the line; JSON-only values have no text. */
static const char *shown(struct renderer *renderer, const char *text)
{
	if (renderer->quiet)
		return "";
	renderer->column += strlen(text);
	return text;
}

void render_note(struct renderer *renderer, const char *key, const char *note)
{
	out_null_as(renderer->out, key, shown(renderer, note));
}

void render_missing(struct renderer *renderer, const char *key, const struct error *error)
{
	renderer->column += 10;
	if (!renderer->quiet) {
		out_missing(renderer->out, key, error);
		return;
	}
	out_object_begin(renderer->out, key);
	out_string_as(renderer->out, "error", error->message, "");
	out_object_end(renderer->out);
}

bool type_is_char(struct type type)
{
	struct btf_type record;
	/* gcc's char has no flag of its own in BTF; "unsigned char" is what u8 is. */
	return type_get_resolved(type, &record) && record.kind == BTF_INT && record.size == 1 &&
	       !strcmp(record.name, "char");
}

static uint32_t slot_bits(const struct slot *slot, const struct btf_type *record)
{
	return slot->bit_size ? slot->bit_size : record->size * 8;
}

static void put_number(struct renderer *renderer, const char *key, const struct out_integer *number,
		       const char *text)
{
	out_integer_as(renderer->out, key, number, shown(renderer, text));
}

/* --- places ---------------------------------------------------------------------------------- */

/*
 * Kernel and modules lie within reach of a call instruction of each other. Asking for symbols
 * elsewhere would load the modules for every pointer to the heap.
 */
static bool is_near_text(const struct renderer *renderer, uint64_t address)
{
	return renderer->text_start &&
	       address - renderer->text_start + ((uint64_t)1 << 32) < (uint64_t)1 << 33;
}

static bool describe(const struct renderer *renderer, uint64_t address, struct symbol *ret,
		     uint64_t *ret_offset)
{
	return is_near_text(renderer, address) &&
	       target_symbol_at(renderer->target, address, ret, ret_offset);
}

void render_append(char text[RENDER_TEXT_SIZE], const char *format, ...)
{
	size_t length = strlen(text);
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text + length, RENDER_TEXT_SIZE - length, format, arguments);
	va_end(arguments);
}

static void append_symbol(char text[RENDER_TEXT_SIZE], const struct symbol *symbol, uint64_t offset)
{
	render_append(text, "%s", symbol->name);
	if (offset)
		render_append(text, "+0x%" PRIx64, offset);
	if (symbol->module)
		render_append(text, " [%s]", symbol->module);
}

/* --- integers -------------------------------------------------------------------------------- */

#define WIDE_DIGITS_SIZE 41 /* of 128 bits, a sign and the end */

/* In decimal; no printf() has this. Returns where they begin. */
static const char *wide_digits(unsigned __int128 value, bool is_signed,
			       char digits[WIDE_DIGITS_SIZE])
{
	bool is_negative = is_signed && value >> 127;
	char *at = digits + WIDE_DIGITS_SIZE - 1;
	*at = 0;
	if (is_negative)
		value = -value;
	do
		*--at = (char)('0' + (int)(value % 10));
	while (value /= 10);
	if (is_negative)
		*--at = '-';
	return at;
}

static void render_wide(struct renderer *renderer, const char *key, const struct slot *slot)
{
	const uint8_t *at = renderer->image.data + slot->offset;
	bool big = renderer->image.big_endian;
	char text[40], digits[WIDE_DIGITS_SIZE];
	uint64_t high = load_u64(at + (big ? 0 : 8), big), low = load_u64(at + (big ? 8 : 0), big);
	snprintf(text, sizeof(text), "0x%016" PRIx64 "%016" PRIx64, high, low);
	out_digits_as(renderer->out, key,
		      wide_digits((unsigned __int128)high << 64 | low, type_is_signed(slot->type),
				  digits),
		      shown(renderer, text));
}

void render_number_text(const struct renderer *renderer, uint64_t value, bool is_signed,
			uint64_t size, char text[RENDER_TEXT_SIZE])
{
	enum number_base base = renderer->options->base;
	if (base != BASE_DECIMAL && size < 8)
		value &= ((uint64_t)1 << size * 8) - 1;
	if (base == BASE_HEXADECIMAL) {
		digits_hex(value, text);
	} else if (base == BASE_OCTAL) {
		snprintf(text, RENDER_TEXT_SIZE, value ? "0%" PRIo64 : "%" PRIo64, value);
	} else if (is_signed) {
		digits_i64((int64_t)value, text);
	} else {
		digits_u64(value, text);
	}
}

/* An unsigned long that holds a kernel address: hexadecimal, for decimal would be unreadable. */
static void address_text(const struct renderer *renderer, uint64_t value,
			 char text[RENDER_TEXT_SIZE])
{
	struct symbol symbol;
	uint64_t offset;
	if (renderer->options->raw)
		return;
	digits_hex(value, text);
	if (!describe(renderer, value, &symbol, &offset))
		return;
	render_append(text, " <");
	append_symbol(text, &symbol, offset);
	render_append(text, ">");
}

static bool is_typedef(struct type type, const char *name)
{
	struct btf_type record;
	for (int i = 0; i < 8 && type_get(type, &record); i++) {
		if (record.kind != BTF_TYPEDEF)
			return false;
		if (!strcmp(record.name, name))
			return true;
		type = (struct type){ type.btf, record.type };
	}
	return false;
}

/* A point in time or a span, in nanoseconds; kernel include/linux/ktime.h. */
static bool is_ktime(struct type type)
{
	return is_typedef(type, "ktime_t");
}

/* Pids stay decimal with `set base hex`: ps shows them so, and that is how people know them. */
static bool is_decimal(const struct renderer *renderer, struct type type)
{
	return renderer->options->base != BASE_DECIMAL && !renderer->options->base_of_all &&
	       is_typedef(type, "pid_t");
}

/* "12.000000345 s", where seconds are easier to read. */
static void append_seconds(char text[RENDER_TEXT_SIZE], int64_t nanoseconds)
{
	uint64_t size = nanoseconds < 0 ? -(uint64_t)nanoseconds : (uint64_t)nanoseconds;
	/* KTIME_MAX: never */
	if (nanoseconds == INT64_MAX)
		render_append(text, " <never>");
	else if (size >= 1000000)
		render_append(text, " <%s%" PRIu64 ".%09" PRIu64 " s>", nanoseconds < 0 ? "-" : "",
			      size / 1000000000, size % 1000000000);
}

/* " (read|write|0x100)" */
static void append_flags(const struct flag_names *names, const char *const *words, size_t count,
			 uint64_t rest, char text[RENDER_TEXT_SIZE])
{
	render_append(text, flag_names_are_declared(names) ? " (declared: " : " (");
	for (size_t i = 0; i < count; i++)
		render_append(text, i ? "|%s" : "%s", words[i]);
	render_append(text, rest ? "|0x%" PRIx64 ")" : ")", rest);
}

/* For programs, beside the number: KEY_names. */
static void put_flags(struct renderer *renderer, const char *key, const struct flag_names *names,
		      const char *const *words, size_t count)
{
	struct out *out = renderer->out;
	char name[128];
	if (!key || out_is_text(out))
		return;
	snprintf(name, sizeof(name), "%s_names", key);
	out_array_begin(out, name);
	for (size_t i = 0; i < count; i++)
		out_string(out, NULL, words[i]);
	out_array_end(out);
	if (flag_names_are_declared(names)) {
		snprintf(name, sizeof(name), "%s_names_origin", key);
		out_string(out, name, type_origin_name(ORIGIN_DECLARED));
	}
}

/* A word whose bits have names; false: it has none of them. */
static bool render_flags(struct renderer *renderer, const char *key, const struct slot *slot,
			 const struct out_integer *number)
{
	const char *words[FLAG_NAMES_MAX];
	char text[RENDER_TEXT_SIZE];
	uint64_t rest;
	if (renderer->options->raw || !number->value)
		return false;
	const struct flag_names *names = slot->flags ?: flag_names_of_type(slot->type);
	size_t count =
		names ? flag_names_split(renderer->target, names, number->value, words, &rest) : 0;
	if (!count)
		return false;
	if (renderer->options->base_of_all)
		render_number_text(renderer, number->value, number->is_signed, number->bits / 8,
				   text);
	else
		digits_hex(number->value, text);
	append_flags(names, words, count, rest, text);
	put_number(renderer, key, number, text);
	put_flags(renderer, key, names, words, count);
	return true;
}

static void render_integer(struct renderer *renderer, const char *key, const struct slot *slot,
			   const struct btf_type *record, uint64_t value)
{
	char text[RENDER_TEXT_SIZE];
	bool is_signed = type_is_signed(slot->type);
	if ((record->int_encoding & BTF_INT_BOOL) && !slot->bit_size && value <= 1) {
		out_bool_as(renderer->out, key, value, shown(renderer, value ? "true" : "false"));
		return;
	}
	const struct out_integer number = { value, slot_bits(slot, record), is_signed };
	if (render_flags(renderer, key, slot, &number))
		return;
	if (is_decimal(renderer, slot->type))
		digits_i64((int64_t)value, text);
	else
		render_number_text(renderer, value, is_signed, record->size, text);
	if (!is_signed && record->size == 8 && is_kernel_pointer(value))
		address_text(renderer, value, text);
	if (!renderer->options->raw && type_is_char(slot->type) && value < 128 &&
	    ascii_is_print((char)value))
		snprintf(text + strlen(text), 8, " '%s%c'",
			 value == '\'' || value == '\\' ? "\\" : "", (char)value);
	if (!renderer->options->raw && record->size == 8 && is_ktime(slot->type))
		append_seconds(text, (int64_t)value);
	out_quoted(renderer->out, record->size == 1 ? OUT_QUOTED_TEXT : OUT_RAW);
	put_number(renderer, key, &number, text);
	out_quoted(renderer->out, OUT_RAW);
}

/* The enumerator of the value; NULL: none. */
static const char *enumerator_name(const struct btf_type *record, uint64_t value, uint64_t mask)
{
	struct btf_enumerator enumerator;
	for (uint32_t i = 0; btf_enumerator(record, i, &enumerator); i++)
		if ((((uint64_t)enumerator.value ^ value) & mask) == 0)
			return enumerator.name;
	return NULL;
}

static bool is_single_bit(uint64_t value)
{
	return value && !(value & (value - 1));
}

/* The bits that have names of their own, when these are flags: other values are sums of them, and
 * they go on beyond 1 and 2, which a plain count has too; that has each number from 1 on. 0: no
 * flags. */
static uint64_t flag_bits(const struct btf_type *record, uint64_t mask)
{
	struct btf_enumerator enumerator;
	uint64_t bits = 0, all = 0, numbers = 1, most = 0;
	for (uint32_t i = 0; btf_enumerator(record, i, &enumerator); i++) {
		uint64_t value = (uint64_t)enumerator.value & mask;
		all |= value;
		if (is_single_bit(value))
			bits |= value;
		if (value < 63)
			numbers |= (uint64_t)1 << value;
		if (value > most)
			most = value;
	}
	bool counts = most < 63 && numbers == ((uint64_t)2 << most) - 1;
	return all == bits && bits > 3 && !counts ? bits : 0;
}

/* "A | B | 0x40"; false when the enum is none of flags. */
static bool flags_text(const struct btf_type *record, uint64_t value, uint64_t mask,
		       char text[RENDER_TEXT_SIZE])
{
	uint64_t bits = flag_bits(record, mask);
	value &= mask;
	*text = 0;
	if (!(value & bits))
		return false;
	for (uint64_t left = value & bits; left; left &= left - 1)
		render_append(text, "%s%s", *text ? " | " : "",
			      enumerator_name(record, left & -left, mask));
	if (value & ~bits)
		render_append(text, " | 0x%" PRIx64, value & ~bits);
	return true;
}

static void render_enum(struct renderer *renderer, const char *key, const struct slot *slot,
			const struct btf_type *record, uint64_t value)
{
	char text[RENDER_TEXT_SIZE];
	uint32_t bits = slot_bits(slot, record);
	uint64_t mask = bits < 64 ? ((uint64_t)1 << bits) - 1 : ~(uint64_t)0;
	bool is_signed = type_is_signed(slot->type);
	bool named = !renderer->options->raw && !renderer->quiet;
	const char *name = named ? enumerator_name(record, value, mask) : NULL;
	if (name)
		snprintf(text, sizeof(text), "%s", name);
	else if (!named || !flags_text(record, value, mask, text))
		render_number_text(renderer, value, is_signed, record->size, text);
	put_number(renderer, key, &(struct out_integer){ value, bits, is_signed }, text);
}

static void render_float(struct renderer *renderer, const char *key, const struct slot *slot,
			 uint64_t size)
{
	double number = 0;
	bool big = renderer->image.big_endian;
	const uint8_t *at = renderer->image.data + slot->offset;
	if (size == 8) {
		uint64_t bits = load_u64(at, big);
		memcpy(&number, &bits, 8);
	} else if (size == 4) {
		uint32_t bits = load_u32(at, big);
		float single;
		memcpy(&single, &bits, 4);
		number = single;
	}
	if ((size != 4 && size != 8) || !isfinite(number))
		render_note(renderer, key,
			    isnan(number)   ? "nan"
			    : isinf(number) ? "inf"
					    : "<float>");
	else
		out_double(renderer->out, key, number);
}

/* --- strings --------------------------------------------------------------------------------- */

void render_quote(const char *from, size_t length, char *to, size_t size)
{
	size_t used = 0;
	to[used++] = '"';
	for (size_t i = 0; i < length && used + 4 < size; i++) {
		if (from[i] == '"' || from[i] == '\\')
			to[used++] = '\\';
		to[used++] = from[i];
	}
	to[used++] = '"';
	to[used] = 0;
}

static size_t string_limit(const struct renderer *renderer)
{
	size_t limit = renderer->options->string_limit;
	return limit ? limit : SIZE_MAX / 4;
}

void render_string(struct renderer *renderer, const char *key, const struct slot *slot,
		   uint64_t size)
{
	const char *data = (const char *)renderer->image.data + slot->offset;
	size_t length = strnlen(data, size);
	const struct error *missing = image_missing(&renderer->image, slot->offset, size);
	/* A string that ends before the hole is whole. */
	if (missing &&
	    image_missing(&renderer->image, slot->offset, length < size ? length + 1 : length)) {
		render_missing(renderer, key, missing);
		return;
	}
	size_t limit = string_limit(renderer);
	size_t kept = length < limit ? length : limit;
	size_t text_size = 2 * kept + 8;
	char *text = malloc(text_size + kept + 1);
	if (!text) {
		render_note(renderer, key, "<no memory>");
		return;
	}
	char *plain = text + text_size;
	memcpy(plain, data, kept);
	plain[kept] = 0;
	bool is_bare = renderer->options->bare_strings && renderer->depth <= 1;
	if (is_bare)
		memcpy(text, plain, kept + 1);
	else
		render_quote(data, kept, text, text_size);
	if (kept < length) {
		strcat(text, "...");
		renderer->cut = true;
	}
	out_quoted(renderer->out, is_bare ? OUT_RAW : OUT_QUOTED_TEXT);
	out_string_as(renderer->out, key, plain, shown(renderer, text));
	out_quoted(renderer->out, OUT_RAW);
	free(text);
}

/* --- pointers -------------------------------------------------------------------------------- */

/* "unsigned char" by that name, as the names of files are; u8 is a number. */
static bool is_byte(struct type type)
{
	struct btf_type record;
	return type_get(type_unqualified(type), &record) && record.kind == BTF_INT &&
	       record.size == 1 && !strcmp(record.name, "unsigned char");
}

static bool is_text(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!ascii_is_print(text[i]))
			return false;
	return length;
}

/*
 * The string a char pointer points to; says so when the dump was filtered there. `may_be_bytes`:
 * shown only if all of it is text.
 */
static bool append_string(const struct renderer *renderer, uint64_t address, bool may_be_bytes,
			  char text[RENDER_TEXT_SIZE])
{
	char buffer[RENDER_TEXT_SIZE / 4], quoted[RENDER_TEXT_SIZE / 2 + 8];
	size_t length = 0, limit = string_limit(renderer);
	size_t size = limit < sizeof(buffer) - 1 ? limit + 1 : sizeof(buffer);
	struct error *error =
		memory_read_string(renderer->target->memory, address, buffer, size, &length);
	bool is_string = !error && (!may_be_bytes || is_text(buffer, length));
	if (is_string) {
		render_quote(buffer, length, quoted, sizeof(quoted));
		render_append(text, " %s%s", quoted, length + 1 == size ? "..." : "");
	} else if (error && error->kind != ERROR_FAULT) {
		render_append(text, " <%s>", error_place_word(error));
	}
	error_free(error);
	return is_string;
}

bool render_pointer_text(const struct renderer *renderer, struct type type, uint64_t address,
			 char text[RENDER_TEXT_SIZE])
{
	struct type pointed;
	struct btf_type record = { .kind = BTF_VOID };
	struct symbol symbol;
	uint64_t offset;
	digits_hex(address, text);
	if (!address || renderer->options->raw || !type_target(type, &pointed) ||
	    !type_get_resolved(pointed, &record))
		return false;
	bool may_be_bytes = is_byte(pointed);
	if ((type_is_char(pointed) || may_be_bytes) && renderer->target->memory) {
		return append_string(renderer, address, may_be_bytes, text);
	} else if (describe(renderer, address, &symbol, &offset)) {
		bool is_name = record.kind == BTF_FUNC_PROTO && !offset;
		if (is_name)
			*text = 0;
		render_append(text, is_name ? "" : " <");
		append_symbol(text, &symbol, offset);
		render_append(text, is_name ? "" : ">");
	}
	return false;
}

static void render_pointer(struct renderer *renderer, const char *key, struct type type,
			   uint64_t address)
{
	char text[RENDER_TEXT_SIZE] = "";
	bool is_quoted = !renderer->quiet && render_pointer_text(renderer, type, address, text);
	/* In a cell of a table, the string alone says more than its address. */
	const char *string = is_quoted ? strstr(text, " \"") : NULL;
	bool is_bare = renderer->options->bare_strings && !renderer->depth && string;
	out_quoted(renderer->out, is_quoted ? OUT_QUOTED_TEXT : OUT_RAW);
	out_address_as(renderer->out, key, address, shown(renderer, is_bare ? string + 1 : text));
	out_quoted(renderer->out, OUT_RAW);
}

/* --- which ------------------------------------------------------------------------------------ */

void render_function(struct renderer *renderer, const char *key, uint64_t address)
{
	char text[RENDER_TEXT_SIZE];
	struct symbol symbol;
	uint64_t offset;
	snprintf(text, sizeof(text), "0x%" PRIx64, address);
	if (!renderer->options->raw && describe(renderer, address, &symbol, &offset)) {
		render_append(text, " <");
		append_symbol(text, &symbol, offset);
		render_append(text, ">");
	}
	out_address_as(renderer->out, key, address, shown(renderer, text));
}

uint64_t render_load(const struct renderer *renderer, const struct slot *slot, uint64_t size)
{
	const uint8_t *at = renderer->image.data + slot->offset;
	uint64_t value = slot->bit_size ? load_bits(at, slot->bit_offset, slot->bit_size,
						    renderer->image.big_endian)
					: load_unsigned(at, size, renderer->image.big_endian);
	uint32_t bits = slot->bit_size ? slot->bit_size : size * 8;
	return type_is_signed(slot->type) ? sign_extend(value, bits) : value;
}

void render_scalar(struct renderer *renderer, const char *key, const struct slot *slot,
		   const struct btf_type *record)
{
	uint64_t size = 0;
	type_size(slot->type, &size);
	if (record->kind == BTF_INT && size == 16 && !slot->bit_size) {
		render_wide(renderer, key, slot);
		return;
	}
	if (record->kind == BTF_FLOAT) {
		render_float(renderer, key, slot, size);
		return;
	}
	uint64_t value = render_load(renderer, slot, size);
	if (record->kind == BTF_PTR)
		render_pointer(renderer, key, slot->type, value);
	else if (record->kind == BTF_INT)
		render_integer(renderer, key, slot, record, value);
	else
		render_enum(renderer, key, slot, record, value);
}
