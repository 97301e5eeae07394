// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Four u32: modules, types, rows, bytes of text; then these, in this order, of fixed size, and the
 * text, which ends with a NUL. Little-endian.
 */
#include "debugger/infer/store/cache.h"

#include "base/array.h"
#include "base/bytes.h"
#include <stdlib.h>
#include <string.h>

#define HEADER_SIZE 16
#define MODULE_SIZE 20
#define TYPE_SIZE   20
#define ROW_SIZE    40
#define COUNT_MAX   (1u << 22)

/* --- reading -------------------------------------------------------------------------------- */

bool cache_rows_open(struct cache_rows *rows, uint8_t *data, size_t size)
{
	*rows = (struct cache_rows){ .data = data };
	if (size >= HEADER_SIZE) {
		rows->module_count = load_u32(data, false);
		rows->type_count = load_u32(data + 4, false);
		rows->row_count = load_u32(data + 8, false);
		rows->text_size = load_u32(data + 12, false);
	}
	uint64_t expected = HEADER_SIZE + (uint64_t)rows->module_count * MODULE_SIZE +
			    (uint64_t)rows->type_count * TYPE_SIZE +
			    (uint64_t)rows->row_count * ROW_SIZE + rows->text_size;
	if (expected != size || !rows->text_size || data[size - 1]) {
		cache_rows_close(rows);
		return false;
	}
	rows->modules = data + HEADER_SIZE;
	rows->types = rows->modules + (size_t)rows->module_count * MODULE_SIZE;
	rows->rows = rows->types + (size_t)rows->type_count * TYPE_SIZE;
	rows->texts = (const char *)rows->rows + (size_t)rows->row_count * ROW_SIZE;
	return true;
}

void cache_rows_close(struct cache_rows *rows)
{
	free(rows->data);
	*rows = (struct cache_rows){ 0 };
}

/* The last byte of the texts is a NUL. */
static const char *text_at(const struct cache_rows *rows, uint32_t offset)
{
	return offset < rows->text_size ? rows->texts + offset : NULL;
}

bool cache_rows_module(const struct cache_rows *rows, uint32_t number, struct cache_module *ret)
{
	const uint8_t *at = rows->modules + (size_t)number * MODULE_SIZE;
	if (number >= rows->module_count)
		return false;
	*ret = (struct cache_module){ load_u64(at, false), load_u64(at + 8, false),
				      text_at(rows, load_u32(at + 16, false)) };
	return ret->name;
}

bool cache_rows_type(const struct cache_rows *rows, uint32_t number, struct cache_type *ret)
{
	const uint8_t *at = rows->types + (size_t)number * TYPE_SIZE;
	if (number >= rows->type_count)
		return false;
	*ret = (struct cache_type){ load_u32(at, false), load_u32(at + 4, false),
				    load_u32(at + 8, false), load_u32(at + 12, false),
				    text_at(rows, load_u32(at + 16, false)) };
	return ret->text && ret->view <= rows->module_count;
}

bool cache_rows_row(const struct cache_rows *rows, uint32_t number, struct cache_row *ret)
{
	const uint8_t *at = rows->rows + (size_t)number * ROW_SIZE;
	if (number >= rows->row_count)
		return false;
	*ret = (struct cache_row){ .place = load_u64(at, false),
				   .room = load_u32(at + 8, false),
				   .name = load_u32(at + 12, false),
				   .bytes = load_u32(at + 16, false),
				   .type = load_u32(at + 20, false),
				   .count = load_u32(at + 24, false),
				   .row = load_u32(at + 28, false),
				   .score = (int16_t)load_u16(at + 32, false),
				   .margin = (int16_t)load_u16(at + 34, false),
				   .confidence = at[36],
				   .sources = at[37],
				   .count_is_proved = at[38] };
	bool is_known = ret->confidence != CONFIDENCE_UNKNOWN;
	return ret->confidence <= CONFIDENCE_CERTAIN && at[38] <= 1 && !at[39] &&
	       (is_known ? ret->type < rows->type_count && ret->row
			 : ret->type == CACHE_NO_TYPE && !ret->count) &&
	       (!ret->count || ret->count / (ret->row ? ret->row : 1));
}

