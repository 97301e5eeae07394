// SPDX-License-Identifier: GPL-3.0-or-later
/* Expressions of "print fmt", evaluated as they are read. */
#include "debugger/kernel/trace_value.h"

#include "base/array.h"
#include "base/ascii.h"
#include "base/bytes.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64
#define WORD_MAX  128

static bool is_word(char character)
{
	return ascii_is_alnum(character) || character == '_';
}

static void skip_blanks(struct trace_printer *printer)
{
	printer->at += strspn(printer->at, " \t\n");
}

bool trace_accept(struct trace_printer *printer, const char *token)
{
	size_t length = strlen(token);
	skip_blanks(printer);
	if (strncmp(printer->at, token, length) ||
	    (is_word(*token) && is_word(printer->at[length])))
		return false;
	printer->at += length;
	return true;
}

static void set_number(struct trace_value *ret, uint64_t number, bool is_unsigned)
{
	*ret = (struct trace_value){ .kind = TRACE_VALUE_NUMBER,
				     .number = number,
				     .is_unsigned = is_unsigned };
}

static bool number_of(struct trace_printer *printer, struct trace_value *ret)
{
	return trace_expression(printer, ret) && ret->kind == TRACE_VALUE_NUMBER;
}

/* --- literals -------------------------------------------------------------------------------- */

static char unescape(const char **at)
{
	static const char from[] = "ntr0\\\"'", to[] = "\n\t\r\0\\\"'";
	char character = *(*at)++;
	const char *found = character ? strchr(from, character) : NULL;
	return found ? to[found - from] : character;
}

bool trace_literal(struct trace_printer *printer, struct trace_value *ret)
{
	size_t start = printer->used;
	skip_blanks(printer);
	if (*printer->at != '"')
		return false;
	while (trace_accept(printer, "\"")) {
		while (*printer->at && *printer->at != '"') {
			char character = *printer->at++;
			char *room = trace_room(printer, 1);
			if (!room)
				return false;
			if (character == '\\' && *printer->at)
				character = unescape(&printer->at);
			*room = character;
		}
		if (*printer->at != '"')
			return false;
		printer->at++;
	}
	char *end = trace_room(printer, 1);
	if (!end)
		return false;
	*end = 0;
	*ret = (struct trace_value){ .kind = TRACE_VALUE_TEXT, .text = printer->arena + start };
	return true;
}

static bool parse_number(struct trace_printer *printer, struct trace_value *ret)
{
	char *end;
	uint64_t number = strtoull(printer->at, &end, 0);
	printer->at = end;
	bool is_unsigned = number > INT64_MAX;
	for (; *printer->at && strchr("uUlL", *printer->at); printer->at++)
		;
	set_number(ret, number, is_unsigned);
	return !is_word(*printer->at);
}

static bool parse_character(struct trace_printer *printer, struct trace_value *ret)
{
	char character = *printer->at;
	printer->at += character != 0;
	if (character == '\\' && *printer->at)
		character = unescape(&printer->at);
	set_number(ret, (uint64_t)(int64_t)character, false);
	return trace_accept(printer, "'");
}

/* --- words ----------------------------------------------------------------------------------- */

static size_t word_length(const char *at)
{
	size_t length = 0;
	while (is_word(at[length]))
		length++;
	return length;
}

/*
 * Who prints the return of a probed function says first where to, whatever the format says
 * (kernel/trace/trace_kprobe.c, print_kretprobe_event(); trace_uprobe.c): the other one of the two.
 */
static const struct trace_field *other_end(const struct trace_event_call *call,
					   const struct trace_field *field)
{
	static const char *const ends[] = { "__probe_func", "__probe_ret_ip" };
	for (size_t i = 0; i < ARRAY_COUNT(ends) && field; i++)
		if (!strcmp(field->name, ends[i])) {
			const char *other = ends[!i];
			return trace_field_named(call, other, strlen(other)) ?: field;
		}
	return field;
}

