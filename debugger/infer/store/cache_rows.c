// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A header; then modules, types and rows, of fixed size, and the text, which ends with a NUL. They
 * are as this program has them in memory: no other one reads them, for its build id is in the key.
 */
#include "debugger/infer/store/cache.h"

#include "base/array.h"
#include <stdlib.h>
#include <string.h>

#define COUNT_MAX (1u << 22)

struct header {
	uint32_t modules, types, rows, text_size;
};

/* With offsets into the text where what is read has the text. */
struct module_row {
	uint64_t base, size;
	uint32_t name, unused;
};

struct type_row {
	uint32_t view, id, kind, size, text;
};

/* --- reading -------------------------------------------------------------------------------- */

bool cache_rows_open(struct cache_rows *rows, uint8_t *data, size_t size)
{
	struct header header = { .text_size = 0 };
	*rows = (struct cache_rows){ .data = data };
	if (size >= sizeof(header))
		memcpy(&header, data, sizeof(header));
	uint64_t modules = (uint64_t)header.modules * sizeof(struct module_row);
	uint64_t types = (uint64_t)header.types * sizeof(struct type_row);
	uint64_t answers = (uint64_t)header.rows * sizeof(struct cache_row);
	if (sizeof(header) + modules + types + answers + header.text_size != size ||
	    !header.text_size || data[size - 1]) {
		cache_rows_close(rows);
		return false;
	}
	rows->module_count = header.modules;
	rows->type_count = header.types;
	rows->row_count = header.rows;
	rows->text_size = header.text_size;
	rows->modules = data + sizeof(header);
	rows->types = rows->modules + modules;
	rows->rows = rows->types + types;
	rows->texts = (const char *)rows->rows + answers;
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
	struct module_row row;
	if (number >= rows->module_count)
		return false;
	memcpy(&row, rows->modules + number * sizeof(row), sizeof(row));
	*ret = (struct cache_module){ row.base, row.size, text_at(rows, row.name) };
	return ret->name;
}

bool cache_rows_type(const struct cache_rows *rows, uint32_t number, struct cache_type *ret)
{
	struct type_row row;
	if (number >= rows->type_count)
		return false;
	memcpy(&row, rows->types + number * sizeof(row), sizeof(row));
	*ret = (struct cache_type){ row.view, row.id, row.kind, row.size, text_at(rows, row.text) };
	return ret->text && ret->view <= rows->module_count;
}

bool cache_rows_row(const struct cache_rows *rows, uint32_t number, struct cache_row *ret)
{
	if (number >= rows->row_count)
		return false;
	memcpy(ret, rows->rows + number * sizeof(*ret), sizeof(*ret));
	bool is_known = ret->confidence != CONFIDENCE_UNKNOWN;
	return ret->confidence <= CONFIDENCE_CERTAIN && ret->count_is_proved <= 1 && !ret->unused &&
	       (is_known ? ret->type < rows->type_count && ret->row
			 : ret->type == CACHE_NO_TYPE && !ret->count) &&
	       (!ret->count || ret->count / (ret->row ? ret->row : 1));
}

/* --- writing -------------------------------------------------------------------------------- */

/* One more item of `size` bytes. */
static void add(struct cache_writer *writer, uint8_t **items, size_t *capacity, uint32_t *count,
		const void *item, size_t size)
{
	if (writer->failed || *count >= COUNT_MAX ||
	    !array_reserve(items, capacity, (*count + (size_t)1) * size)) {
		writer->failed = true;
		return;
	}
	memcpy(*items + size * (*count)++, item, size);
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
	struct module_row row = { module->base, module->size, add_text(writer, module->name), 0 };
	add(writer, &writer->modules, &writer->module_capacity, &writer->module_count, &row,
	    sizeof(row));
}

void cache_write_type(struct cache_writer *writer, const struct cache_type *type)
{
	struct type_row row = { type->view, type->id, type->kind, type->size,
				add_text(writer, type->text) };
	add(writer, &writer->types, &writer->type_capacity, &writer->type_count, &row, sizeof(row));
}

void cache_write_row(struct cache_writer *writer, const struct cache_row *row)
{
	add(writer, &writer->rows, &writer->row_capacity, &writer->row_count, row, sizeof(*row));
}

uint8_t *cache_writer_finish(struct cache_writer *writer, size_t *ret_size)
{
	add_text(writer, ""); /* not empty, and ends with a NUL */
	const struct header header = { writer->module_count, writer->type_count, writer->row_count,
				       writer->text_size };
	const struct {
		const void *data;
		size_t size;
	} parts[] = { { &header, sizeof(header) },
		      { writer->modules, header.modules * sizeof(struct module_row) },
		      { writer->types, header.types * sizeof(struct type_row) },
		      { writer->rows, header.rows * sizeof(struct cache_row) },
		      { writer->texts, header.text_size } };
	size_t size = 0;
	for (size_t i = 0; i < ARRAY_COUNT(parts); i++)
		size += parts[i].size;
	uint8_t *data = writer->failed ? NULL : malloc(size), *to = data;
	if (!data)
		return NULL;
	for (size_t i = 0; i < ARRAY_COUNT(parts); to += parts[i++].size)
		if (parts[i].size)
			memcpy(to, parts[i].data, parts[i].size);
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
