/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table of hints by hand, as debugger/infer/hints/README.md describes the format. */
#ifndef TESTS_UNIT_HINTS_TABLE_H
#define TESTS_UNIT_HINTS_TABLE_H

#include "base/array.h"
#include "debugger/infer/hints/hints.h"
#include "tests/unit/test.h"
#include <zlib.h>

/* In order of names. Numbers are below 128, so that each takes a byte. */
struct hint_row {
	const char *name, *type;
	uint8_t kernels, count;
};

struct hints_column {
	uint8_t bytes[1024];
	size_t size;
};

struct hints_table {
	uint8_t bytes[4096];
	size_t size;
};

static inline void column_add(struct hints_column *column, const void *data, size_t size)
{
	CHECK(column->size + size <= sizeof(column->bytes));
	memcpy(column->bytes + column->size, data, size);
	column->size += size;
}

static inline void column_add_byte(struct hints_column *column, unsigned int byte)
{
	column_add(column, &(uint8_t){ (uint8_t)byte }, 1);
}

static inline void table_add_block(struct hints_table *table, const struct hints_column *columns,
				   uint32_t count, uint8_t *header)
{
	struct hints_column block = { .size = 0 };
	column_add(&block, &count, 4);
	for (uint32_t i = 0; i < count; i++)
		column_add(&block, &(uint32_t){ (uint32_t)columns[i].size }, 4);
	for (uint32_t i = 0; i < count; i++)
		column_add(&block, columns[i].bytes, columns[i].size);
	uLongf packed = sizeof(table->bytes) - table->size;
	CHECK(compress(table->bytes + table->size, &packed, block.bytes, block.size) == Z_OK);
	uint32_t sizes[2] = { (uint32_t)packed, (uint32_t)block.size };
	memcpy(header, sizes, sizeof(sizes));
	table->size += packed;
}

/* Of the kernel alone; one family, "family_", of `family_type`'s row. */
static inline void table_make(struct hints_table *table, const struct hint_row *rows, size_t count,
			      size_t family_row)
{
	enum {
		KERNELS,
		TYPES,
		PREFIXES,
		PREFIX_TYPES,
		SHARED,
		REST,
		ROW_TYPES,
		MASKS,
		LENGTHS,
		ALL
	};
	static const char kernels[] = "1.0\t1.0-a\t1\0002.0\t2.0-a\t1";
	struct hints_column columns[ALL] = { { .size = 0 } }, none[8] = { { .size = 0 } };
	column_add(&columns[KERNELS], kernels, sizeof(kernels));
	column_add(&columns[PREFIXES], "family_", 8);
	column_add_byte(&columns[PREFIX_TYPES], (unsigned int)family_row);
	for (size_t i = 0; i < count; i++) {
		bool is_again = i + 1 < count && !strcmp(rows[i].name, rows[i + 1].name);
		bool is_first = !i || strcmp(rows[i].name, rows[i - 1].name) != 0;
		column_add(&columns[TYPES], rows[i].type, strlen(rows[i].type) + 1);
		if (is_first) {
			column_add_byte(&columns[SHARED], 0);
			column_add(&columns[REST], rows[i].name, strlen(rows[i].name) + 1);
		}
		column_add_byte(&columns[ROW_TYPES], (unsigned int)i);
		column_add_byte(&columns[MASKS], rows[i].kernels | (rows[i].count ? 0x40 : 0) |
							 (is_again ? 0x80 : 0));
		if (rows[i].count)
			column_add_byte(&columns[LENGTHS], rows[i].count);
	}
	memcpy(table->bytes, "BTFHINT1", 8);
	table->size = 24;
	table_add_block(table, columns, ALL, table->bytes + 8);
	table_add_block(table, none, ARRAY_COUNT(none), table->bytes + 16);
}

#endif
