// SPDX-License-Identifier: GPL-3.0-or-later
/* Values of a record's fields. */
#include "debugger/kernel/trace_value.h"

#include "base/array.h"
#include "base/bytes.h"
#include <stdio.h>
#include <string.h>

#define NAME_MAX 128

char *trace_room(struct trace_printer *printer, size_t size)
{
	if (size > TRACE_ARENA_SIZE - printer->used)
		return NULL;
	char *room = printer->arena + printer->used;
	printer->used += size;
	return room;
}

const struct trace_field *trace_field_named(const struct trace_event_call *call, const char *name,
					    size_t length)
{
	for (size_t i = 0; i < call->field_count; i++)
		if (strlen(call->fields[i].name) == length &&
		    !memcmp(call->fields[i].name, name, length))
			return &call->fields[i];
	return NULL;
}

static const struct {
	const char *name;
	uint8_t size;
	bool is_signed;
} basic_types[] = {
	{ "char", 1, true },
	{ "unsigned char", 1, false },
	{ "bool", 1, false },
	{ "u8", 1, false },
	{ "__u8", 1, false },
	{ "s8", 1, true },
	{ "short", 2, true },
	{ "unsigned short", 2, false },
	{ "u16", 2, false },
	{ "__u16", 2, false },
	{ "s16", 2, true },
	{ "int", 4, true },
	{ "signed int", 4, true },
	{ "unsigned int", 4, false },
	{ "unsigned", 4, false },
	{ "u32", 4, false },
	{ "__u32", 4, false },
	{ "s32", 4, true },
	{ "__s32", 4, true },
	{ "pid_t", 4, true },
	{ "long", 8, true },
	{ "long int", 8, true },
	{ "unsigned long", 8, false },
	{ "long unsigned int", 8, false },
	{ "long long", 8, true },
	{ "long long int", 8, true },
	{ "unsigned long long", 8, false },
	{ "long long unsigned int", 8, false },
	{ "u64", 8, false },
	{ "__u64", 8, false },
	{ "s64", 8, true },
	{ "__s64", 8, true },
	{ "size_t", 8, false },
	{ "ssize_t", 8, true },
};

/* Without qualifiers, and with one blank between words. */
static bool plain_name(const char *name, size_t length, char buffer[NAME_MAX])
{
	size_t used = 0;
	for (size_t i = 0; i < length;) {
		size_t word = strcspn(name + i, " \t");
		word = word < length - i ? word : length - i;
		bool is_left_out = !word || (word == 5 && !memcmp(name + i, "const", 5)) ||
				   (word == 8 && !memcmp(name + i, "volatile", 8));
		if (!is_left_out && used + word + 2 > NAME_MAX)
			return false;
		if (!is_left_out) {
			if (used)
				buffer[used++] = ' ';
			memcpy(buffer + used, name + i, word);
			used += word;
		}
		i += word + 1;
	}
	buffer[used] = 0;
	return used;
}

uint64_t trace_type_size(struct target *target, const char *name, size_t length, bool *ret_signed)
{
	char plain[NAME_MAX];
	struct type type;
	uint64_t size;
	*ret_signed = false;
	if (memchr(name, '*', length))
		return target->memory->word_size;
	if (!plain_name(name, length, plain))
		return 0;
	for (size_t i = 0; i < ARRAY_COUNT(basic_types); i++)
		if (!strcmp(basic_types[i].name, plain)) {
			*ret_signed = basic_types[i].is_signed;
			return basic_types[i].size;
		}
	struct error *error = target_find_type(target, NULL, plain, &type);
	if (error) {
		error_free(error);
		return 0;
	}
	return type_size(type, &size) ? size : 0;
}

/* A span of the record; false: it has no such bytes. */
static bool span(const struct trace_printer *printer, uint64_t offset, uint64_t size,
		 const uint8_t **ret)
{
	const struct trace_record *record = printer->record;
	if (offset > record->size || size > record->size - offset)
		return false;
	*ret = record->data + offset;
	return true;
}

static bool set_bytes(struct trace_printer *printer, const struct trace_field *field,
		      uint64_t offset, uint64_t size, struct trace_value *ret)
{
	const char *type = field->kind == TRACE_DATA_LOC  ? field->type + 11
			   : field->kind == TRACE_REL_LOC ? field->type + 10
							  : field->type;
	bool is_signed;
	*ret = (struct trace_value){ .kind = TRACE_VALUE_BYTES, .size = size };
	if (!span(printer, offset, size, &ret->bytes))
		return false;
	ret->element = trace_type_size(printer->target, type, strcspn(type, "["), &is_signed);
	if (!field->is_text)
		return true;
	char *text = trace_room(printer, size + 1);
	if (!text)
		return false;
	size_t length = strnlen((const char *)ret->bytes, size);
	memcpy(text, ret->bytes, length);
	text[length] = 0;
	ret->kind = TRACE_VALUE_TEXT;
	ret->text = text;
	return true;
}

static bool set_number(struct trace_printer *printer, const struct trace_field *field,
		       struct trace_value *ret)
{
	const uint8_t *bytes;
	if (!span(printer, field->offset, field->size, &bytes))
		return false;
	uint64_t number = load_unsigned(bytes, field->size, printer->target->memory->big_endian);
	unsigned int unused = 64 - 8 * field->size;
	if (field->is_signed)
		number = (uint64_t)((int64_t)(number << unused) >> unused);
	*ret = (struct trace_value){ .kind = TRACE_VALUE_NUMBER,
				     .number = number,
				     .is_unsigned = !field->is_signed && field->size == 8,
				     .is_code = !strncmp(field->name, "__probe_", 8),
				     .is_function = !strcmp(field->name, "__probe_func") };
	return true;
}

bool trace_field_value(struct trace_printer *printer, const struct trace_field *field,
		       struct trace_value *ret)
{
	const uint8_t *bytes;
	bool big = printer->target->memory->big_endian;
	switch (field->kind) {
	case TRACE_NUMBER:
		return set_number(printer, field, ret);
	case TRACE_BYTES:
		/* The last one may have no size: what there is of the record. */
		return set_bytes(printer, field, field->offset,
				 field->size || field->offset > printer->record->size
					 ? field->size
					 : printer->record->size - field->offset,
				 ret);
	case TRACE_DATA_LOC:
	case TRACE_REL_LOC:
		break;
	}
	if (!span(printer, field->offset, 4, &bytes))
		return false;
	uint32_t word = load_u32(bytes, big);
	uint64_t from = field->kind == TRACE_REL_LOC ? field->offset + 4 : 0;
	return set_bytes(printer, field, from + (word & 0xffff), word >> 16, ret);
}