static bool parse_member(struct trace_printer *printer, struct trace_value *ret)
{
	skip_blanks(printer);
	size_t length = word_length(printer->at);
	const struct trace_field *field = trace_field_named(printer->call, printer->at, length);
	field = other_end(printer->call, field);
	printer->at += length;
	return field && trace_field_value(printer, field, ret);
}

/* A variable of the kernel's, of which only its name is there: a word, such as vmemmap_base. */
static bool read_variable(struct trace_printer *printer, const char *name, struct trace_value *ret)
{
	struct target *target = printer->target;
	uint64_t address, number;
	if (!symtab_address(target->symbols, name, &address))
		return false;
	struct error *error = memory_read_word(target->memory, address, &number);
	error_free(error);
	if (!error)
		set_number(ret, number, true);
	return !error;
}

static bool parse_enumerator(struct trace_printer *printer, const char *name, size_t length,
			     struct trace_value *ret)
{
	struct btf_enumerator enumerator;
	char word[WORD_MAX];
	uint32_t id;
	if (length >= sizeof(word) || !printer->target->btf)
		return false;
	memcpy(word, name, length);
	word[length] = 0;
	if (!strcmp(word, "NULL") || !strcmp(word, "false"))
		set_number(ret, 0, false);
	else if (!strcmp(word, "true"))
		set_number(ret, 1, false);
	else if (btf_find_enumerator(printer->target->btf, word, &id, &enumerator))
		set_number(ret, (uint64_t)enumerator.value, false);
	else
		return read_variable(printer, word, ret);
	return true;
}

/* --- functions ------------------------------------------------------------------------------- */

struct text {
	struct trace_printer *printer;
	size_t start;
	bool is_full;
};

static void put(struct text *text, const char *format, ...) PRINTF_LIKE(2, 3);
static void put(struct text *text, const char *format, ...)
{
	struct trace_printer *printer = text->printer;
	size_t left = TRACE_ARENA_SIZE - printer->used;
	va_list arguments;
	va_start(arguments, format);
	int length = vsnprintf(printer->arena + printer->used, left, format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t)length >= left)
		text->is_full = true;
	else
		printer->used += (size_t)length;
}

/* What was put since, as a value. */
static bool finish(struct text *text, struct trace_value *ret)
{
	char *end = trace_room(text->printer, 1);
	if (!end || text->is_full)
		return false;
	*end = 0;
	*ret = (struct trace_value){ .kind = TRACE_VALUE_TEXT,
				     .text = text->printer->arena + text->start };
	return true;
}

struct choice {
	uint64_t value;
	const char *name;
};
#define CHOICES_MAX 256

/* ", {VALUE, "NAME"}, ...)" */
static bool parse_choices(struct trace_printer *printer, struct choice *choices, size_t *ret)
{
	size_t count = 0;
	while (trace_accept(printer, ",")) {
		struct trace_value value, name;
		if (trace_accept(printer, ")"))
			break;
		if (count == CHOICES_MAX || !trace_accept(printer, "{") ||
		    !number_of(printer, &value) || !trace_accept(printer, ",") ||
		    !trace_literal(printer, &name) || !trace_accept(printer, "}"))
			return false;
		choices[count++] = (struct choice){ value.number, name.text };
	}
	*ret = count;
	return trace_accept(printer, ")") || count;
}

static bool print_flags(struct trace_printer *printer, struct trace_value *ret)
{
	struct trace_value value, between;
	struct choice choices[CHOICES_MAX];
	size_t count;
	if (!number_of(printer, &value) || !trace_accept(printer, ",") ||
	    !trace_expression(printer, &between) || between.kind != TRACE_VALUE_TEXT ||
	    !parse_choices(printer, choices, &count))
		return false;
	struct text text = { printer, printer->used, false };
	uint64_t left = value.number;
	bool is_first = true;
	for (size_t i = 0; i < count && left; i++) {
		if ((left & choices[i].value) != choices[i].value)
			continue;
		put(&text, "%s%s", is_first ? "" : between.text, choices[i].name);
		left &= ~choices[i].value;
		is_first = false;
	}
	if (left)
		put(&text, "%s0x%" PRIx64, is_first ? "" : between.text, left);
	return finish(&text, ret);
}

