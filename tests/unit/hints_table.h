/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table of hints by hand, as debugger/infer/hints/README.md describes the format. */
#ifndef TESTS_UNIT_HINTS_TABLE_H
#define TESTS_UNIT_HINTS_TABLE_H

#include "base/array.h"
#include "debugger/infer/hints/hints.h"
#include "tests/unit/test.h"
#include <zlib.h>

/* In order of names. Types are fewer than 128, so that a number takes a byte. */
struct hint_row {
	const char *name, *type;
	uint32_t kernels;
	uint8_t count;
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

static inline void column_add_number(struct hints_column *column, uint32_t number)
{
	for (; number > 127; number >>= 7)
		column_add_byte(column, (number & 127) | 128);
	column_add_byte(column, number);
}

/* Chunks of the block of the kernel. */
enum {
	HINTS_KERNEL_LIST,
	HINTS_SETS,
	HINTS_TYPES,
	HINTS_PREFIXES,
	HINTS_PREFIX_TYPES,
	HINTS_SHARED,
	HINTS_REST,
	HINTS_ROW_TYPES,
	HINTS_ROW_KERNELS,
	HINTS_LENGTHS,
	HINTS_CHUNKS
};

/* Of series 1.0, 2.0 and so on; one family, "family_", of `family_row`'s type. */
static inline void table_fill(struct hints_column *columns, uint32_t kernels,
			      const struct hint_row *rows, size_t count, size_t family_row)
{
	for (uint32_t i = 1; i <= kernels; i++) {
		char line[32];
		int length = snprintf(line, sizeof(line), "%u.0\t%u.0-a\t1", i, i);
		column_add(&columns[HINTS_KERNEL_LIST], line, (size_t)length + 1);
	}
	column_add(&columns[HINTS_PREFIXES], "family_", 8);
	column_add_byte(&columns[HINTS_PREFIX_TYPES], (unsigned int)family_row);
	for (size_t i = 0; i < count; i++) {
		bool is_again = i + 1 < count && !strcmp(rows[i].name, rows[i + 1].name);
		bool is_first = !i || strcmp(rows[i].name, rows[i - 1].name) != 0;
		column_add(&columns[HINTS_TYPES], rows[i].type, strlen(rows[i].type) + 1);
		column_add_number(&columns[HINTS_SETS], rows[i].kernels);
		if (is_first) {
			column_add_byte(&columns[HINTS_SHARED], 0);
			column_add(&columns[HINTS_REST], rows[i].name, strlen(rows[i].name) + 1);
		}
		column_add_byte(&columns[HINTS_ROW_TYPES], (unsigned int)i);
		column_add_number(&columns[HINTS_ROW_KERNELS],
				  (uint32_t)i << 2 | (rows[i].count ? 1 : 0) | (is_again ? 2 : 0));
		if (rows[i].count)
			column_add_byte(&columns[HINTS_LENGTHS], rows[i].count);
	}
}

/* Of the kernel alone, without modules. */
static inline void table_pack(struct hints_table *table, const struct hints_column *columns)
{
	struct hints_column none[8] = { { .size = 0 } };
	memcpy(table->bytes, "BTFHINT2", 8);
	table->size = 24;
	table_add_block(table, columns, HINTS_CHUNKS, table->bytes + 8);
	table_add_block(table, none, ARRAY_COUNT(none), table->bytes + 16);
}

static inline void table_make(struct hints_table *table, const struct hint_row *rows, size_t count,
			      size_t family_row)
{
	struct hints_column columns[HINTS_CHUNKS] = { { .size = 0 } };
	table_fill(columns, 2, rows, count, family_row);
	table_pack(table, columns);
}

#endif