/* --- writing -------------------------------------------------------------------------------- */

static void store(uint8_t *to, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

/* Room for one more item of `size` bytes; NULL: there is none. */
static uint8_t *grow(struct cache_writer *writer, uint8_t **items, size_t *capacity,
		     uint32_t *count, size_t size)
{
	if (writer->failed || *count >= COUNT_MAX ||
	    !array_reserve(items, capacity, (*count + (size_t)1) * size)) {
		writer->failed = true;
		return NULL;
	}
	return *items + size * (*count)++;
}

static uint32_t add_text(struct cache_writer *writer, const char *text)
{
	size_t size = strlen(text) + 1, at = writer->text_size;
	if (writer->failed || at + size > COUNT_MAX ||
	    !array_reserve(&writer->texts, &writer->text_capacity, at + size)) {
		writer->failed = true;
		return 0;
	}
	memcpy(writer->texts + at, text, size);
	writer->text_size += (uint32_t)size;
	return (uint32_t)at;
}

void cache_write_module(struct cache_writer *writer, const struct cache_module *module)
{
	uint8_t *to = grow(writer, &writer->modules, &writer->module_capacity,
			   &writer->module_count, MODULE_SIZE);
	if (!to)
		return;
	store(to, module->base, 8);
	store(to + 8, module->size, 8);
	store(to + 16, add_text(writer, module->name), 4);
}

void cache_write_type(struct cache_writer *writer, const struct cache_type *type)
{
	uint8_t *to = grow(writer, &writer->types, &writer->type_capacity, &writer->type_count,
			   TYPE_SIZE);
	if (!to)
		return;
	store(to, type->view, 4);
	store(to + 4, type->id, 4);
	store(to + 8, type->kind, 4);
	store(to + 12, type->size, 4);
	store(to + 16, add_text(writer, type->text), 4);
}

void cache_write_row(struct cache_writer *writer, const struct cache_row *row)
{
	uint8_t *to =
		grow(writer, &writer->rows, &writer->row_capacity, &writer->row_count, ROW_SIZE);
	if (!to)
		return;
	store(to, row->place, 8);
	store(to + 8, row->room, 4);
	store(to + 12, row->name, 4);
	store(to + 16, row->bytes, 4);
	store(to + 20, row->type, 4);
	store(to + 24, row->count, 4);
	store(to + 28, row->row, 4);
	store(to + 32, (uint16_t)row->score, 2);
	store(to + 34, (uint16_t)row->margin, 2);
	to[36] = row->confidence;
	to[37] = row->sources;
	to[38] = row->count_is_proved;
	to[39] = 0;
}

uint8_t *cache_writer_finish(struct cache_writer *writer, size_t *ret_size)
{
	const size_t sizes[] = { (size_t)writer->module_count * MODULE_SIZE,
				 (size_t)writer->type_count * TYPE_SIZE,
				 (size_t)writer->row_count * ROW_SIZE, 0 };
	add_text(writer, ""); /* not empty, and ends with a NUL */
	const void *const parts[] = { writer->modules, writer->types, writer->rows, writer->texts };
	size_t size = HEADER_SIZE + sizes[0] + sizes[1] + sizes[2] + writer->text_size;
	uint8_t *data = writer->failed ? NULL : malloc(size), *to = data;
	if (!data)
		return NULL;
	store(to, writer->module_count, 4);
	store(to + 4, writer->type_count, 4);
	store(to + 8, writer->row_count, 4);
	store(to + 12, writer->text_size, 4);
	to += HEADER_SIZE;
	for (size_t i = 0; i < ARRAY_COUNT(parts); i++) {
		size_t part = i < 3 ? sizes[i] : writer->text_size;
		if (part)
			memcpy(to, parts[i], part);
		to += part;
	}
	*ret_size = size;
	return data;
}

void cache_writer_deinit(struct cache_writer *writer)
{
	free(writer->modules);
	free(writer->types);
	free(writer->rows);
	free(writer->texts);
	*writer = (struct cache_writer){ 0 };
}