static bool print_symbolic(struct trace_printer *printer, struct trace_value *ret)
{
	struct trace_value value;
	struct choice choices[CHOICES_MAX];
	size_t count;
	if (!number_of(printer, &value) || !parse_choices(printer, choices, &count))
		return false;
	struct text text = { printer, printer->used, false };
	for (size_t i = 0; i < count; i++)
		if (value.number == choices[i].value) {
			put(&text, "%s", choices[i].name);
			return finish(&text, ret);
		}
	put(&text, "0x%" PRIx64, value.number);
	return finish(&text, ret);
}

static bool parse_bytes(struct trace_printer *printer, struct trace_value *bytes, uint64_t *count)
{
	struct trace_value number;
	if (!trace_expression(printer, bytes) || bytes->kind != TRACE_VALUE_BYTES ||
	    !trace_accept(printer, ",") || !number_of(printer, &number))
		return false;
	*count = number.number;
	return true;
}

static bool print_hex(struct trace_printer *printer, const char *between, struct trace_value *ret)
{
	struct trace_value bytes;
	uint64_t count;
	if (!parse_bytes(printer, &bytes, &count) || !trace_accept(printer, ")") ||
	    count > bytes.size)
		return false;
	struct text text = { printer, printer->used, false };
	for (uint64_t i = 0; i < count; i++)
		put(&text, "%s%02x", i ? between : "", bytes.bytes[i]);
	return finish(&text, ret);
}

static bool print_array(struct trace_printer *printer, struct trace_value *ret)
{
	struct trace_value bytes, element;
	uint64_t count;
	if (!parse_bytes(printer, &bytes, &count) || !trace_accept(printer, ",") ||
	    !number_of(printer, &element) || !trace_accept(printer, ")") || !element.number ||
	    element.number > 8 || count > bytes.size / element.number)
		return false;
	struct text text = { printer, printer->used, false };
	put(&text, "{");
	for (uint64_t i = 0; i < count; i++)
		put(&text, "%s0x%" PRIx64, i ? "," : "",
		    load_unsigned(bytes.bytes + i * element.number, element.number,
				  printer->target->memory->big_endian));
	put(&text, "}");
	return finish(&text, ret);
}

/* As %*pb of the whole field: words of 32 bits, the highest first. */
static bool print_bitmask(struct trace_printer *printer, struct trace_value *ret)
{
	struct trace_value bytes;
	if (!parse_member(printer, &bytes) || bytes.kind != TRACE_VALUE_BYTES || bytes.size % 4 ||
	    !trace_accept(printer, ")"))
		return false;
	struct text text = { printer, printer->used, false };
	for (size_t i = bytes.size / 4; i-- > 0;)
		put(&text, "%08" PRIx32 "%s",
		    load_u32(bytes.bytes + 4 * i, printer->target->memory->big_endian),
		    i ? "," : "");
	return finish(&text, ret);
}

static bool get_member(struct trace_printer *printer, bool is_length, struct trace_value *ret)
{
	if (!parse_member(printer, ret) || ret->kind == TRACE_VALUE_NUMBER)
		return false;
	if (is_length)
		set_number(ret, ret->size, false);
	return trace_accept(printer, ")");
}

static bool print_seconds(struct trace_printer *printer, bool is_rest, struct trace_value *ret)
{
	if (!number_of(printer, ret))
		return false;
	set_number(ret, is_rest ? ret->number % 1000000000 : ret->number / 1000000000, true);
	return trace_accept(printer, ")");
}

static bool parse_sizeof(struct trace_printer *printer, struct trace_value *ret)
{
	bool is_signed;
	size_t length = strcspn(printer->at, ")");
	uint64_t size = trace_type_size(printer->target, printer->at, length, &is_signed);
	printer->at += length;
	set_number(ret, size, true);
	return size && trace_accept(printer, ")");
}

