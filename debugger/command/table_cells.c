// SPDX-License-Identifier: GPL-3.0-or-later
#include "debugger/command/table_cells.h"

#include "base/array.h"
#include <inttypes.h>
#include <stdio.h>

/* Of columns that are not shown unless asked for, and of what was computed. */
#define ADDRESS_WIDTH 16
#define TEXT_WIDTH    (-16)
#define NUMBER_WIDTH  8

static int width_of(const struct table_column *source)
{
	if (!source)
		return NUMBER_WIDTH;
	if (source->width)
		return source->width;
	return source->kind == COLUMN_ADDRESS ? ADDRESS_WIDTH
	       : source->kind == COLUMN_TEXT  ? TEXT_WIDTH
					      : NUMBER_WIDTH;
}

void table_cells_column(const char *key, const struct table_column *source, bool is_last,
			char *title, size_t size, struct column *ret)
{
	snprintf(title, size, "%s", key);
	for (char *at = title; *at; at++)
		if (*at >= 'a' && *at <= 'z')
			*at = (char)(*at - 'a' + 'A');
	int width = width_of(source);
	*ret = (struct column){ .key = key,
				.title = title,
				.width = is_last && width < 0 ? -1 : width };
}

/* "512", "4K", "1.5G". */
static void write_bytes(struct out *out, const char *key, uint64_t bytes)
{
	static const char units[] = "KMGTPE";
	double scaled = (double)bytes;
	int unit = -1;
	char text[32];
	for (; scaled >= 1024 && unit < (int)sizeof(units) - 2; unit++)
		scaled /= 1024;
	if (unit < 0)
		snprintf(text, sizeof(text), "%" PRIu64, bytes);
	else
		snprintf(text, sizeof(text),
			 scaled < 10 && scaled != (int)scaled ? "%.1f%c" : "%.0f%c", scaled,
			 units[unit]);
	out_wide_as(out, key, bytes, text);
}

/* "1234.567", seconds. */
static void write_duration(struct out *out, const char *key, uint64_t nanoseconds)
{
	char text[32];
	snprintf(text, sizeof(text), "%" PRIu64 ".%03u", nanoseconds / 1000000000,
		 (unsigned int)(nanoseconds / 1000000 % 1000));
	out_wide_as(out, key, nanoseconds, text);
}

void table_cells_write(struct out *out, const char *key, const struct table_column *source,
		       const struct table_cell *cell)
{
	const struct out_integer integer = { cell->number, source->kind == COLUMN_WIDE ? 64 : 32,
					     true };
	if (cell->state == CELL_NULL)
		out_null_as(out, key, "-");
	else if (cell->state == CELL_MISSING)
		out_missing(out, key, cell->error);
	else if (source->kind == COLUMN_INTEGER || source->kind == COLUMN_WIDE)
		out_integer_as(out, key, &integer, NULL);
	else if (source->kind == COLUMN_BYTES)
		write_bytes(out, key, cell->number);
	else if (source->kind == COLUMN_DURATION)
		write_duration(out, key, cell->number);
	else if (source->kind == COLUMN_ADDRESS)
		out_address(out, key, cell->number);
	else
		out_string(out, key, cell->text);
}