/* likely() and unlikely(), which IS_ERR() has in it. */
static bool parse_expected(struct trace_printer *printer, struct trace_value *ret)
{
	struct trace_value expected;
	return trace_expression(printer, ret) && trace_accept(printer, ",") &&
	       trace_expression(printer, &expected) && trace_accept(printer, ")");
}

/* Behind its "(". */
static bool call_function(struct trace_printer *printer, const char *name, size_t length,
			  struct trace_value *ret)
{
	static const char *const names[] = { "__print_flags",
					     "__print_flags_u64",
					     "__print_symbolic",
					     "__print_symbolic_u64",
					     "__print_hex",
					     "__print_hex_str",
					     "__print_array",
					     "__get_bitmask",
					     "__get_cpumask",
					     "__get_rel_bitmask",
					     "__get_rel_cpumask",
					     "__get_str",
					     "__get_rel_str",
					     "__get_dynamic_array",
					     "__get_rel_dynamic_array",
					     "__get_sockaddr",
					     "__get_rel_sockaddr",
					     "__get_dynamic_array_len",
					     "__get_rel_dynamic_array_len",
					     "__print_ns_to_secs",
					     "__print_ns_without_secs",
					     "sizeof",
					     "__builtin_expect" };
	size_t index = 0;
	while (index < ARRAY_COUNT(names) &&
	       (strlen(names[index]) != length || memcmp(names[index], name, length) != 0))
		index++;
	switch (index) {
	case 0:
	case 1:
		return print_flags(printer, ret);
	case 2:
	case 3:
		return print_symbolic(printer, ret);
	case 4:
		return print_hex(printer, " ", ret);
	case 5:
		return print_hex(printer, "", ret);
	case 6:
		return print_array(printer, ret);
	case 7:
	case 8:
	case 9:
	case 10:
		return print_bitmask(printer, ret);
	case 17:
	case 18:
		return get_member(printer, true, ret);
	case 19:
	case 20:
		return print_seconds(printer, index == 20, ret);
	case 21:
		return parse_sizeof(printer, ret);
	case 22:
		return parse_expected(printer, ret);
	default:
		return index < ARRAY_COUNT(names) && get_member(printer, false, ret);
	}
}

/* --- operators ------------------------------------------------------------------------------- */

/* A type within brackets, "(unsigned long)": its end; NULL: it is an expression. */
static const char *cast_end(const struct trace_printer *printer)
{
	const char *at = printer->at;
	size_t words = 0;
	for (;; words++) {
		at += strspn(at, " \t");
		size_t length = word_length(at);
		if (!length || (*at >= '0' && *at <= '9') || (length == 3 && !memcmp(at, "REC", 3)))
			break;
		at += length;
	}
	at += strspn(at, " *\t");
	if (!words || *at != ')')
		return NULL;
	const char *behind = at + 1 + strspn(at + 1, " \t");
	/* (A) alone is no cast, and neither is (A) + 1. */
	return is_word(*behind) || *behind == '(' || *behind == '~' ||
			       ((*behind == '-' || *behind == '&') &&
				(words > 1 || memchr(printer->at, '*', (size_t)(at - printer->at))))
		       ? at
		       : NULL;
}

static bool parse_unary(struct trace_printer *printer, struct trace_value *ret);

static bool parse_cast(struct trace_printer *printer, const char *end, struct trace_value *ret)
{
	bool is_signed, ignored;
	const char *type = printer->at, *star = memchr(type, '*', (size_t)(end - type));
	uint64_t size = trace_type_size(printer->target, type, (size_t)(end - type), &is_signed);
	printer->at = end + 1;
	if (!parse_unary(printer, ret))
		return false;
	if (ret->kind != TRACE_VALUE_NUMBER)
		return true;
	if (!size || size > 8)
		return false;
	/* Of a pointer: how far the next one is. */
	ret->element =
		star ? trace_type_size(printer->target, type, (size_t)(star - type), &ignored) : 0;
	unsigned int unused = (unsigned int)(64 - 8 * size);
	ret->number = is_signed ? (uint64_t)((int64_t)(ret->number << unused) >> unused)
				: ret->number << unused >> unused;
	ret->is_unsigned = !is_signed && size == 8;
	return true;
}

static bool parse_primary(struct trace_printer *printer, struct trace_value *ret)
{
	skip_blanks(printer);
	const char *start = printer->at;
	if (*start == '"')
		return trace_literal(printer, ret);
	if (*start >= '0' && *start <= '9')
		return parse_number(printer, ret);
	if (trace_accept(printer, "'"))
		return parse_character(printer, ret);
	if (trace_accept(printer, "(")) {
		const char *end = cast_end(printer);
		if (end)
			return parse_cast(printer, end, ret);
		return trace_expression(printer, ret) && trace_accept(printer, ")");
	}
	size_t length = word_length(start);
	printer->at += length;
	if (length == 3 && !memcmp(start, "REC", 3))
		return trace_accept(printer, "->") && parse_member(printer, ret);
	if (length && trace_accept(printer, "("))
		return call_function(printer, start, length, ret);
	return length && parse_enumerator(printer, start, length, ret);
}

/* An element of an array. */
static bool parse_index(struct trace_printer *printer, struct trace_value *ret)
{
	struct trace_value index;
	if (!number_of(printer, &index) || !trace_accept(printer, "]") ||
	    ret->kind != TRACE_VALUE_BYTES || !ret->element || ret->element > 8 ||
	    index.number >= ret->size / ret->element)
		return false;
	set_number(ret,
		   load_unsigned(ret->bytes + index.number * ret->element, ret->element,
				 printer->target->memory->big_endian),
		   false);
	return true;
}

static bool parse_unary(struct trace_printer *printer, struct trace_value *ret)
{
	bool done = false;
	if (printer->depth == DEPTH_MAX)
		return false;
	printer->depth++;
	skip_blanks(printer);
	char sign = *printer->at;
	if (sign && strchr("-~!+&*", sign)) {
		printer->at++;
		done = parse_unary(printer, ret) &&
		       (ret->kind == TRACE_VALUE_NUMBER ? sign != '&' && sign != '*' : sign == '&');
		if (done && sign == '-')
			ret->number = -ret->number;
		else if (done && sign == '~')
			ret->number = ~ret->number;
		else if (done && sign == '!')
			set_number(ret, !ret->number, false);
	} else {
		done = parse_primary(printer, ret);
		while (done && trace_accept(printer, "["))
			done = parse_index(printer, ret);
	}
	printer->depth--;
	return done;
}

static bool parse_binary(struct trace_printer *printer, unsigned int least, struct trace_value *ret)
{
	if (!parse_unary(printer, ret))
		return false;
	for (;;) {
		struct trace_value right;
		skip_blanks(printer);
		const struct trace_operator *operation = trace_operator_at(printer->at);
		if (!operation || operation->level < least)
			return true;
		printer->at += strlen(operation->text);
		if (!parse_binary(printer, operation->level + 1u, &right) ||
		    ret->kind != TRACE_VALUE_NUMBER || right.kind != TRACE_VALUE_NUMBER ||
		    !trace_compute(operation, ret, &right))
			return false;
	}
}

bool trace_expression(struct trace_printer *printer, struct trace_value *ret)
{
	struct trace_value other;
	bool done = false;
	if (printer->depth == DEPTH_MAX)
		return false;
	printer->depth++;
	if (parse_binary(printer, 1, ret)) {
		done = true;
		if (trace_accept(printer, "?")) {
			bool is_true = ret->kind != TRACE_VALUE_NUMBER || ret->number;
			done = trace_expression(printer, ret) && trace_accept(printer, ":") &&
			       trace_expression(printer, &other);
			if (done && !is_true)
				*ret = other;
		}
	}
	printer->depth--;
	return done;
}
